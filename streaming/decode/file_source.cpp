// Reads a file, a pipe or standard input by descriptor. Every wait is short, so that the caller can look at its
// flags: a run must end in order on a signal while a pipe is silent.
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

#include "error.h"

namespace nustream::decode {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path, int error, const char* remedy) {
  throw Failure(Exit::io, std::string("cannot ") + what + " '" + path +
                              "': " + std::generic_category().message(error) + "; " + remedy);
}

// The longest wait before the caller can look at its flags again. A signal does not end the wait if it comes just
// before the wait begins, or to another thread.
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
    // A copy, so that closing it leaves standard input open. It is at least 3, which keeps it apart
    // from the standard streams.
    descriptor_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail("read", path_, errno, "give it a file or a pipe");
    // Reading the writing end of a pipe would wait without end.
    if ((::fcntl(descriptor_, F_GETFL) & O_ACCMODE) == O_WRONLY)
      fail("read", path_, EBADF, "give it a file or a pipe");
    struct stat status {};
    may_wait_ = ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode);
    return;
  }
  // Without O_NONBLOCK the open of a FIFO would wait for its writer, and no signal could end the run in order.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail("open", path_, errno, "check the path and its permissions");
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    refuse_directory(path_);
  }
  may_wait_ = !S_ISREG(status.st_mode);
  // The flag was needed for the open alone. Reads may wait, behind a poll.
  static_cast<void>(::fcntl(descriptor_, F_SETFL, O_RDONLY));
  // This is advice only: a source that cannot follow it is read all the same.
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
}

FileSource::~FileSource() {
  ::close(descriptor_);
}

ByteSource::Result FileSource::read_descriptor(std::span<char> buffer) {
  if (may_wait_) {
    // Before its first writer comes, a FIFO would read as ended. So a poll waits for the writer just as it waits for
    // bytes.
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, wait_milliseconds);
    if (ready < 0 && errno != EINTR) fail("read", path_, errno, "check the disk or the network");
    if (ready <= 0) return {.interrupted = true};
  }
  const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return {.interrupted = true};
  if (count < 0) fail("read", path_, errno, "check the disk or the network");
  bytes_read_ += static_cast<std::uint64_t>(count);
  // For read() no bytes mean the end, of a file as of a pipe whose last writer has closed it.
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
  // All that has come so far is given together, so that a caller who looks at the first lines of a pipe sees more
  // than the bytes that were peeked at.
  if (!may_wait_ || count == buffer.size() || !ready(0)) return {.bytes = count};
  try {
    const Result more = read_descriptor(buffer.subspan(count));
    return {.bytes = count + more.bytes};
  } catch (const Failure&) {
    return {.bytes = count};  // the next read meets the fault again, behind these bytes
  }
}

bool FileSource::ready(int milliseconds) {
  if (!peeked_.empty()) return true;
  pollfd waiting{descriptor_, POLLIN, 0};
  // An error counts as ready: the read that follows reports it.
  return ::poll(&waiting, 1, milliseconds) != 0;
}

}  // namespace nustream::decode
