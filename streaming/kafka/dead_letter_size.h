// How large a dead letter is, and how to make it fit. The size is that of the whole record, by which a topic takes or
// refuses it.
#pragma once

#include <cstddef>
#include <string_view>

#include "journal/journal.h"

namespace nustream::kafka {

/// A number of bytes that a batch with this letter alone does not exceed, uncompressed, with the headers that
/// DeadLetterHeaders adds. `input_topic` is the name of the input that these show.
[[nodiscard]] std::size_t bytes_bound(const journal::DeadLetter& letter, std::string_view input_topic);

/// Cuts the letter until bytes_bound() is at most `bytes_max`: first the record's headers, then its key, and its
/// value last. Returns false where not even the reason fits; the letter is then as it was.
[[nodiscard]] bool fit(journal::DeadLetter& letter, std::string_view input_topic, std::size_t bytes_max);

}  // namespace nustream::kafka
