// What a history is found to have done.
#pragma once

#include <string>

namespace nustream::tests {

/// Keeps the first violation of an invariant; violations that follow from it are not told.
class Verdict {
 public:
  void violate(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }
  [[nodiscard]] bool holds() const noexcept { return violation_.empty(); }
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

 private:
  std::string violation_;
};

}  // namespace nustream::tests
