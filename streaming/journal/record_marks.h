// Marks of records that were read: whether an input still holds them is told by these, and by nothing else of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "journal/state_record.h"

namespace nustream::journal {

/// How many a state keeps.
inline constexpr std::size_t marks_kept = 8;

/// The mark of the record at `position`, which held `bytes`: keyed BLAKE2b-256 (docs/formats/state.md).
[[nodiscard]] Hash record_mark(Position position, std::string_view bytes, std::span<const std::uint8_t, 32> key);

/// Appends a mark that is behind all others, or does nothing where it is not. Of more than marks_kept one goes that
/// leaves the smallest gap, so that the first, the last and some spread over the positions between them stay.
void add_mark(const SeenRecord& mark, std::vector<SeenRecord>& marks);

}  // namespace nustream::journal
