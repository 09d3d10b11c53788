// Turns JSON lines into rows, by simdjson's on-demand parser.
#include <simdjson.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode/csv_line.h"
#include "decode/json_members.h"
#include "decode/line_buffer.h"
#include "decode/line_decoder.h"
#include "decode/merged_readings.h"
#include "decode/row_writer.h"

namespace nustream::decode {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr const char* not_json = "not a JSON object";
constexpr const char* not_an_envelope = "no envelope: it has no member after (stream.envelope)";
constexpr const char* row_as_text =
    "the envelope's after is a string, as MongoDB's connector writes it, and not an object: have the connector "
    "unwrap "
    "its records (ExtractNewDocumentState), and leave stream.envelope out";
constexpr const char* row_of_another_kind = "the envelope's after is neither an object nor null (stream.envelope)";

/// Why a record cannot be used, such as a member that comes twice or is not JSON; null where nothing is wrong.
using Fault = const char*;

/// Whether the line is JSON's null and nothing else, which a program that prints messages writes for one without a
/// value.
bool is_null(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin) == "null";
}

class JsonDecoder : public LineDecoder {
 public:
  JsonDecoder(const InputSettings& settings, std::span<const record::Field> fields)
      : fields_(fields),
        line_bytes_max_(settings.record_bytes_max),
        time_unit_(settings.time_unit),
        has_envelope_(settings.envelope != config::Envelope::none),
        members_(json_members(settings, fields)),
        readings_(fields_.size()) {}

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
  /// What an envelope has told about its row.
  enum class Row { absent, there, deleted, text, other };

  // Writes the row of one line, usable or not.
  void decode_line(std::string_view line, RowWriter& writer) {
    if (line.size() > line_bytes_max_) return writer.write_unusable(too_long);
    // A message may begin with the mark as a file does.
    line = without_mark(line);
    if (without_line_end(line).empty()) return writer.write_unusable(description(CsvFault::empty));
    // What a record lacks reads as missing. Nothing of the record before may be left.
    std::fill(readings_.begin(), readings_.end(), record::missing);
    forget(members_);
    time_ = no_time;
    row_ = Row::absent;
    Fault fault = read_document(line);
    if (fault == nullptr && has_envelope_) fault = row_fault();
    if (fault != nullptr) return writer.write_unusable(fault);
    writer.write(readings_.data(), time_);
  }

  // Begins to parse a line. The parser checks all bytes of a line before any member. So a byte that is not UTF-8
  // would spoil the line, whichever member holds it. Such bytes are replaced in a copy, and the copy is parsed.
  simdjson::error_code begin_document(std::string_view line, ondemand::document& document) {
    // simdjson reads some bytes beyond the text. A LineBuffer has room for that, so that no line is copied.
    const auto padded = [](std::string_view text) {
      return simdjson::padded_string_view(text.data(), text.size(), text.size() + LineBuffer::slack);
    };
    const simdjson::error_code error = parser_.iterate(padded(line)).get(document);
    // Only now is a copy made: nearly all lines are UTF-8.
    if (error != simdjson::UTF8_ERROR) return error;
    copy_as_utf8(line, mended_);
    mended_.append(LineBuffer::slack, ' ');
    return parser_.iterate(padded(std::string_view(mended_).substr(0, line.size()))).get(document);
  }

  // Forgets which members came in the record before.
  static void forget(std::vector<JsonMember>& members) {
    for (JsonMember& member : members) {
      member.seen = false;
      forget(member.inside);
    }
  }

  Fault row_fault() const {
    switch (row_) {
      case Row::absent:
        return not_an_envelope;
      case Row::there:
        return nullptr;
      case Row::deleted:
        return deleted;
      case Row::text:
        return row_as_text;
      case Row::other:
        return row_of_another_kind;
    }
    __builtin_unreachable();
  }

  /// The fault of a key that comes twice. Its name is one of the settings' own. Valid until the next call.
  Fault repeated(const JsonMember& member) {
    repeated_ = "the key '" + member.key + "' is there twice";
    return repeated_.c_str();
  }

  Fault read_document(std::string_view line) {
    ondemand::document document;
    ondemand::object object;
    if (begin_document(line, document) != simdjson::SUCCESS) return not_json;
    // A delete is followed by such a record.
    if (has_envelope_ && is_null(line)) return tombstone;
    if (document.get_object().get(object) != simdjson::SUCCESS) return not_json;
    if (const Fault fault = read_object(object, members_)) return fault;
    // Out of bounds means that nothing follows the object.
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS ? nullptr : not_json;
  }

  // Reads the wanted members of an object, in the order in which they stand. Others are passed over.
  Fault read_object(ondemand::object& object, std::vector<JsonMember>& wanted) {
    std::size_t expected = 0;  // the index of the next expected member, because members mostly come in the same order
    for (auto entry : object) {
      ondemand::field field;
      std::string_view key;
      if (std::move(entry).get(field) != simdjson::SUCCESS) return not_json;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return not_json;
      JsonMember* const found = find(key, wanted, expected);
      if (found == nullptr) continue;
      // With two members of one name it would depend on the reader which one counts.
      if (std::exchange(found->seen, true)) return repeated(*found);
      if (const Fault fault = read_member(*found, field.value())) return fault;
    }
    return nullptr;
  }

