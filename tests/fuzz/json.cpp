// JSON lines, as a file and as messages.
#include "line_rows.h"

namespace nustream::fuzz {
namespace {

decode::InputSettings settings_of(std::size_t record_bytes_max, config::Envelope envelope = config::Envelope::none) {
  decode::InputSettings settings;
  settings.format = decode::Format::json_lines;
  settings.record_bytes_max = record_bytes_max;
  settings.envelope = envelope;
  return settings;
}

void target(std::string_view input) {
  static const record::Schema schemas[] = {tests::columns({"a", "b"}, "y"),
                                           tests::columns({"/a/b", "/a/0/b"}, "/y/~1"),
                                           tests::columns({"a", "/op"}, "b")};
  static const decode::InputSettings settings[] = {settings_of(1 << 16), settings_of(24),
                                                   settings_of(1 << 16, config::Envelope::debezium)};
  static decode::MessageDecoder decoders[] = {
      {settings[0], schemas[0]}, {settings[1], schemas[0]}, {settings[0], schemas[1]}, {settings[2], schemas[2]}};
  const std::size_t choice = take_byte(input) & 3U;
  const std::size_t settings_at[] = {0, 1, 0, 2};
  const std::size_t schema_at[] = {0, 0, 1, 2};
  check_rows(input, settings[settings_at[choice]], schemas[schema_at[choice]], decoders[choice]);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(json)
