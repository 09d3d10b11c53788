#include "decode/event_time.h"

#include "decode/row_writer.h"
#include "nustream/record/number.h"
#include "nustream/record/timestamp.h"

namespace nustream::decode {

double read_event_time(std::string_view text) noexcept {
  if (const auto timestamp = record::parse_timestamp(text)) return timestamp->epoch_seconds;
  return record::parse_number(text).value_or(no_time);
}

}  // namespace nustream::decode
