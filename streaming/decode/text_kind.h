// Tells whether a text is CSV, JSON lines, or something else.
#pragma once

#include <string>
#include <string_view>

#include "config/input.h"

namespace nustream::decode {

struct TextKind {
  std::string what;    ///< in words; "" where it is what the settings say, or cannot be told
  std::string remedy;  ///< what to type, where % stands for the path
};

/// What follows in `first` on the byte order mark and on the lines that the settings say are no records.
[[nodiscard]] std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings);

/// What a text is that begins with `first`, where it is not what `settings` say. See other_kind().
[[nodiscard]] TextKind text_kind(std::string_view first, bool is_all, const config::InputSettings& settings);

}  // namespace nustream::decode
