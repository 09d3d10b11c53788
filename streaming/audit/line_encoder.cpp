// Lines of CSV and of JSON lines for the audit's own records. Their opposites, the decoders that the games run, are
// in streaming/decode.
#include "audit/line_encoder.h"

#include "publish/json_writer.h"

namespace nustream::audit {
namespace {

class CsvEncoder final : public LineEncoder {
 public:
  explicit CsvEncoder(char delimiter) : delimiter_(delimiter) {}

  [[nodiscard]] std::string header(std::span<const std::string> columns) const override {
    std::string line;
    for (const std::string& column : columns) line += in_quotes(column) + delimiter_;
    return without_last(line);
  }
  [[nodiscard]] std::string record(std::span<const EncodedField> fields) const override {
    std::string line;
    for (const EncodedField& field : fields) line += in_quotes(field.text) + delimiter_;
    return without_last(line);
  }
  [[nodiscard]] std::string null() const override { return "\""; }  // an open quote
  [[nodiscard]] std::string no_number() const override { return "?"; }

 private:
  /// The text as a field. It is quoted where it needs to be: a column's name may hold the delimiter.
  [[nodiscard]] std::string in_quotes(const std::string& text) const {
    if (text.find_first_of(std::string{'"', delimiter_}) == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
  }
  static std::string without_last(std::string line) {
    if (!line.empty()) line.pop_back();
    return line;
  }

  char delimiter_;
};

class JsonEncoder final : public LineEncoder {
 public:
  [[nodiscard]] std::string header(std::span<const std::string>) const override { return {}; }
  [[nodiscard]] std::string record(std::span<const EncodedField> fields) const override {
    return publish::object_text([&](publish::JsonWriter& json) {
      for (const EncodedField& field : fields) {
        std::string value;
        if (field.is_number) {
          value = field.text;
        } else {
          publish::append_string(field.text, value);
        }
        // Numbers stand as they are written, so that the decoder reads the digits of the text and not those of a
        // conversion.
        json.raw(field.column, value);
      }
    });
  }
  // A line of JSON that is no object: no decoder can make a record of it.
  [[nodiscard]] std::string null() const override { return "null"; }
  [[nodiscard]] std::string no_number() const override { return "null"; }
};

}  // namespace

std::unique_ptr<LineEncoder> make_line_encoder(const config::InputSettings& input) {
  switch (input.format) {
    case config::Format::csv:
      return std::make_unique<CsvEncoder>(input.delimiter);
    case config::Format::json_lines:
      return std::make_unique<JsonEncoder>();
  }
  __builtin_unreachable();
}

}  // namespace nustream::audit
