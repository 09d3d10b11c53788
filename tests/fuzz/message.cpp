// Records of a topic: their key, value, headers and time become rows; dead letters are made of them, and they are in
// the bookmark of a state.
#include <cmath>

#include "decode/message_decoder.h"
#include "decode_rows.h"
#include "error.h"
#include "fuzz.h"
#include "kafka/dead_letter.h"
#include "kafka/topic_bookmark.h"

namespace nustream::fuzz {
namespace {

void check_bookmark(std::string_view input) {
  try {
    require(kafka::encode_bookmark(kafka::decode_bookmark(input)) == input, "a bookmark is written as it was read");
  } catch (const Failure& failure) {
    require(failure.code() == Exit::data, "a malformed bookmark is a failure of data");
  }
}

void check_letter(const decode::Message& message, std::size_t bytes_max) {
  journal::DeadLetter letter{Position{message.offset}, "a reason", {}, {}, {}, message.milliseconds};
  if (message.key) letter.key = *message.key;
  if (message.value) letter.value = *message.value;
  for (const decode::MessageHeader& header : message.headers) {
    letter.headers.emplace_back(header.name, header.value ? std::optional<std::string>(*header.value) : std::nullopt);
  }
  const journal::DeadLetter whole = letter;
  if (!kafka::fit(letter, "topic", bytes_max)) {
    return require(letter.key == whole.key && letter.value == whole.value && letter.headers == whole.headers,
                   "a letter that does not fit is left as it was");
  }
  require(kafka::bytes_bound(letter, "topic") <= bytes_max, "a letter that was cut fits");
  const kafka::DeadLetterHeaders headers(letter, {"stream", LaneId{1}, "group", {}});
  require(headers.headers().size() == letter.headers.size() + 5, "every header and five of ours");
}

void target(std::string_view input) {
  check_bookmark(input);
  const std::uint8_t choice = take_byte(input);
  decode::InputSettings settings;
  settings.format = (choice & 1U) != 0 ? decode::Format::json_lines : decode::Format::csv;
  settings.columns = {"a", "b"};
  // Each decoder sets as many bytes to zero for each input.
  settings.record_bytes_max = (choice & 2U) != 0 ? 16 : 512;
  if ((choice & 4U) != 0) settings.time_column = "@timestamp";
  const record::Schema schema = tests::columns({"a", "@key", "@header:h"}, "b");
  decode::MessageDecoder decoder(settings, schema);
  decode::MessageBatch batch;
  std::uint64_t offset = 0;
  while (!input.empty()) {
    const std::uint8_t parts = take_byte(input);
    decode::Message message;
    message.offset = offset;
    offset += 1 + (parts >> 6U);
    message.milliseconds = static_cast<std::int64_t>(offset) * ((parts & 32U) != 0 ? -(std::int64_t{1} << 55) : 1000);
    message.time_kind = static_cast<decode::TimeKind>(parts % 3);
    if ((parts & 4U) != 0) message.key = take_part(input);
    if ((parts & 8U) != 0) message.value = take_part(input);
    batch.add(message);
    for (int headers = parts & 3U; headers > 0; --headers) {
      decode::MessageHeader header{(parts & 16U) != 0 ? std::string_view("h") : take_part(input), {}};
      if ((parts & 1U) != 0) header.value = take_part(input);
      batch.add_header(header);
    }
  }
  record::RowBatch rows;
  rows.dimension = decoder.dimension();
  const auto messages = batch.messages();
  decoder.decode(messages, rows);
  require(rows.count() == batch.count(), "one row a message, whatever it holds");
  for (const double x : rows.x) require(std::isfinite(x), "finite features");
  for (const double y : rows.y) require(std::isfinite(y), "finite targets");
  for (std::size_t i = 0; i < rows.count(); ++i) {
    require(rows.next[i] == messages[i].offset + 1, "the position behind a row is its message's");
  }
  for (const decode::Message& message : messages) check_letter(message, 40 + 8 * std::size_t{choice});
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(message)
