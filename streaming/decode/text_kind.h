// Tells whether a text is CSV, JSON lines, or something else.
#pragma once

#include <string>

#include "config/input.h"
#include "decode/first_lines.h"

namespace nustream::decode {

struct TextKind {
  std::string what;    ///< in words; "" where it is what the settings say, or cannot be told
  std::string remedy;  ///< what to type, where % stands for the path
};

/// What a text is that begins with `first`, where it is not what `settings` say. See other_kind(), which asks only
/// where may_decide().
[[nodiscard]] TextKind text_kind(const FirstContent& first, const config::InputSettings& settings);

}  // namespace nustream::decode
