// Numbers with a meaning. Numbers of different meanings cannot be mixed, and every number is within its range.
#pragma once

#include <compare>
#include <sstream>
#include <string>

#include "nustream/base/error.h"

namespace nustream {

/// Wraps a `Rep` under the name of `Tag`. The tag says which values are allowed:
///
///     struct DeltaTag {
///       static constexpr const char* name = "delta";
///       static constexpr const char* allowed = "0 < delta < 1";
///       static constexpr bool valid(double value) { return value > 0 && value < 1; }
///     };
///
/// The constructor throws InvalidParameter with name, value and allowed range, so code that is handed a Strong need
/// not check it again. Values are ordered and comparable, and there is no implicit conversion either way.
template <class Tag, class Rep>
class Strong {
 public:
  using rep = Rep;

  explicit constexpr Strong(Rep value) : value_(value) {
    if (!Tag::valid(value)) refuse(value);
  }

  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;

 private:
  [[noreturn]] static void refuse(Rep value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    throw InvalidParameter(Tag::name, text.str(), Tag::allowed);
  }

  Rep value_;
};

/// The base of tags that allow every value (counts and identifiers).
struct AnyValue {
  static constexpr const char* allowed = "any";
  template <class Rep>
  static constexpr bool valid(Rep) noexcept {
    return true;
  }
};

}  // namespace nustream
