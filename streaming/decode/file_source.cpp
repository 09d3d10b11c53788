#include "decode/file_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "decode/segment_format.h"
#include "error.h"

namespace nustream::decode {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path, int error, const char* remedy) {
  throw Failure(Exit::io, std::string("cannot ") + what + " '" + path +
                              "': " + std::generic_category().message(error) + "; " + remedy);
}

// A wait goes no longer without its caller looking at his flags: a signal that comes just before the wait begins, or
// to another thread, does not end it.
constexpr int wait_milliseconds = 100;

[[noreturn]] void refuse_directory(const std::string& path) {
  throw Failure(Exit::io, "cannot read '" + path + "': it is a directory; name the files in it");
}

}  // namespace

bool is_standard_input(const std::string& path) noexcept {
  return path == "-";
}

std::optional<std::uint64_t> stored_size(const std::string& path) {
  struct stat status {};
  const bool standard_input = is_standard_input(path);
  const int result = standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (result != 0) fail("open", path, errno, "check the path");
  if (S_ISDIR(status.st_mode)) refuse_directory(path);
  if (standard_input || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

FileSource::FileSource(std::string path) : path_(std::move(path)) {
  if (is_standard_input(path_)) {
    path_ = "standard input";
    descriptor_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail("read", path_, errno, "give it a file or a pipe");
    // The writing end of a pipe would be waited for without end.
    if ((::fcntl(descriptor_, F_GETFL) & O_ACCMODE) == O_WRONLY)
      fail("read", path_, EBADF, "give it a file or a pipe");
    struct stat status {};
    may_wait_ = ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode);
    return;
  }
  // Without O_NONBLOCK a FIFO would wait for its writer in here, where no signal ends the run in order.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail("open", path_, errno, "check the path and its permissions");
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    refuse_directory(path_);
  }
  may_wait_ = !S_ISREG(status.st_mode);
  static_cast<void>(::fcntl(descriptor_, F_SETFL, O_RDONLY));
  // Advice only: a source that cannot take it is read all the same.
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
}

FileSource::~FileSource() {
  ::close(descriptor_);
}

ByteSource::Result FileSource::read_descriptor(std::span<char> buffer) {
  if (may_wait_) {
    // Until its first writer has come, a FIFO would read as ended; a poll waits for it as for bytes.
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, wait_milliseconds);
    if (ready < 0 && errno != EINTR) fail("read", path_, errno, "the records before it were used");
    if (ready <= 0) return {.interrupted = true};
  }
  const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return {.interrupted = true};
  if (count < 0) fail("read", path_, errno, "the records before it were used");
  bytes_read_ += static_cast<std::uint64_t>(count);
  return {.bytes = static_cast<std::size_t>(count), .end = count == 0};
}

std::optional<std::string_view> FileSource::peek(std::size_t wanted) {
  while (peeked_.size() < wanted) {
    char bytes[16];
    const Result result = read_descriptor({bytes, std::min(sizeof bytes, wanted - peeked_.size())});
    if (result.interrupted) return std::nullopt;
    if (result.end) break;
    peeked_.append(bytes, result.bytes);
  }
  return peeked_;
}

ByteSource::Result FileSource::read(std::span<char> buffer) {
  if (peeked_.empty()) return read_descriptor(buffer);
  const std::size_t count = std::min(buffer.size(), peeked_.size());
  std::memcpy(buffer.data(), peeked_.data(), count);
  peeked_.erase(0, count);
  return {.bytes = count};
}

bool FileSource::ready(int milliseconds) {
  if (!peeked_.empty()) return true;
  pollfd waiting{descriptor_, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) != 0;
}

namespace {

std::unique_ptr<ByteSource> decompress(std::unique_ptr<FileSource> file, std::string_view magic, std::string path) {
  if (magic == segment_magic) {
    // Regular files were looked at before: as lines its records would all be lost.
    throw Failure(Exit::data,
                  "'" + path + "' is a recorded segment, which is read alone and from a file; name it so");
  }
  if (magic.starts_with("\x1f\x8b")) return gunzip(std::move(file), std::move(path));
  // A zstd frame, or one of its skippable frames (0x184D2A50 … 5F, little endian).
  const bool skippable = magic.size() >= 4 && magic.substr(1, 3) == "\x2a\x4d\x18" && (magic[0] & 0xf0) == 0x50;
  if (magic.starts_with("\x28\xb5\x2f\xfd") || skippable) return unzstd(std::move(file), std::move(path));
  return file;
}

// Looks at the first bytes when they are first read: a pipe may keep them waiting, and a signal must get through.
class DetectingSource : public ByteSource {
 public:
  explicit DetectingSource(const std::string& path) : path_(path), file_(std::make_unique<FileSource>(path)) {}

  Result read(std::span<char> buffer) override {
    if (file_) {
      constexpr std::size_t magic_bytes = 4;
      auto magic = file_->peek(magic_bytes);
      // No more is waited for than it takes: a slow pipe's first records may be short.
      if (magic && segment_magic.starts_with(*magic)) magic = file_->peek(segment_magic.size());
      if (!magic) return {.interrupted = true};
      content_ = decompress(std::move(file_), std::string(*magic), path_);
    }
    return content_->read(buffer);
  }
  [[nodiscard]] bool ready(int milliseconds) override {
    return file_ ? file_->ready(milliseconds) : content_->ready(milliseconds);
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override {
    return file_ ? file_->bytes_read() : content_->bytes_read();
  }

 private:
  std::string path_;
  std::unique_ptr<FileSource> file_;     // until its first bytes are known
  std::unique_ptr<ByteSource> content_;  // from then on
};

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  return std::make_unique<DetectingSource>(path);
}

}  // namespace nustream::decode