  // Reads the wanted elements of an array. Their number in the array is what a pointer counts by.
  Fault read_array(ondemand::array& array, std::vector<JsonMember>& wanted) {
    std::size_t place = 0;
    for (auto entry : array) {
      ondemand::value value;
      if (std::move(entry).get(value) != simdjson::SUCCESS) return not_json;
      // A pointer such as /list/0 names an element by its place.
      for (JsonMember& member : wanted) {
        if (member.place != place) continue;
        if (const Fault fault = read_member(member, value)) return fault;
      }
      ++place;
    }
    return nullptr;
  }

  // The wanted member of that name. The search begins behind the member that was found last, and goes round once.
  static JsonMember* find(std::string_view key, std::vector<JsonMember>& wanted, std::size_t& expected) {
    for (std::size_t tried = 0; tried < wanted.size(); ++tried) {
      const std::size_t at = expected + tried < wanted.size() ? expected + tried : expected + tried - wanted.size();
      if (wanted[at].key != key) continue;
      // Mostly the next member of the record is the next one in this list, so that one comparison finds it.
      expected = at + 1;
      return &wanted[at];
    }
    return nullptr;
  }

  // Reads from a value what the known member asks for.
  Fault read_member(JsonMember& known, ondemand::value value) {
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) return read_no_value(known, value);
    // The envelope tells of its row by what stands in the row's place.
    if (known.row && !set_row(row_of(type))) return repeated(known);
    switch (type) {
      case ondemand::json_type::number: {
        const std::string_view token = value.raw_json_token();
        // The raw token may be followed by white space. The number is read by this program, so that all formats
        // read it to the same double.
        read_text(known, token.substr(0, token.find_first_of(" \t\r")));
        return nullptr;
      }
      case ondemand::json_type::string: {
        std::string_view text;
        if (value.get_string().get(text) != simdjson::SUCCESS) return not_json;
        read_text(known, text);
        return nullptr;
      }
      case ondemand::json_type::boolean: {
        bool truth = false;
        if (value.get_bool().get(truth) != simdjson::SUCCESS) return not_json;
        read_truth(known, truth);
        return nullptr;
      }
      case ondemand::json_type::object:
      case ondemand::json_type::array:
        return read_nested(known, value, type == ondemand::json_type::object);
      default:  // null
        set_unreadable(known);
        return nullptr;
    }
  }

  // Some writers write NaN and Infinity, which are not JSON. They count as values that are no numbers, and do not
  // make the line a broken one.
  Fault read_no_value(const JsonMember& known, ondemand::value value) {
    // Not parsed by simdjson, so that the text is compared as it stands.
    const std::string_view token = value.raw_json_token();
    if (!token.starts_with("NaN") && !token.starts_with("Infinity")) return not_json;
    set_unreadable(known);
    return nullptr;
  }

  // Reads wanted members inside of a member, if there are any.
  Fault read_nested(JsonMember& known, ondemand::value& value, bool is_object) {
    set_unreadable(known);  // an object or an array is not a text
    // simdjson passes over the value when the next member is asked for.
    if (known.inside.empty()) return nullptr;
    if (is_object) {
      ondemand::object object;
      return value.get_object().get(object) != simdjson::SUCCESS ? not_json : read_object(object, known.inside);
    }
    ondemand::array array;
    return value.get_array().get(array) != simdjson::SUCCESS ? not_json : read_array(array, known.inside);
  }

  /// What a value of this type says in the place of an envelope's row. Null says that the row was deleted.
  static Row row_of(ondemand::json_type type) {
    switch (type) {
      case ondemand::json_type::object:
        return Row::there;
      case ondemand::json_type::null:
        return Row::deleted;
      case ondemand::json_type::string:
        return Row::text;
      default:
        return Row::other;
    }
  }

  /// Sets what the envelope tells; false where it has told something already: an envelope with a payload has the row
  /// at one of two paths, and a record that has both is no envelope of this kind.
  bool set_row(Row row) { return std::exchange(row_, row) == Row::absent; }

  // The member is there, but its value is no text or number.
  void set_unreadable(const JsonMember& known) {
    for (const std::uint32_t f : known.fields) readings_[f] = unreadable;
  }

  // A member may be read by several fields, and be the time as well.
  void read_text(const JsonMember& known, std::string_view text) {
    for (const std::uint32_t f : known.fields) readings_[f] = record::read_field(fields_[f], text);
    // A time that cannot be read leaves the record usable.
    if (known.time) time_ = read_event_time(text, time_unit_);
  }

  void read_truth(const JsonMember& known, bool truth) {
    for (const std::uint32_t f : known.fields) {
      const bool is_number = fields_[f].reading == record::Reading::number;
      // As a number, true is 1; as a text, for an indicator, it is the word.
      readings_[f] = is_number ? (truth ? 1 : 0) : record::read_field(fields_[f], truth ? "true" : "false");
    }
  }

  std::span<const record::Field> fields_;
  std::size_t line_bytes_max_;
  record::TimeUnit time_unit_;
  bool has_envelope_;
  std::vector<JsonMember> members_;
  ondemand::parser parser_;
  std::vector<double> readings_;
  double time_ = no_time;  // of the present record
  Row row_ = Row::absent;  // of the present record
  std::string mended_;     // a copy of the present line, where the line is not wholly UTF-8
  std::string repeated_;   // the present fault of a key that comes twice
};

}  // namespace

std::unique_ptr<LineDecoder> make_json_decoder(const InputSettings& settings, std::span<const record::Field> fields) {
  return std::make_unique<JsonDecoder>(settings, fields);
}

}  // namespace nustream::decode
