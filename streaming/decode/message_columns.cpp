// Divides a schema's fields into those of the value and those beside it, and reads the latter from a message.
#include "decode/message_columns.h"

#include <algorithm>
#include <optional>
#include <string>

#include "decode/merged_readings.h"
#include "error.h"

namespace nustream::decode {
namespace {

/// Refuses names beside the value that a feature cannot be read from.
void check(const std::string& column) {
  if (column == timestamp_column) {
    throw Failure(Exit::configuration,
                  "column '@timestamp' is the time of a message and no feature; name it as stream.time, or read a "
                  "time from the value");
  }
  if (column == header_prefix) {
    throw Failure(Exit::configuration, "column '@header:' names no header; write @header:NAME");
  }
}

/// Reads a field from the key or from the first header of its name.
double read_beside(const Message& message, const record::Field& field) {
  const auto text = [&](const std::optional<std::string_view>& found, double absent) {
    return found ? record::read_field(field, *found) : absent;
  };
  const std::string_view column = field.column;
  if (column == key_column) return text(message.key, record::missing);
  // Neither the key nor the time, which check() refuses: so the column is a header.
  const std::string_view name = column.substr(header_prefix.size());
  const auto found = std::find_if(message.headers.begin(), message.headers.end(),
                                  [&](const MessageHeader& header) { return header.name == name; });
  // A header that is there without a value is unreadable, not missing: the record has the field, and nothing in it.
  return found == message.headers.end() ? record::missing : text(found->value, unreadable);
}

}  // namespace

bool is_message_column(std::string_view column) noexcept {
  return column == key_column || column == timestamp_column || column.starts_with(header_prefix);
}

MessageColumns::MessageColumns(std::span<const record::Field> fields) {
  for (std::uint32_t f = 0; f < fields.size(); ++f) {
    const bool beside = is_message_column(fields[f].column);
    if (beside) check(fields[f].column);
    // Each field goes to one side, and its place among all fields is kept for putting the readings together.
    (beside ? in_message_ : in_value_).push_back(fields[f]);
    (beside ? message_places_ : value_places_).push_back(f);
  }
}

void MessageColumns::read(const Message& message, std::span<double> readings) const {
  for (std::size_t f = 0; f < in_message_.size(); ++f) readings[f] = read_beside(message, in_message_[f]);
}

}  // namespace nustream::decode
