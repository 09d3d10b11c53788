// The names by which a schema reads the parts of a message beside its value.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "config/input.h"
#include "decode/message.h"
#include "nustream/record/row.h"

namespace nustream::decode {

using config::header_prefix;
using config::key_column;
using config::timestamp_column;

/// Whether `column` names a part of a message rather than a field of its value, even where the value has such a
/// field.
[[nodiscard]] bool is_message_column(std::string_view column) noexcept;

/// The fields of a schema, divided into those of the value and those beside it.
class MessageColumns {
 public:
  /// Throws Failure(configuration) for a header without a name, and for the time, which cannot be a feature.
  explicit MessageColumns(std::span<const record::Field> fields);

  /// The fields that the value holds.
  [[nodiscard]] std::span<const record::Field> in_value() const noexcept { return in_value_; }
  /// The places of these fields among all fields, and the places of the fields beside the value.
  [[nodiscard]] const std::vector<std::uint32_t>& value_places() const noexcept { return value_places_; }
  [[nodiscard]] const std::vector<std::uint32_t>& message_places() const noexcept { return message_places_; }

  /// Reads the fields beside the value, in the order of message_places(): record::missing where the message lacks a
  /// field, NaN where the field is null or its text cannot be read.
  void read(const Message& message, std::span<double> readings) const;

 private:
  std::vector<record::Field> in_value_;
  std::vector<std::uint32_t> value_places_;
  std::vector<record::Field> in_message_;
  std::vector<std::uint32_t> message_places_;
};

}  // namespace nustream::decode
