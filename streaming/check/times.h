// Finds texts of times that are read as something else than what was meant: numbers in another unit, and dates, years
// or day numbers that count no seconds at all. Texts of records are looked at, so that all of it is for the operator
// alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/input.h"
#include "decode/seen_lines.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// What to set, or to write instead, where `text` is no time under `unit`, such as "; set unit = \"ms\""; "" where
/// the text gives no hint.
[[nodiscard]] std::string advice_on_time(std::string_view text, record::TimeUnit unit);

/// A sentence for each column of times, of features and of the records themselves, whose numbers are hardly meant as
/// they are read: most of them lie between 1990 and 2100 in another unit alone, or all of them are dates in digits,
/// years or day numbers. Zeros, and texts that are neither numbers nor times, are left out. It looks at `records`,
/// which are the first ones. Returns "" where there is nothing to say.
[[nodiscard]] std::string odd_times(const config::InputSettings& input, const record::Schema& schema,
                                    std::span<const decode::SeenLine> records);
/// The same of the first records of files, which it reads once more; "" where the input cannot be read twice. It
/// throws nothing.
[[nodiscard]] std::string odd_times(const config::InputSettings& input, const record::Schema& schema);

/// Why a window of time may have no record: odd_times() of the records themselves (stream.time), or a sentence where
/// most of the first ones cannot be read as times; "" where there is nothing to say. It reads the first records of
/// files once more, and throws nothing.
[[nodiscard]] std::string why_no_time_matches(const config::InputSettings& input);

}  // namespace nustream::check
