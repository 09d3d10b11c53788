// Turns CSV lines into rows.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "decode/csv_columns.h"
#include "decode/csv_kernel.h"
#include "decode/csv_line.h"
#include "decode/line_decoder.h"
#include "decode/merged_readings.h"
#include "decode/row_writer.h"
#include "error.h"

namespace nustream::decode {
namespace {

class CsvDecoder : public LineDecoder {
 public:
  CsvDecoder(const InputSettings& settings, std::span<const record::Field> fields, std::string private_column,
             const CsvKernel& kernel)
      : fields_(fields),
        has_header_(settings.header),
        time_column_(settings.time_column),
        times_public_(settings.times_public),
        private_column_(std::move(private_column)),
        kernel_(kernel),
        delimiter_(settings.delimiter),
        decimal_(settings.decimal),
        time_unit_(settings.time_unit),
        may_show_header_(settings.may_show_header),
        line_bytes_max_(settings.record_bytes_max),
        index_(std::make_unique_for_overwrite<CsvIndex>()),
        readings_(fields_.size()) {
    // These characters have a meaning of their own: the kernels find line ends, quotes and NUL
    // bytes beside the delimiter.
    if (settings.delimiter == '\n' || settings.delimiter == '\r' || settings.delimiter == '"' ||
        settings.delimiter == '\0') {
      throw Failure(Exit::configuration,
                    "the delimiter cannot be a line end, a quotation mark or NUL; choose another");
    }
    if (has_header_ && !settings.columns.empty()) {
      throw Failure(
          Exit::configuration,
          "stream.columns are named although stream.header = true; set stream.header = false, or let the header name "
          "them");
    }
    if (!has_header_ && settings.columns.empty()) {
      throw Failure(Exit::configuration,
                    "stream.header = false, and no columns are named; name them in stream.columns, in file order");
    }
    // With a header the columns are bound when the header comes, by begin_file().
    if (!has_header_) bind(settings.columns, "stream.columns");
  }

  [[nodiscard]] bool has_header() const noexcept override { return has_header_; }

  void begin_file(std::string_view header, const std::string& path) override {
    bind(read_header(header, delimiter_, path), "the header of '" + path + "'");
  }

  Progress decode(std::string_view lines, std::size_t rows_max, RowWriter& writer) override {
    Progress progress{0, 0};
    while (progress.rows < rows_max && progress.bytes < lines.size()) {
      const std::string_view rest = lines.substr(progress.bytes);
      // The segment may end within a line. The index then counts the lines before that one alone.
      const std::string_view segment = rest.substr(0, segment_bytes_max);
      // A segment that fits into the first-level cache is indexed and read before the next one is looked at.
      kernel_.index(segment, delimiter_, *index_);
      const std::size_t rows = std::min(index_->row_count, rows_max - progress.rows);
      if (rows == 0) {
        // The first line is longer than a whole segment.
        const std::string_view line = rest.substr(0, rest.find('\n') + 1);
        writer.reserve(1);
        decode_any(line, writer);
        progress.bytes += line.size();
        ++progress.rows;
      } else {
        decode_rows(segment, rows, writer);
        // Lines behind the last one that is used are indexed again in the next round.
        progress.bytes += index_->separators[index_->row_ends[rows - 1]] + 1;
        progress.rows += rows;
      }
    }
    return progress;
  }

  void decode_cut(std::string_view begin, const char* reason, RowWriter& writer) override {
    begin = without_mark(begin);
    // Where the target alone is private, the columns before it are public, and a cut in its text
    // does not change them.
    if (private_column_.empty()) return writer.write_unusable(reason, public_time(begin));
    decode_public(begin.substr(0, line_bytes_max_), reason, writer);
  }

