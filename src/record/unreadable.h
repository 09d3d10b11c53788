// The reading of a text that cannot be read. Private to the core.
#pragma once

#include <limits>

namespace nustream::record {

/// A NaN like any that a map may give. The readings `missing` and `empty` of row.h are NaNs of their own, so that the
/// reason that an operator reads can name them.
inline constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

}  // namespace nustream::record
