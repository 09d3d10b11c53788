// JSON lines to rows, by simdjson's on-demand parser.
#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "decode/csv_line.h"
#include "decode/event_time.h"
#include "decode/line_buffer.h"
#include "decode/line_decoder.h"
#include "decode/merged_readings.h"
#include "decode/utf8.h"

namespace nustream::decode {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr const char* not_json = "not a JSON object";
constexpr const char* repeated_key = "a key is there twice";

// A member of the object that some field or the time is read from.
struct Member {
  std::string key;
  std::vector<std::uint32_t> fields;
  bool time = false;
  bool seen = false;  // in the present record
};

class JsonDecoder : public LineDecoder {
 public:
  JsonDecoder(const InputSettings& settings, std::span<const record::Field> fields)
      : fields_(fields), line_bytes_max_(settings.record_bytes_max), readings_(fields_.size()) {
    for (std::uint32_t f = 0; f < fields_.size(); ++f) member(fields_[f].column).fields.push_back(f);
    if (!settings.time_column.empty()) member(settings.time_column).time = true;
  }

  [[nodiscard]] bool has_header() const noexcept override { return false; }
  void begin_file(std::string_view, const std::string&) override {}

  Progress decode(std::string_view lines, std::size_t rows_max, RowWriter& writer) override {
    Progress progress{0, 0};
    while (progress.rows < rows_max && progress.bytes < lines.size()) {
      const std::string_view rest = lines.substr(progress.bytes);
      const std::string_view line = rest.substr(0, rest.find('\n'));
      writer.reserve(1);
      decode_line(line, writer);
      progress.bytes += line.size() + 1;
      ++progress.rows;
    }
    return progress;
  }

 private:
  Member& member(const std::string& key) {
    const auto known = std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.key == key; });
    if (known != members_.end()) return *known;
    return members_.emplace_back(Member{.key = key, .fields = {}});
  }

  void decode_line(std::string_view line, RowWriter& writer) {
    if (line.size() > line_bytes_max_) return writer.write_unusable(too_long);
    line = without_mark(line);
    if (without_line_end(line).empty()) return writer.write_unusable(description(CsvFault::empty));
    std::fill(readings_.begin(), readings_.end(), record::missing);
    for (Member& known : members_) known.seen = false;
    double time = no_time;
    const char* const fault = read_object(line, time);
    if (fault != nullptr) return writer.write_unusable(fault);
    writer.write(readings_.data(), time);
  }

  // The parser looks at all bytes of a line before any member: one that is no UTF-8 would spoil the line, in whatever
  // member it is.
  simdjson::error_code begin_document(std::string_view line, ondemand::document& document) {
    const auto padded = [](std::string_view text) {
      return simdjson::padded_string_view(text.data(), text.size(), text.size() + LineBuffer::slack);
    };
    const simdjson::error_code error = parser_.iterate(padded(line)).get(document);
    if (error != simdjson::UTF8_ERROR) return error;
    copy_as_utf8(line, mended_);
    mended_.append(LineBuffer::slack, ' ');
    return parser_.iterate(padded(std::string_view(mended_).substr(0, line.size()))).get(document);
  }

  // What is wrong with the object on this line; nullptr where nothing is.
  const char* read_object(std::string_view line, double& time) {
    ondemand::document document;
    ondemand::object object;
    if (begin_document(line, document) != simdjson::SUCCESS) return not_json;
    if (document.get_object().get(object) != simdjson::SUCCESS) return not_json;
    std::size_t expected = 0;  // members mostly come in the same order
    for (auto entry : object) {
      ondemand::field field;
      std::string_view key;
      if (std::move(entry).get(field) != simdjson::SUCCESS) return not_json;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return not_json;
      Member* const found = find(key, expected);
      if (found == nullptr) continue;
      if (std::exchange(found->seen, true)) return repeated_key;
      if (!read_member(*found, field.value(), time)) return not_json;
    }
    // Out of bounds: nothing follows the object.
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? nullptr : not_json;
  }

  Member* find(std::string_view key, std::size_t& expected) {
    for (std::size_t tried = 0; tried < members_.size(); ++tried) {
      const std::size_t at =
          expected + tried < members_.size() ? expected + tried : expected + tried - members_.size();
      if (members_[at].key != key) continue;
      expected = at + 1;
      return &members_[at];
    }
    return nullptr;
  }

  // Reads what is wanted of a value; false where the line is no JSON.
  bool read_member(const Member& known, ondemand::value value, double& time) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return false;
    switch (type) {
      case ondemand::json_type::number: {
        const std::string_view token = value.raw_json_token();
        read_text(known, token.substr(0, token.find_first_of(" \t\r")), time);
        return true;
      }
      case ondemand::json_type::string: {
        std::string_view text;
        if (value.get_string().get(text) != simdjson::SUCCESS) return false;
        read_text(known, text, time);
        return true;
      }
      case ondemand::json_type::boolean: {
        bool truth = false;
        if (value.get_bool().get(truth) != simdjson::SUCCESS) return false;
        read_truth(known, truth);
        return true;
      }
      default:
        for (const std::uint32_t f : known.fields) readings_[f] = unreadable;  // null and nesting hold no text
        return true;
    }
  }

  void read_text(const Member& known, std::string_view text, double& time) {
    for (const std::uint32_t f : known.fields) readings_[f] = record::read_field(fields_[f], text);
    if (known.time) time = read_event_time(text);
  }

  void read_truth(const Member& known, bool truth) {
    for (const std::uint32_t f : known.fields) {
      const bool is_number = fields_[f].reading == record::Reading::number;
      readings_[f] = is_number ? (truth ? 1 : 0) : record::read_field(fields_[f], truth ? "true" : "false");
    }
  }

  std::span<const record::Field> fields_;
  std::size_t line_bytes_max_;
  std::vector<Member> members_;
  ondemand::parser parser_;
  std::vector<double> readings_;
  std::string mended_;  // the present line, where not all of it is UTF-8
};

}  // namespace

std::unique_ptr<LineDecoder> make_json_decoder(const InputSettings& settings, std::span<const record::Field> fields) {
  return std::make_unique<JsonDecoder>(settings, fields);
}

}  // namespace nustream::decode
