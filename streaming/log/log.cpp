// Where the process's entries go. One mutex guards settings and file, and each entry is one write of its whole line,
// so that lines of several threads do not mix.
#include "log/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "error.h"

namespace nustream::log {
namespace {

/// Whether the file is the journal's socket, which JOURNAL_STREAM names as "DEVICE:INODE". The variable alone does
/// not tell: standard error may have been redirected.
bool is_journal(int descriptor) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat found {};
  if (stream == nullptr || ::fstat(descriptor, &found) != 0) return false;
  return stream == fmt::format("{}:{}", found.st_dev, found.st_ino);
}

/// The failure for a file that cannot be opened.
Failure cannot_open(const std::string& path, int error) {
  return system_failure(Exit::io, "open", path, error, "name a file that this user may write as log.file");
}

/// A file that entries are appended to. O_APPEND keeps each write at the end, also after a tool has cut the file.
class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw cannot_open(path, errno);
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

struct Log {
  std::mutex mutex;
  Settings settings;
  Clock clock = Clock::own;
  std::unique_ptr<File> file;
};

/// The one log of the process. Before use() it writes plain words to standard error.
Log& process_log() {
  static Log& log = *new Log;  // never destroyed, because threads of clients may log while the process ends
  return log;
}

}  // namespace

void use(const Settings& settings) {
  // The file is opened before anything is changed. If that fails, the log goes on as it was.
  std::unique_ptr<File> file = settings.file.empty() ? nullptr : std::make_unique<File>(settings.file);
  Log& log = process_log();
  const std::lock_guard lock(log.mutex);
  log.settings = settings;
  log.clock = file == nullptr && is_journal(STDERR_FILENO) ? Clock::journal : Clock::own;
  log.file = std::move(file);
}

void require_writable(const std::string& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) throw cannot_open(file, EISDIR);
  if (::access(file.c_str(), W_OK) == 0) return;
  if (errno != ENOENT) throw cannot_open(file, errno);
  // It would be made, for which its folder has to be there and to be writable.
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw cannot_open(file, errno);
}

void reopen() {
  Log& log = process_log();
  const std::lock_guard lock(log.mutex);
  // The new file is opened before the old one is closed, so that entries have a place even where this throws.
  if (log.file != nullptr) log.file = std::make_unique<File>(log.settings.file);
}

void write(const Entry& entry) {
  Log& log = process_log();
  const std::lock_guard lock(log.mutex);
  const std::string text = line(entry, log.settings.format, log.clock, std::chrono::system_clock::now());
  const int descriptor = log.file != nullptr ? log.file->descriptor() : STDERR_FILENO;
  // A log that cannot be written must not stop a lane, so the result is not looked at.
  [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
}

void info(std::string_view event, std::string message, std::vector<Field> fields) {
  write({Level::info, event, std::move(message), std::move(fields)});
}

void warning(std::string_view event, std::string message, std::vector<Field> fields) {
  write({Level::warning, event, std::move(message), std::move(fields)});
}

}  // namespace nustream::log
