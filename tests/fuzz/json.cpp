// JSON lines.
#include "line_rows.h"

namespace nustream::fuzz {
namespace {

decode::InputSettings settings_of(std::size_t record_bytes_max) {
  decode::InputSettings settings;
  settings.format = decode::Format::json_lines;
  settings.record_bytes_max = record_bytes_max;
  return settings;
}

void target(std::string_view input) {
  static const record::Schema schema = tests::columns({"a", "b"}, "y");
  static const decode::InputSettings settings[] = {settings_of(1 << 16), settings_of(24)};
  static decode::MessageDecoder decoders[] = {{settings[0], schema}, {settings[1], schema}};
  const std::size_t choice = take_byte(input) & 1U;
  check_rows(input, settings[choice], schema, decoders[choice]);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(json)
