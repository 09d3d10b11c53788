// What a process of `replay` prints, at the moment at which it prints it.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace nustream::tests {

/// A standard output that hands on whatever is flushed to it.
class StandardOutput {
 public:
  using Look = std::function<void(std::string_view printed)>;

  explicit StandardOutput(Look look);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;
  [[nodiscard]] std::FILE* file() const noexcept { return file_; }

 private:
  Look look_;
  std::FILE* file_;
};

/// Keeps standard error silent while it lives: what is printed there is for the operator.
class WithoutStandardError {
 public:
  WithoutStandardError();
  ~WithoutStandardError();
  WithoutStandardError(const WithoutStandardError&) = delete;
  WithoutStandardError& operator=(const WithoutStandardError&) = delete;

 private:
  int before_;
};

/// The number in the first column of the first release in `printed`, behind a header or without one.
[[nodiscard]] std::string printed_position(std::string_view printed);
/// Whether `printed` is what somebody is shown of this one release, with or without the header.
[[nodiscard]] bool shows_release(std::string_view printed, const std::string& line);

}  // namespace nustream::tests
