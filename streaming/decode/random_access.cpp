#include "decode/random_access.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "error.h"

namespace nustream::decode {

RandomAccess::RandomAccess(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw Failure(Exit::io, "cannot open '" + path + "': " + std::generic_category().message(errno) +
                                "; check the path and its permissions");
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

RandomAccess::~RandomAccess() {
  ::close(descriptor_);
}

std::string RandomAccess::read(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    throw Failure(Exit::io, "'" + path_ + "' is shorter than it says of itself: fetch the file again");
  }
  std::string out(bytes, '\0');
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t count =
        ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Failure(Exit::io, "cannot read '" + path_ + "': it ends too soon; fetch the file again");
    done += static_cast<std::size_t>(count);
  }
  return out;
}

}  // namespace nustream::decode
