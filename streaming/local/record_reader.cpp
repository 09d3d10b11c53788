// Reads one record after the other, with the text of its key column beside it. The decoder is that of all commands;
// the key is looked for in the same line once more, because rows hold numbers alone.
#include "local/record_reader.h"

#include <simdjson.h>

#include <vector>

#include "decode/csv_columns.h"
#include "decode/csv_line.h"
#include "decode/row_writer.h"
#include "error.h"

namespace nustream::local {
namespace {

constexpr std::size_t key_bytes_max = 1024;
constexpr std::size_t record_bytes_limit = std::size_t{1} << 30;

decode::InputSettings checked(const Settings& settings) {
  if (settings.input.files.empty()) {
    throw Failure(Exit::usage, "no input: name a file, or - for standard input");
  }
  if (settings.input.record_bytes_max > record_bytes_limit) {
    throw Failure(Exit::configuration,
                  settings.file + ": stream.record_bytes_max: allowed is 1 to " + std::to_string(record_bytes_limit));
  }
  return settings.input;
}

}  // namespace

// Finds the column that names a record within a line.
class RecordReader::KeyColumn {
 public:
  explicit KeyColumn(const Settings& settings) : column_(settings.record_key), input_(settings.input) {
    if (has_columns(input_) && !input_.header) bind(input_.columns, "stream.columns");
  }

  void begin_file(std::string_view header, const std::string& path) {
    bind(decode::read_header(header, input_.delimiter, path), "the header of '" + path + "'");
  }

  [[nodiscard]] std::optional<std::string_view> find(std::string_view line) {
    if (column_.empty()) return std::nullopt;
    const std::optional<std::string_view> text = text_in(line);
    if (!text || text->empty() || text->size() > key_bytes_max) return std::nullopt;
    return text;
  }

 private:
  // Finds the key's column among the names of a header, or among those that the settings list.
  void bind(const std::vector<std::string>& names, const std::string& where) {
    columns_ = names.size();
    if (!column_.empty()) index_ = decode::find_column(names, column_, where, {});
  }

  std::optional<std::string_view> text_in(std::string_view line) {
    switch (input_.format) {
      case decode::Format::csv:
        return find_in_csv(line);
      case decode::Format::json_lines:
        return find_in_json(line);
    }
    __builtin_unreachable();
  }

  std::optional<std::string_view> find_in_csv(std::string_view line) {
    const decode::CsvFault fault =
        decode::split_csv_line(decode::without_line_end(line), input_.delimiter, columns_, fields_, text_);
    if (fault != decode::CsvFault::none || fields_.size() != columns_) return std::nullopt;
    return fields_[index_];
  }

  std::optional<std::string_view> find_in_json(std::string_view line) {
    simdjson::dom::object object;
    if (parser_.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) return std::nullopt;
    simdjson::dom::element found;
    std::size_t times = 0;
    for (const auto member : object) {
      if (member.key != column_) continue;
      found = member.value;
      ++times;
    }
    // A member that stands twice in a line names no record, like a missing one.
    if (times != 1) return std::nullopt;
    std::string_view text;
    if (found.get(text) == simdjson::SUCCESS) return text;
    std::int64_t number = 0;
    if (found.get(number) != simdjson::SUCCESS) return std::nullopt;
    // A whole number names a record as its digits do, so 7 and "7" are one name.
    text_ = std::to_string(number);
    return text_;
  }

  std::string column_;
  decode::InputSettings input_;
  std::size_t columns_ = 0;
  std::size_t index_ = 0;
  std::vector<std::string_view> fields_;
  std::string text_;
  simdjson::dom::parser parser_;
};

RecordReader::RecordReader(const Settings& settings)
    : builder_(settings.schema),
      decoder_(decode::make_line_decoder(settings.input, builder_.fields())),
      key_column_(std::make_unique<KeyColumn>(settings)),
      lines_(checked(settings).files, settings.input.record_bytes_max) {}

RecordReader::~RecordReader() = default;

RecordReader::Found RecordReader::next(bool wait) {
  while (true) {
    switch (lines_.next(wait)) {
      case Lines::Found::nothing_yet:
        return Found::nothing_yet;
      case Lines::Found::interrupted:
        return Found::interrupted;
      case Lines::Found::end:
        return Found::end;
      case Lines::Found::over_long:
        // Without a header no line of the file can be read, so this ends the run instead of making null reports of
        // all records.
        if (lines_.is_first() && decoder_->has_header()) {
          throw Failure(Exit::data, "'" + lines_.path() +
                                        "' has no header: its first line is longer than record_bytes_max; add one");
        }
        use_over_long();
        return Found::record;
      case Lines::Found::line:
        if (!lines_.is_first() || !decoder_->has_header()) {
          use(lines_.text());
          return Found::record;
        }
        // A header is no record, and each file has its own.
        decoder_->begin_file(lines_.text(), lines_.path());
        key_column_->begin_file(lines_.text(), lines_.path());
        break;
    }
  }
}

void RecordReader::use(std::string_view line) {
  rows_.clear();
  decode::RowWriter writer(builder_, false, ordinal_++, rows_);
  static_cast<void>(decoder_->decode(line, 1, writer));
  key_ = key_column_->find(line);
  line_ = line;
}

void RecordReader::forget() {
  rows_.clear();
  // The record keeps its number, and is now one that cannot be used.
  decode::RowWriter writer(builder_, false, ordinal_ - 1, rows_);
  writer.reserve(1);
  writer.write_unusable("no key");
}

/// A line that is too long is still a record: it takes its number, and gets a report of nobody.
void RecordReader::use_over_long() {
  rows_.clear();
  decode::RowWriter writer(builder_, false, ordinal_++, rows_);
  writer.reserve(1);
  writer.write_unusable(decode::too_long);
  key_.reset();
  line_ = {};
}

}  // namespace nustream::local
