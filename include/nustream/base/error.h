// The exception that the core throws for a parameter, and the contract check that stays in release builds.
#pragma once

#include <stdexcept>
#include <string>

namespace nustream {

/// A parameter outside its allowed range. `what()` is one line with name, value and allowed range.
class InvalidParameter : public std::invalid_argument {
 public:
  InvalidParameter(std::string name, std::string value, std::string allowed);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  [[nodiscard]] const std::string& allowed() const noexcept { return allowed_; }

 private:
  std::string name_;
  std::string value_;
  std::string allowed_;
};

/// A request that is well-formed but has no valid answer, such as the sensitivity in the limit of a correlation that
/// exists only for a finite horizon. `what()` says why, and what to do.
class Unsupported : public std::domain_error {
 public:
  using std::domain_error::domain_error;
};

/// Ends the process when a contract that guards privacy is broken, because going on could release what must stay
/// hidden. Writes `what` and the place to standard error, and never a data value.
[[noreturn]] void contract_violated(const char* what, const char* file, int line) noexcept;

}  // namespace nustream

/// Checks a contract in every build type.
#define NUSTREAM_REQUIRE(condition, what) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::nustream::contract_violated((what), __FILE__, __LINE__))
