// A quotation mark that is not closed takes in the records behind it, up to the next one. They are then no records of
// their own, so that no count of unusable records shows them.
#include "check/long_records.h"

#include <cstdint>

#include <fmt/format.h>

#include "check/tally.h"

namespace nustream::check {
namespace {

constexpr std::uint64_t many_breaks = 20;  // texts that people write have fewer, mostly

}  // namespace

std::string long_record(const config::LongestRecord& longest) {
  if (longest.breaks == 0 || (!longest.is_open && longest.breaks < many_breaks)) return {};
  const std::string record =
      fmt::format("the record at line {} of '{}' holds {} line break{}", longest.line, longest.file,
                  with_separators(longest.breaks), longest.breaks == 1 ? "" : "s");
  if (longest.is_open) {
    return record +
           ": its quotation mark is never closed, and took in all lines up to the end of the file (stream.framing = "
           "\"trusted\"): close it";
  }
  return record +
         ": if its quotation mark ought to be closed before, it took in records behind it (stream.framing = "
         "\"trusted\"): close it";
}

}  // namespace nustream::check
