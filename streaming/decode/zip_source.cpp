// Reads a zip archive of one member as that member's content.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "decode/decompressor.h"
#include "decode/file_source.h"
#include "decode/zip_member.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr int raw_window_bits = -15;  // the largest window; negative: there is no header around the data

/// Reads a stretch of a file.
class PartSource : public ByteSource {
 public:
  PartSource(const std::string& path, std::uint64_t offset, std::uint64_t bytes)
      : file_(path), before_(offset), left_(bytes) {}

  Result read(std::span<char> buffer) override {
    // The bytes before the member are read and thrown away, into the caller's own buffer. A FileSource does not seek.
    while (before_ > 0) {
      const Result passed = file_.read(buffer.first(std::min<std::uint64_t>(buffer.size(), before_)));
      if (passed.end || passed.interrupted) return passed;
      before_ -= passed.bytes;
    }
    if (left_ == 0) return {.end = true};
    const Result result = file_.read(buffer.first(std::min<std::uint64_t>(buffer.size(), left_)));
    left_ -= result.bytes;
    return result;
  }
  [[nodiscard]] bool ready(int milliseconds) override { return file_.ready(milliseconds); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return file_.bytes_read(); }

 private:
  FileSource file_;
  std::uint64_t before_;
  std::uint64_t left_;
};

/// Reads a member's bytes, deflated or stored. At the end it checks their number and their checksum.
class MemberDecompressor : public Decompressor {
 public:
  explicit MemberDecompressor(const ZipMember& member) : member_(member) {
    if (::inflateInit2(&stream_, raw_window_bits) != Z_OK) no_memory_to_decompress();
  }
  ~MemberDecompressor() override { ::inflateEnd(&stream_); }
  MemberDecompressor(const MemberDecompressor&) = delete;
  MemberDecompressor& operator=(const MemberDecompressor&) = delete;

  Progress decompress(std::span<char> stored, std::span<char> content, bool is_all) override {
    // Bytes behind the member's end do not belong to it.
    if (is_ended_) return {0, 0, stored.empty() ? State::whole : State::damaged};
    // zlib counts in unsigned int.
    content = content.first(std::min<std::size_t>(content.size(), std::numeric_limits<uInt>::max()));
    Progress progress = member_.method == 0 ? copy(stored, content, is_all) : inflate_some(stored, content);
    made_ += progress.content;
    crc_ = ::crc32_z(crc_, reinterpret_cast<const Bytef*>(content.data()), progress.content);
    is_ended_ = progress.state == State::whole;
    // Length and checksum are those of the directory. More content than promised is damage at once, before the end.
    const bool is_sound = made_ == member_.content && crc_ == member_.crc;
    // The checksum can be compared only at the end.
    if (made_ > member_.content || (is_ended_ && !is_sound)) progress.state = State::damaged;
    return progress;
  }
  [[nodiscard]] const char* format() const noexcept override { return "zip"; }

 private:
  // A stored member: its bytes are the content. It ends where its bytes do.
  static Progress copy(std::span<char> stored, std::span<char> content, bool is_all) {
    const std::size_t bytes = std::min(stored.size(), content.size());
    std::copy_n(stored.begin(), bytes, content.begin());
    return {bytes, bytes, is_all && bytes == stored.size() ? State::whole : State::open};
  }

  // A deflated member: the data themselves say where they end.
  Progress inflate_some(std::span<char> stored, std::span<char> content) {
    stream_.next_in = reinterpret_cast<Bytef*>(stored.data());
    stream_.avail_in = static_cast<uInt>(stored.size());
    stream_.next_out = reinterpret_cast<Bytef*>(content.data());
    stream_.avail_out = static_cast<uInt>(content.size());
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    const bool is_sound = status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
    return {stored.size() - stream_.avail_in, content.size() - stream_.avail_out,
            !is_sound                ? State::damaged
            : status == Z_STREAM_END ? State::whole
                                     : State::open};
  }

  ZipMember member_;
  z_stream stream_{};
  std::uint64_t made_ = 0;
  uLong crc_ = 0;
  bool is_ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_zip(const std::string& path) {
  const ZipMember member = only_member(path);
  return decompressed(std::make_unique<PartSource>(path, member.offset, member.stored), path,
                      std::make_unique<MemberDecompressor>(member));
}

}  // namespace nustream::decode
