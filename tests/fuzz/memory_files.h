// A file in memory with a path of its own, for code that reads files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace nustream::fuzz {

/// The path of the one file, which holds `content` from now on.
inline const std::string& file_of(std::string_view content) {
  static const int file = ::memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
    throw std::runtime_error("no file in memory");
  }
  return path;
}

}  // namespace nustream::fuzz
