// Marks of records that were read. They tell whether an input still holds those records, and nothing else of them is
// kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "journal/state_record.h"

namespace nustream::journal {

/// How many marks a state keeps.
inline constexpr std::size_t marks_kept = 8;

/// The mark of the record at `position`, which held `bytes`: keyed BLAKE2b-256 (docs/formats/state.md).
[[nodiscard]] Hash record_mark(Position position, std::string_view bytes, std::span<const std::uint8_t, 32> key);

/// Appends a mark, if it is behind all others; otherwise does nothing. Where there are then more than marks_kept, the
/// mark is removed that leaves the smallest gap between its neighbours. So the first and the last mark stay, and the
/// others remain spread over the positions between them.
void add_mark(const SeenRecord& mark, std::vector<SeenRecord>& marks);

}  // namespace nustream::journal
