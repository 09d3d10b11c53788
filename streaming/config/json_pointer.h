// Columns of JSON that are named by JSON pointers (RFC 6901).
#pragma once

#include <string_view>

#include "config/input.h"
#include "config/settings_tree.h"

namespace nustream::config {

/// Why a column that begins with a slash is no pointer to a member, as the end of a sentence; "" where it is one, and
/// for every other name.
[[nodiscard]] std::string_view why_no_pointer(std::string_view column);

/// Refuses a key of the settings that names a column by a pointer which is none. No record is read for that.
/// Contract: `input` was read from the same settings.
void check_pointers(const Section& root, const InputSettings& input);

}  // namespace nustream::config
