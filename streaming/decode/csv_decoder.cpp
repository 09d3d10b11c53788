// CSV lines to rows.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "decode/csv_columns.h"
#include "decode/csv_kernel.h"
#include "decode/csv_line.h"
#include "decode/event_time.h"
#include "decode/line_decoder.h"
#include "error.h"

namespace nustream::decode {
namespace {

constexpr const char* too_few_fields = "fewer fields than columns";

class CsvDecoder : public LineDecoder {
 public:
  CsvDecoder(const InputSettings& settings, std::span<const record::Field> fields)
      : fields_(fields),
        has_header_(settings.header),
        time_column_(settings.time_column),
        kernel_(csv_kernels().back()),
        delimiter_(settings.delimiter),
        line_bytes_max_(settings.record_bytes_max),
        index_(std::make_unique<CsvIndex>()),
        readings_(fields_.size()) {
    if (settings.delimiter == '\n' || settings.delimiter == '\r' || settings.delimiter == '"' ||
        settings.delimiter == '\0') {
      throw Failure(Exit::configuration,
                    "the delimiter cannot be a line end, a quotation mark or NUL; choose another");
    }
    if (has_header_ && !settings.columns.empty()) {
      throw Failure(Exit::configuration,
                    "columns are named although header = true; set header = false, or let the header name them");
    }
    if (!has_header_ && settings.columns.empty()) {
      throw Failure(Exit::configuration, "header = false, and no columns are named; name them in file order");
    }
    if (!has_header_) bind(settings.columns, "the named columns");
  }

  [[nodiscard]] bool has_header() const noexcept override { return has_header_; }

  void begin_file(std::string_view header, const std::string& path) override {
    bind(read_header(header, delimiter_, path), "the header of '" + path + "'");
  }

  Progress decode(std::string_view lines, std::size_t rows_max, RowWriter& writer) override {
    Progress progress{0, 0};
    while (progress.rows < rows_max && progress.bytes < lines.size()) {
      const std::string_view rest = lines.substr(progress.bytes);
      const std::string_view segment = rest.substr(0, segment_bytes_max);
      kernel_.index(segment, delimiter_, *index_);
      const std::size_t rows = std::min(index_->row_count, rows_max - progress.rows);
      if (rows == 0) {
        // The first line alone is longer than a segment.
        const std::string_view line = rest.substr(0, rest.find('\n') + 1);
        writer.reserve(1);
        decode_any(line, writer);
        progress.bytes += line.size();
        ++progress.rows;
      } else {
        decode_rows(segment, rows, writer);
        progress.bytes += index_->separators[index_->row_ends[rows - 1]] + 1;
        progress.rows += rows;
      }
    }
    return progress;
  }

 private:
  void bind(const std::vector<std::string>& names, const std::string& where) {
    columns_.clear();
    for (const record::Field& field : fields_) {
      columns_.push_back(static_cast<std::uint32_t>(find_column(names, field.column, where)));
    }
    if (!time_column_.empty()) time_at_ = static_cast<std::uint32_t>(find_column(names, time_column_, where));
    columns_in_file_ = static_cast<std::uint32_t>(names.size());
    order_fields();
  }

  // Numbers in the order of the file, so that the kernel finds neighbours side by side; the rest as text.
  void order_fields() {
    number_fields_.clear();
    text_fields_.clear();
    for (std::uint32_t f = 0; f < fields_.size(); ++f) {
      (fields_[f].reading == record::Reading::number ? number_fields_ : text_fields_).push_back(f);
    }
    const auto in_file = [&](std::uint32_t a, std::uint32_t b) { return columns_[a] < columns_[b]; };
    numbers_in_order_ = text_fields_.empty() && std::is_sorted(number_fields_.begin(), number_fields_.end(), in_file);
    std::sort(number_fields_.begin(), number_fields_.end(), in_file);
    number_columns_.clear();
    for (const std::uint32_t f : number_fields_) number_columns_.push_back(columns_[f]);
    while (number_columns_.size() % number_group != 0) number_columns_.push_back(number_columns_.back());
  }

  // Rows that the kernel can read, by their first separators.
  void find_plain_rows(std::string_view segment, std::size_t rows) {
    plain_rows_.clear();
    std::size_t oddity = 0;
    std::uint32_t first = 1;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t last = index_->row_ends[row];
      const std::uint32_t begin = index_->separators[first - 1] + 1;
      const std::uint32_t newline = index_->separators[last];
      const std::uint32_t returned = newline != begin && segment[newline - 1] == '\r' ? 1 : 0;
      bool plain = last - first + 1 - returned == columns_in_file_ && newline - begin <= line_bytes_max_ &&
                   newline - returned != begin;
      for (; oddity < index_->oddity_count && index_->oddities[oddity] < newline; ++oddity) plain = false;
      if (plain) plain_rows_.push_back(first);
      first = last + 1;
    }
  }

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

  void write_plain(const char* segment, std::uint32_t first, const double* numbers, RowWriter& writer) {
    const double time = time_at_ ? read_event_time(field_at(segment, *index_, first + *time_at_)) : no_time;
    if (numbers_in_order_) return writer.write(numbers, time);
    for (std::size_t j = 0; j < number_fields_.size(); ++j) readings_[number_fields_[j]] = numbers[j];
    for (const std::uint32_t f : text_fields_) {
      readings_[f] = record::read_field(fields_[f], field_at(segment, *index_, first + columns_[f]));
    }
    writer.write(readings_.data(), time);
  }

  // Any line at all, with or without its newline.
  void decode_any(std::string_view line, RowWriter& writer) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.size() > line_bytes_max_) return writer.write_unusable(too_long);
    const CsvFault fault = split_csv_line(without_line_end(line), delimiter_, columns_in_file_, split_, unquoted_);
    if (fault != CsvFault::none) return writer.write_unusable(description(fault));
    if (split_.size() != columns_in_file_) return writer.write_unusable(too_few_fields);
    for (std::size_t f = 0; f < fields_.size(); ++f)
      readings_[f] = record::read_field(fields_[f], split_[columns_[f]]);
    writer.write(readings_.data(), time_at_ ? read_event_time(split_[*time_at_]) : no_time);
  }

  std::span<const record::Field> fields_;
  bool has_header_;
  std::string time_column_;
  CsvKernel kernel_;

  char delimiter_;
  std::size_t line_bytes_max_;

  // Bound to the file that is read.
  std::uint32_t columns_in_file_ = 0;
  std::vector<std::uint32_t> columns_;         // of each field
  std::vector<std::uint32_t> number_fields_;   // in the order of their columns
  std::vector<std::uint32_t> number_columns_;  // of those, the last repeated to fill a group
  std::vector<std::uint32_t> text_fields_;
  bool numbers_in_order_ = false;  // the fields are the numbers, in the order of their columns
  std::optional<std::uint32_t> time_at_;

  // Memory that is used again for every segment or line.
  std::unique_ptr<CsvIndex> index_;
  std::vector<std::uint32_t> plain_rows_;
  std::vector<double> numbers_;
  std::vector<double> readings_;
  std::vector<std::string_view> split_;
  std::string unquoted_;
};

}  // namespace

std::unique_ptr<LineDecoder> make_csv_decoder(const InputSettings& settings, std::span<const record::Field> fields) {
  return std::make_unique<CsvDecoder>(settings, fields);
}

}  // namespace nustream::decode
