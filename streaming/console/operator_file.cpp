// Files that a command writes beside its answer. They are made as PATH.new and renamed, so that whoever reads PATH
// sees the old file or the new one, whole.
#include "console/operator_file.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "error.h"
#include "secrets/key_place.h"
#include "secrets/secret_file.h"

namespace nustream::console {

OperatorFile::OperatorFile(std::string path, journal::Audience audience)
    : path_(std::move(path)), audience_(audience) {
  if (path_.empty()) return;
  // Made with mode 0600 whatever its audience is: it is empty, and is made anew when there is something to write.
  static_cast<void>(journal::posix_disk()->create(path_ + ".new", journal::Audience::operators));
  next_ = path_ + ".new";
}

OperatorFile::~OperatorFile() {
  std::error_code gone;
  // A run that failed leaves no empty file behind. After a write, `next_` is empty.
  if (!next_.empty()) std::filesystem::remove(next_, gone);
}

void OperatorFile::write(std::string_view object) {
  if (next_.empty()) return;
  const auto disk = journal::posix_disk();
  {
    // The empty file from the beginning is unlinked here, and one with the audience's mode takes its place.
    const auto file = disk->create(next_, audience_);
    file->write(0, std::string(object) + '\n');
    file->sync();
  }
  disk->rename(next_, path_);
  next_.clear();
}

void require_outside(const std::string& state_folder, const std::vector<NamedFile>& files) {
  for (const NamedFile& file : files) {
    if (file.path.empty() || state_folder.empty()) continue;
    // The folder that the name is written into: a link that has the name is replaced, and not followed.
    std::error_code unknown;
    const std::filesystem::path within = std::filesystem::absolute(file.path, unknown).parent_path();
    if (!secrets::lies_in(within, state_folder)) continue;
    throw Failure(Exit::usage, std::string(file.option) + ": " + file.path + " lies in the state folder " +
                                   state_folder + ", whose files only runs write; name a file elsewhere");
  }
}

void require_new_file(const std::string& path) {
  if (path.empty()) return;
  // Made and removed again: only that shows whether the folder is there, and may be written to.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0 && errno == EEXIST) {
    throw Failure(Exit::io, path + " is there already: --write-config names a new file");
  }
  if (descriptor < 0) {
    throw system_failure(Exit::io, "write", path, errno, "--write-config names a new file in a folder that is there");
  }
  ::close(descriptor);
  ::unlink(path.c_str());
}

void write_new_file(const std::string& path, const std::string& text, const std::string& what_stays) {
  // O_EXCL: a file that is there already is never written over, even if it came after require_new_file().
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) throw system_failure(Exit::io, "write", path, errno, what_stays);
  int error = secrets::write_all(descriptor, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  ::close(descriptor);
  if (error == 0) return;
  ::unlink(path.c_str());  // a part of the settings would stand in the way of the next try
  throw system_failure(Exit::io, "write", path, error, what_stays);
}

}  // namespace nustream::console
