// What a file of settings calls the transforms of a column.
#pragma once

#include <array>
#include <cstddef>

#include "nustream/record/schema.h"

namespace nustream::config {

/// In the order of record::Transform: first the transforms that a file names, then the keys that make the others; ""
/// for the one that no file has.
inline constexpr std::array transform_names{"identity",    "log",    "log1p", "sqrt",  "square", "indicator", "hour",
                                            "day_of_week", "labels", "",      "other", "hash",   "bins"};
static_assert(transform_names.size() == static_cast<std::size_t>(record::Transform::bin) + 1);

[[nodiscard]] constexpr const char* name_of(record::Transform transform) noexcept {
  return transform_names[static_cast<std::size_t>(transform)];
}

}  // namespace nustream::config
