#include "decode/event_time.h"

#include "decode/row_writer.h"

namespace nustream::decode {

double read_event_time(std::string_view text, record::TimeUnit unit) noexcept {
  const auto time = record::parse_time(text, unit);
  return time ? time->epoch_seconds : no_time;
}

}  // namespace nustream::decode
