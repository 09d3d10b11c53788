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
        json.raw(field.column, value);
      }
    });
  }
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
