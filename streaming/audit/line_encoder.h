// Texts to lines of a stream's format: what a decode::LineDecoder reads back.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "config/input.h"

namespace nustream::audit {

/// A field of a record that is to be written.
struct EncodedField {
  std::string column;
  std::string text;
  bool is_number = false;  ///< true: a number in formats that distinguish numbers from strings; false: a string there
};

/// Writes lines of one format, without their newlines.
class LineEncoder {
 public:
  virtual ~LineEncoder() = default;
  /// The line that names the columns; only for formats whose files may have one.
  [[nodiscard]] virtual std::string header(std::span<const std::string> columns) const = 0;
  [[nodiscard]] virtual std::string record(std::span<const EncodedField> fields) const = 0;
  /// A complete line that no decoder can use.
  [[nodiscard]] virtual std::string null() const = 0;
  /// The text of a field that is no number.
  [[nodiscard]] virtual std::string no_number() const = 0;
};

/// The encoder of input.format.
[[nodiscard]] std::unique_ptr<LineEncoder> make_line_encoder(const config::InputSettings& input);

}  // namespace nustream::audit