 private:
  // Finds the columns of the fields by name, for the file that begins. All checks that depend on where a column
  // stands are made here, once a file.
  void bind(const std::vector<std::string>& names, const std::string& where) {
    columns_.clear();
    std::vector<std::string> configured;
    for (const record::Field& field : fields_) configured.push_back(field.column);
    const auto find = [&](const std::string& column) {
      return find_column(names, column, where, configured, may_show_header_, delimiter_);
    };
    std::vector<std::string> all = configured;
    if (!time_column_.empty()) all.push_back(time_column_);
    // If several columns are missing, one message names all of them.
    require_columns(names, where, all, may_show_header_, delimiter_);
    for (const std::string& column : configured) columns_.push_back(static_cast<std::uint32_t>(find(column)));
    if (!time_column_.empty()) time_at_ = static_cast<std::uint32_t>(find(time_column_));
    // Only the first column can be read whatever follows in the line.
    if (times_public_ && time_at_ && *time_at_ != 0) throw hidden_time(time_column_, where);
    // Every record has to have as many fields, whichever of them are read.
    columns_in_file_ = static_cast<std::uint32_t>(names.size());
    if (!private_column_.empty()) check_private_column(find(private_column_), where);
    order_fields();
  }

  /// The failure for a time that is not the first column. Text before it could hide it, with a quotation mark that is
  /// left open or with a missing field.
  static Failure hidden_time(const std::string& column, const std::string& where) {
    return Failure(
        Exit::configuration,
        "column '" + column + "' is not the first in " + where +
            ": its times are declared public (stream.times_public, users.times), and a text in front of the "
            "time, such as an open quotation mark, could hide the time; make it the first column");
  }

  /// The time of a line whose times are public, whatever else the line holds: the text before the first delimiter,
  /// even if that is inside quotation marks. Where times are not public, the line has no time.
  double public_time(std::string_view line) {
    if (!times_public_ || !time_at_) return no_time;
    const auto text = unquoted(line.substr(0, line.find(delimiter_)));
    return text ? read_event_time(*text, time_unit_) : no_time;
  }

  void check_private_column(std::size_t at, const std::string& where) const {
    if (at + 1 == columns_in_file_ && time_at_ != at) return;
    throw Failure(Exit::configuration,
                  "column '" + private_column_ + "' is " + (time_at_ == at ? "the time's too" : "not the last") +
                      " in " + where +
                      ": where the target alone is private, everything behind the columns before it is its text; "
                      "put it last, and read no time from it");
  }

  // Orders number fields as they are in the file, so that the kernel finds neighbours side by side. The other fields
  // are read as text. The kernel knows only dots as decimal signs, so with a comma all fields are text.
  void order_fields() {
    number_fields_.clear();
    text_fields_.clear();
    for (std::uint32_t f = 0; f < fields_.size(); ++f) {
      const bool is_number = fields_[f].reading == record::Reading::number && decimal_ == '.';
      (is_number ? number_fields_ : text_fields_).push_back(f);
    }
    const auto in_file = [&](std::uint32_t a, std::uint32_t b) { return columns_[a] < columns_[b]; };
    numbers_in_order_ = text_fields_.empty() && std::is_sorted(number_fields_.begin(), number_fields_.end(), in_file);
    // Neighbours in the file are neighbours in a group, which a kernel can load together.
    std::sort(number_fields_.begin(), number_fields_.end(), in_file);
    number_columns_.clear();
    for (const std::uint32_t f : number_fields_) number_columns_.push_back(columns_[f]);
    // Kernels read whole groups. The last column is read several times, and the copies are not looked at.
    while (number_columns_.size() % number_group != 0) number_columns_.push_back(number_columns_.back());
  }

