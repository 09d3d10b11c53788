// A file descriptor that is closed at the end of its scope.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace nustream::secrets {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : Descriptor(::open(path.c_str(), flags | O_CLOEXEC)) {}
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] bool valid() const noexcept { return value_ >= 0; }

 private:
  int value_;
};

}  // namespace nustream::secrets
