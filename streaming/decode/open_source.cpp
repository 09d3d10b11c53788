// Finds out from a file's first bytes how it is stored, and opens it.
#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "decode/byte_source.h"
#include "decode/decompressor.h"
#include "decode/file_source.h"
#include "decode/segment_format.h"
#include "decode/zip_member.h"
#include "error.h"

namespace nustream::decode {
namespace {

using std::string_view_literals::operator""sv;

/// A compression by its first bytes, with what decompresses it, here and on a command line.
struct Compression {
  std::string_view magic;
  std::unique_ptr<Decompressor> (*make)();
  const char* command;
};
constexpr std::array compressions{
    Compression{"\x1f\x8b"sv, gzip_decompressor, "gzip -dc"},
    Compression{"\x28\xb5\x2f\xfd"sv, zstd_decompressor, "zstd -dc"},
    Compression{"BZh"sv, bzip2_decompressor, "bzip2 -dc"},
    Compression{"\xfd\x37zXZ\0"sv, xz_decompressor, "xz -dc"},
};

constexpr std::size_t longest_magic = 10;
constexpr std::size_t skippable_bytes = 4;
constexpr std::string_view zip_magic = "PK\x03\x04"sv;
constexpr std::string_view empty_zip_magic = "PK\x05\x06"sv;

/// Whether the bytes are, as far as they go, the magic of a zstd frame that has to be skipped: 0x184D2A50 to
/// 0x184D2A5F, little endian.
bool begins_as_skippable(std::string_view bytes) {
  constexpr std::string_view behind_first = "\x2a\x4d\x18";
  return bytes.empty() ||
         ((bytes[0] & 0xf0) == 0x50 && behind_first.starts_with(bytes.substr(1, behind_first.size())));
}

/// Whether the first bytes are the magic of such a frame, wholly.
bool is_skippable(std::string_view magic) {
  return magic.size() >= skippable_bytes && begins_as_skippable(magic);
}

/// What follows "BZh" and a digit in a bzip2 stream: the magic of a block, the digits of pi, or of an empty stream.
constexpr std::array bzip2_blocks{"\x31\x41\x59\x26\x53\x59"sv, "\x17\x72\x45\x38\x50\x90"sv};

/// Whether the bytes are, as far as they go, those of a bzip2 stream. Its three letters might begin a header of CSV,
/// so that more than these decides.
bool begins_as_bzip2(std::string_view bytes) {
  constexpr std::string_view letters = "BZh";
  if (!letters.starts_with(bytes.substr(0, letters.size()))) return false;
  if (bytes.size() <= letters.size()) return true;
  if (bytes[3] < '1' || bytes[3] > '9') return false;
  const std::string_view block = bytes.substr(4, bzip2_blocks.front().size());
  return std::ranges::any_of(bzip2_blocks, [&](std::string_view each) { return each.starts_with(block); });
}

/// Whether the first bytes are those of a bzip2 stream, wholly.
bool is_bzip2(std::string_view magic) {
  return magic.size() >= longest_magic && begins_as_bzip2(magic);
}

/// Whether more bytes behind these first ones could show a format. The source waits for no other byte, because the
/// first records of a slow pipe may be short.
bool may_become_known(std::string_view bytes) {
  const auto begins_as = [&](std::string_view magic) {
    return bytes.size() < magic.size() && magic.starts_with(bytes);
  };
  if (begins_as(segment_magic) || begins_as(zip_magic) || begins_as(empty_zip_magic)) return true;
  if (bytes.size() < longest_magic && begins_as_bzip2(bytes)) return true;
  if (bytes.size() < skippable_bytes && begins_as_skippable(bytes)) return true;
  return std::ranges::any_of(compressions, [&](const Compression& each) { return begins_as(each.magic); });
}

// The source of the content behind the first bytes, which show how the file is stored.
std::unique_ptr<ByteSource> content_of(std::unique_ptr<FileSource> file, std::string_view magic, std::string path) {
  if (magic == segment_magic) {
    // Regular files were looked at before, so this one is a pipe. If it were read as lines, all records of a segment
    // would be lost.
    throw Failure(
        Exit::data,
        "'" + path +
            "' is a recorded segment, which cannot be read from a pipe or beside other files: name its file alone");
  }
  if (magic.starts_with(zip_magic) || magic.starts_with(empty_zip_magic)) {
    // The directory of a zip archive is at its end, so that only a regular file can be read.
    if (!is_standard_input(path) && stored_size(path)) return open_zip(path);
    throw Failure(Exit::data, "'" + path +
                                  "' is a zip archive, whose list of files is at its end: name the file itself, or "
                                  "unpack it on the way: unzip -p FILE | nustream … -");
  }
  if (is_skippable(magic)) return decompressed(std::move(file), std::move(path), zstd_decompressor());
  for (const Compression& each : compressions) {
    if (!magic.starts_with(each.magic) || (each.make == bzip2_decompressor && !is_bzip2(magic))) continue;
    return decompressed(std::move(file), std::move(path), each.make());
  }
  return file;
}

// Looks at the first bytes when they are first read, not when the source is made: a pipe may keep them waiting, and a
// signal must get through.
class DetectingSource : public ByteSource {
 public:
  explicit DetectingSource(const std::string& path) : path_(path), file_(std::make_unique<FileSource>(path)) {}

  Result read(std::span<char> buffer) override {
    if (file_) {
      std::optional<std::string_view> magic = std::string_view();
      // One byte more at a time, as long as it can make a difference. A slow pipe whose first byte settles the
      // question is not kept waiting.
      for (bool is_longer = true; magic && is_longer && may_become_known(*magic);) {
        const std::size_t had = magic->size();
        magic = file_->peek(had + 1);
        is_longer = magic && magic->size() > had;
      }
      if (!magic) return {.interrupted = true};
      // What cannot be read throws here. The file is gone then, and nothing more comes from this source.
      bytes_looked_at_ = file_->bytes_read();
      content_ = content_of(std::move(file_), std::string(*magic), path_);
    }
    if (!content_) return {.end = true};
    return content_->read(buffer);
  }
  [[nodiscard]] bool ready(int milliseconds) override {
    if (file_) return file_->ready(milliseconds);
    return content_ == nullptr || content_->ready(milliseconds);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override {
    if (file_) return file_->bytes_read();
    return content_ ? content_->bytes_read() : bytes_looked_at_;
  }

 private:
  std::string path_;
  std::unique_ptr<FileSource> file_;     // until the first bytes are known
  std::unique_ptr<ByteSource> content_;  // from then on; null where it cannot be read
  std::uint64_t bytes_looked_at_ = 0;
};

}  // namespace

std::string unpacking_command(const std::string& path) {
  if (is_standard_input(path) || !stored_size(path)) return {};
  std::string magic(longest_magic, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  magic.resize(static_cast<std::size_t>(file.gcount()));
  if (magic.starts_with(zip_magic)) return "unzip -p";
  if (is_skippable(magic)) return "zstd -dc";
  for (const Compression& each : compressions) {
    if (magic.starts_with(each.magic) && (each.make != bzip2_decompressor || is_bzip2(magic))) return each.command;
  }
  return {};
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  return std::make_unique<DetectingSource>(path);
}

}  // namespace nustream::decode
