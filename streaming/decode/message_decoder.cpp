// Turns messages into rows. Values that can be lines are collected and decoded many at a time; a value that cannot
// gets its row at once, behind the rows of those collected before it, so that rows keep the order of messages.
#include "decode/message_decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "decode/row_writer.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr const char* line_break = "the value holds a line break";
constexpr const char* framed = "the value begins with a zero byte and four more: framed by a schema registry?";

// Whether the value is framed as Confluent's serializers write it: a zero byte, and a schema's number of four bytes.
// No CSV record and no JSON text begins with a zero byte.
bool is_framed(std::string_view value) noexcept {
  constexpr std::size_t framing_bytes = 5;
  return value.size() > framing_bytes && value.front() == '\0';
}

// The settings of the decoder of values. It is set up as for a file whose lines may have any length, because a value
// is measured before it becomes a line.
InputSettings settings_of_values(InputSettings settings, const std::string& private_column) {
  settings.files.clear();
  settings.header = false;
  // Public fields have to fit, whether or not the private field after them does.
  if (private_column.empty()) settings.record_bytes_max = std::numeric_limits<std::size_t>::max();
  if (has_columns(settings) && settings.columns.empty()) {
    throw Failure(Exit::configuration,
                  "the values of messages have no header line, and no columns are named; name them in order in "
                  "stream.columns");
  }
  if (settings.time_column == timestamp_column) {
    settings.time_column.clear();
  } else if (is_message_column(settings.time_column)) {
    throw Failure(Exit::configuration, "stream.time = '" + settings.time_column +
                                           "' holds no time; name @timestamp or a field of the value");
  }
  return settings;
}

// The target's column, where it alone is private and is a field of the value. A header is not part of the value, so
// its text changes nothing there.
std::string private_field(const record::Schema& schema) {
  std::string column = private_column(schema);
  if (column == key_column) {
    throw Failure(
        Exit::configuration,
        "column '@key': a key decides its record's partition, so it cannot be all that is private; read the "
        "target from the last column or a header");
  }
  if (is_message_column(column)) column.clear();
  return column;
}

/// Requires append times. A refusal tells nothing about a record, because the topic decides the kind of all its
/// times.
void require_append_times(std::span<const Message> messages) {
  for (const Message& message : messages) {
    if (message.time_kind == TimeKind::broker) continue;
    throw Failure(
        Exit::data,
        "the record at offset " + std::to_string(message.offset) +
            " has no append time, by which the windows of users.period go: a producer could date a record "
            "ahead and have everybody's limits begin anew; set message.timestamp.type=LogAppendTime for the "
            "topic and begin behind its older records");
  }
}

/// The message's own time in seconds since 1970.
double seconds_of(const Message& message) {
  return message.time_kind == TimeKind::none ? no_time : static_cast<double>(message.milliseconds) / 1000;
}

}  // namespace

MessageDecoder::MessageDecoder(const InputSettings& settings, const record::Schema& schema)
    : builder_(schema),
      columns_(builder_.fields()),
      times_from_messages_(settings.time_column == timestamp_column),
      append_times_only_(settings.append_times_only),
      times_from_values_(!settings.time_column.empty() && !times_from_messages_),
      line_breaks_divide_(!traits_of(settings.format).breaks_are_space),
      value_bytes_max_(settings.record_bytes_max),
      decoder_(make_line_decoder(settings_of_values(settings, private_field(schema)), columns_.in_value(),
                                 private_field(schema))),
      readings_(columns_.value_places(), columns_.message_places()) {
  if (settings.times_public && times_from_values_) {
    throw Failure(Exit::configuration,
                  "column '" + settings.time_column +
                      "' is of the messages' values: a value that is null hides its time, which is declared public "
                      "(stream.times_public, users.times); set stream.time = \"@timestamp\"");
  }
}

// Adds the value as a line. Returns why that is not possible, or null where it was done.
const char* MessageDecoder::add_line(const Message& message) {
  if (!message.value) return tombstone;
  std::string_view value = *message.value;
  // One line break at the end is what a program that prints lines leaves there. It is not counted as length.
  if (value.ends_with('\n')) value.remove_suffix(1);
  if (value.size() > value_bytes_max_) return too_long;
  if (is_framed(value)) return framed;
  // memchr must not be given a null pointer, which an empty view may have.
  const bool broken = !value.empty() && std::memchr(value.data(), '\n', value.size()) != nullptr;
  if (broken && line_breaks_divide_) return line_break;
  char* const line = lines_.append(value);
  // Line breaks become carriage returns, which do not end a line here. JSON treats the two alike: both are white
  // space between tokens, and neither is allowed inside a string.
  if (broken) std::replace(line, line + value.size(), '\n', '\r');
  return nullptr;
}

// What can be read of a value that is not a line: its beginning, up to a line break.
std::string_view MessageDecoder::beginning_of(const Message& message) const {
  const std::string_view begin = message.value.value_or(std::string_view()).substr(0, value_bytes_max_);
  return begin.substr(0, begin.find('\n'));
}

// Decodes the lines that wait, and empties them.
void MessageDecoder::decode_lines(RowWriter& writer) {
  std::string_view lines = lines_.view();
  std::size_t rows = lines_.count();
  while (rows > 0) {
    const LineDecoder::Progress progress = decoder_->decode(lines, rows, writer);
    lines.remove_prefix(progress.bytes);
    rows -= progress.rows;
  }
  lines_.clear();
}

void MessageDecoder::decode(std::span<const Message> messages, record::RowBatch& batch) {
  if (append_times_only_) require_append_times(messages);
  const std::size_t rows_before = batch.count();
  const std::size_t rejects_before = batch.rejects.size();
  readings_.clear();
  lines_.clear();
  builder_.forget_users();
  // Ordinals are places among `messages`; they become offsets below.
  RowWriter writer(builder_, times_from_values_, 0, batch, readings_.any() ? &readings_ : nullptr);
  for (const Message& message : messages) {
    if (readings_.any()) columns_.read(message, readings_.add());
    // The lines that wait are decoded before a value that does not fit beside them.
    if (message.value && lines_.is_full_for(message.value->size())) decode_lines(writer);
    const char* const fault = add_line(message);
    if (fault == nullptr) continue;
    decode_lines(writer);
    writer.reserve(1);
    decoder_->decode_cut(beginning_of(message), fault, writer);
  }
  decode_lines(writer);

  // The writer has counted from 0. Positions of a topic are offsets, and the position after a
  // record is its offset + 1.
  for (std::size_t i = 0; i < messages.size(); ++i) batch.next[rows_before + i] = messages[i].offset + 1;
  for (std::size_t i = rejects_before; i < batch.rejects.size(); ++i) {
    batch.rejects[i].position = Position{messages[batch.rejects[i].position.value()].offset};
  }
  // The writer has left the times out: they stand beside the values, one for each message.
  if (times_from_messages_) {
    for (const Message& message : messages) batch.times.push_back(seconds_of(message));
  }
}

}  // namespace nustream::decode