  // Finds the rows that the kernel can read, by their first separators.
  void find_plain_rows(std::string_view segment, std::size_t rows) {
    plain_rows_.clear();
    std::size_t oddity = 0;
    std::uint32_t first = 1;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t last = index_->row_ends[row];
      const std::uint32_t begin = index_->separators[first - 1] + 1;
      const std::uint32_t newline = index_->separators[last];
      const std::uint32_t returned = newline != begin && segment[newline - 1] == '\r' ? 1 : 0;
      // As many fields as columns, not too long and not empty. A carriage return before the newline is a separator of
      // its own in the index, and no field.
      bool plain = last - first + 1 - returned == columns_in_file_ && newline - begin <= line_bytes_max_ &&
                   newline - returned != begin;
      plain &= segment[begin] != '\xef';  // a byte order mark may begin here
      // A quotation mark or a NUL byte anywhere in the line leaves it to the plain path.
      for (; oddity < index_->oddity_count && index_->oddities[oddity] < newline; ++oddity) plain = false;
      if (plain) plain_rows_.push_back(first);
      first = last + 1;
    }
  }

  // Decodes whole lines of one segment in the order of the file: plain ones from the kernel's
  // numbers, any other by itself.
  void decode_rows(std::string_view segment, std::size_t rows, RowWriter& writer) {
    find_plain_rows(segment, rows);
    const std::size_t stride = number_columns_.size();
    numbers_.resize(plain_rows_.size() * stride);
    kernel_.read_numbers(segment.data(), *index_, plain_rows_, number_columns_, numbers_.data());
    writer.reserve(rows);
    std::size_t plain = 0;
    std::uint32_t first = 1;
    for (std::size_t row = 0; row < rows; ++row) {
      if (plain < plain_rows_.size() && plain_rows_[plain] == first) {
        write_plain(segment.data(), first, numbers_.data() + plain * stride, writer);
        ++plain;
      } else {
        const std::uint32_t begin = index_->separators[first - 1] + 1;
        decode_any(segment.substr(begin, index_->separators[index_->row_ends[row]] - begin), writer);
      }
      first = index_->row_ends[row] + 1;
    }
  }

  // Writes the row of a line that the kernel has read.
  void write_plain(const char* segment, std::uint32_t first, const double* numbers, RowWriter& writer) {
    const double time =
        time_at_ ? read_event_time(field_at(segment, *index_, first + *time_at_), time_unit_) : no_time;
    // The common case: the kernel's numbers are the readings, without a copy. Where one of them is no number, the row
    // is made once more, with a reason.
    if (numbers_in_order_ && writer.write_usable(numbers, time)) return;
    const auto text = [&](std::uint32_t f) { return field_at(segment, *index_, first + columns_[f]); };
    for (std::size_t j = 0; j < number_fields_.size(); ++j) {
      const std::uint32_t f = number_fields_[j];
      // The kernel does not know words such as "true", nor why a text is no number.
      readings_[f] = std::isnan(numbers[j]) ? read_text(f, text(f)) : numbers[j];
    }
    for (const std::uint32_t f : text_fields_) readings_[f] = read_text(f, text(f));
    writer.write(readings_.data(), time);
  }

  // A number by the rules of CSV, where words for true and false count, or another reading by the
  // rules of all formats.
  [[nodiscard]] double read_text(std::size_t f, std::string_view text) const {
    return fields_[f].reading == record::Reading::number ? read_csv_number(text, decimal_)
                                                         : record::read_field(fields_[f], text);
  }

  // Decodes any line, with or without its newline.
  void decode_any(std::string_view line, RowWriter& writer) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    line = without_mark(line);
    if (!private_column_.empty()) return decode_public(without_line_end(line), nullptr, writer);
    // A public time is read before anything of the line is judged, so that a record which cannot be used has it too.
    double time = public_time(without_line_end(line));
    if (line.size() > line_bytes_max_) return writer.write_unusable(too_long, time);
    // No more fields are split than there are columns, however many delimiters the line has.
    const CsvFault fault = split_csv_line(without_line_end(line), delimiter_, columns_in_file_, split_, unquoted_);
    if (fault != CsvFault::none) return writer.write_unusable(description(fault), time);
    if (split_.size() != columns_in_file_) return writer.write_unusable(too_few_fields, time);
    for (std::size_t f = 0; f < fields_.size(); ++f) readings_[f] = read_text(f, split_[columns_[f]]);
    if (time_at_ && !times_public_) time = read_event_time(split_[*time_at_], time_unit_);
    writer.write(readings_.data(), time);
  }

