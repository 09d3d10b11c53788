// How large a dead letter may be: the record as a whole, since it is as a whole that a topic takes or refuses it.
#pragma once

#include <cstddef>
#include <string_view>

#include "journal/journal.h"

namespace nustream::kafka {

/// More bytes than a batch of records has that holds this letter alone, uncompressed, with the headers that
/// DeadLetterHeaders adds. `input_topic` is the name that these show.
[[nodiscard]] std::size_t bytes_bound(const journal::DeadLetter& letter, std::string_view input_topic);

/// Cuts the letter until bytes_bound() is `bytes_max` at most: the record's headers first, its key next, its value
/// last. False where not even its reason fits, and the letter is as it was.
[[nodiscard]] bool fit(journal::DeadLetter& letter, std::string_view input_topic, std::size_t bytes_max);

}  // namespace nustream::kafka
