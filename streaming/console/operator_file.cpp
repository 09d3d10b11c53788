#include "console/operator_file.h"

#include <filesystem>
#include <utility>

namespace nustream::console {

OperatorFile::OperatorFile(std::string path, journal::Audience audience)
    : path_(std::move(path)), audience_(audience) {
  if (path_.empty()) return;
  static_cast<void>(journal::posix_disk()->create(path_ + ".new", journal::Audience::operators));
  next_ = path_ + ".new";
}

OperatorFile::~OperatorFile() {
  std::error_code gone;
  if (!next_.empty()) std::filesystem::remove(next_, gone);
}

void OperatorFile::write(std::string_view object) {
  if (next_.empty()) return;
  const auto disk = journal::posix_disk();
  {
    const auto file = disk->create(next_, audience_);
    file->write(0, std::string(object) + '\n');
    file->sync();
  }
  disk->rename(next_, path_);
  next_.clear();
}

}  // namespace nustream::console