  // Decodes a line whose last field alone is private. The fields before it are read from the line's beginning, and
  // everything after them is the last field's text. The public fields and their delimiters have to fit into
  // record_bytes_max, whether or not the private text does. `cut` says why `line` ends before its record does; it is
  // null where both end together.
  void decode_public(std::string_view line, const char* cut, RowWriter& writer) {
    // The public columns are looked for in the same bytes, whether the reader or this function has cut the line.
    if (cut == nullptr && line.size() > line_bytes_max_) {
      cut = too_long;
      line = line.substr(0, line_bytes_max_);
    }
    const char* fault = split_leading_fields(line, delimiter_, columns_in_file_ - 1, leading_);
    // Without a delimiter behind them, the public fields are whole only where the record itself ends there.
    const bool whole = leading_.rest || (cut == nullptr && line.size() < line_bytes_max_);
    if (fault == nullptr && !whole) fault = too_long;
    double time = public_time(line);
    if (fault != nullptr) return writer.write_unusable(cut != nullptr ? cut : fault, time);
    if (time_at_ && !times_public_) time = read_event_time(unquoted(leading_.fields[*time_at_]).value(), time_unit_);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      // The private field may be unreadable where all public ones are fine. The row then keeps its public numbers.
      const auto text = leading_text(columns_[f], cut != nullptr);
      readings_[f] = text ? read_text(f, *text) : unreadable;
    }
    writer.write(readings_.data(), time);
  }

  // The text of a column in the line that was split last. Empty where the column is the private one and its text
  // cannot be read as a field.
  std::optional<std::string_view> leading_text(std::size_t column, bool is_cut) {
    // The private column is the last one.
    if (column + 1 != columns_in_file_) return unquoted(leading_.fields[column]);
    // A text that was cut would be read as another value.
    if (is_cut || !leading_.rest) return std::nullopt;
    return unquoted(*leading_.rest);
  }

  // The text of one field, valid until the next call; empty where it cannot be read as a field.
  std::optional<std::string_view> unquoted(std::string_view field) {
    // split_csv_line() takes an empty line for a fault. An empty field is none.
    if (field.empty()) return field;
    // One field is allowed. A delimiter outside of quotation marks makes a second one, and the text is no field then.
    const CsvFault fault = split_csv_line(field, delimiter_, 1, split_, unquoted_);
    return fault == CsvFault::none ? std::optional(split_.front()) : std::nullopt;
  }

  std::span<const record::Field> fields_;
  bool has_header_;
  std::string time_column_;
  bool times_public_;
  std::string private_column_;  // empty where there is none
  CsvKernel kernel_;

  char delimiter_;
  char decimal_;
  record::TimeUnit time_unit_;
  bool may_show_header_;
  std::size_t line_bytes_max_;

  // What follows is bound to the file that is being read.
  std::uint32_t columns_in_file_ = 0;
  std::vector<std::uint32_t> columns_;         // the column of each field
  std::vector<std::uint32_t> number_fields_;   // in the order of their columns
  std::vector<std::uint32_t> number_columns_;  // their columns; the last is repeated to fill a group
  std::vector<std::uint32_t> text_fields_;
  bool numbers_in_order_ = false;  // all fields are numbers, in the order of their columns
  std::optional<std::uint32_t> time_at_;

  // Memory that every segment or line uses again.
  std::unique_ptr<CsvIndex> index_;
  std::vector<std::uint32_t> plain_rows_;
  std::vector<double> numbers_;
  std::vector<double> readings_;
  std::vector<std::string_view> split_;
  std::string unquoted_;
  LeadingFields leading_;
};

}  // namespace

std::unique_ptr<LineDecoder> make_csv_decoder(const InputSettings& settings, std::span<const record::Field> fields,
                                              const std::string& private_column, const CsvKernel& kernel) {
  return std::make_unique<CsvDecoder>(settings, fields, private_column, kernel);
}

}  // namespace nustream::decode
