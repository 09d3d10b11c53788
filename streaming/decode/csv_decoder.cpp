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
  CsvDecoder(const InputSettings& settings, const record::RowBuilder& builder)
      : builder_(&builder),
        fields_(builder.fields()),
        has_header_(settings.header),
        time_column_(settings.time_column),
        kernel_(csv_kernels().back()),
        index_(std::make_unique<CsvIndex>()),
        one_(fields_.size()) {
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
    shape_.delimiter = settings.delimiter;
    shape_.line_bytes_max = settings.record_bytes_max;
    shape_.readings = fields_.size();
    if (!has_header_) bind(settings.columns, "the named columns");
  }

  [[nodiscard]] bool has_header() const noexcept override { return has_header_; }

  void begin_file(std::string_view header, const std::string& path) override {
    bind(read_header(header, shape_.delimiter, path), "the header of '" + path + "'");
  }

  Progress decode(std::string_view lines, std::size_t rows_max, RowWriter& writer) override {
    Progress progress{0, 0};
    while (progress.rows < rows_max && progress.bytes < lines.size()) {
      const std::string_view rest = lines.substr(progress.bytes);
      const std::string_view segment = rest.substr(0, segment_bytes_max);
      kernel_.index(segment, shape_.delimiter, *index_);
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
  // A field that is not a plain number.
  struct TextColumn {
    std::uint32_t column;
    std::uint32_t reading;
  };

  void bind(const std::vector<std::string>& names, const std::string& where) {
    numbers_.clear();
    texts_.clear();
    columns_.clear();
    for (std::uint32_t f = 0; f < fields_.size(); ++f) {
      const auto column = static_cast<std::uint32_t>(find_column(names, fields_[f].column, where));
      columns_.push_back(column);
      if (fields_[f].reading == record::Reading::number) {
        numbers_.push_back({column, f});
      } else {
        texts_.push_back({column, f});
      }
    }
    if (!time_column_.empty()) time_at_ = find_column(names, time_column_, where);
    shape_.columns = static_cast<std::uint32_t>(names.size());
    shape_.numbers = numbers_;
  }

  void decode_rows(std::string_view segment, std::size_t rows, RowWriter& writer) {
    readings_.resize(rows * shape_.readings);
    kinds_.resize(rows);
    kernel_.read_numbers(segment, *index_, rows, shape_, readings_.data(), kinds_.data());
    writer.reserve(rows);
    std::uint32_t first_separator = 0;
    std::uint32_t begin = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t last_separator = index_->row_ends[row];
      const std::uint32_t newline = index_->separators[last_separator];
      const std::string_view line = segment.substr(begin, newline - begin);
      if (kinds_[row] == RowKind::plain) {
        double* const readings = readings_.data() + row * shape_.readings;
        const double time = read_texts(line, index_->separators.data() + first_separator, begin, readings);
        writer.write(readings, time);
      } else {
        decode_any(line, writer);
      }
      begin = newline + 1;
      first_separator = last_separator + 1;
    }
  }

  // Reads the text fields of the plain row `line`, which begins at `begin`, and returns its time.
  double read_texts(std::string_view line, const std::uint32_t* separators, std::uint32_t begin,
                    double* readings) const {
    if (texts_.empty() && !time_at_) return no_time;
    const std::size_t length = without_line_end(line).size();
    const auto text = [&](std::size_t column) {
      const std::size_t from = column == 0 ? 0 : separators[column - 1] + 1 - begin;
      const std::size_t to = column + 1 == shape_.columns ? length : separators[column] - begin;
      return line.substr(from, to - from);
    };
    for (const TextColumn& column : texts_) {
      readings[column.reading] = record::read_field(fields_[column.reading], text(column.column));
    }
    return time_at_ ? read_event_time(text(*time_at_)) : no_time;
  }

  // Any line at all, with or without its newline.
  void decode_any(std::string_view line, RowWriter& writer) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.size() > shape_.line_bytes_max) return writer.write_unusable(too_long);
    const CsvFault fault =
        split_csv_line(without_line_end(line), shape_.delimiter, shape_.columns, split_, unquoted_);
    if (fault != CsvFault::none) return writer.write_unusable(description(fault));
    if (split_.size() != shape_.columns) return writer.write_unusable(too_few_fields);
    for (std::size_t f = 0; f < fields_.size(); ++f) one_[f] = record::read_field(fields_[f], split_[columns_[f]]);
    writer.write(one_.data(), time_at_ ? read_event_time(split_[*time_at_]) : no_time);
  }

  const record::RowBuilder* builder_;
  std::span<const record::Field> fields_;
  bool has_header_;
  std::string time_column_;
  CsvKernel kernel_;

  // Bound to the file that is read.
  CsvShape shape_;
  std::vector<NumberColumn> numbers_;
  std::vector<TextColumn> texts_;
  std::vector<std::uint32_t> columns_;  // of each field
  std::optional<std::size_t> time_at_;

  // Memory that is used again for every segment or line.
  std::unique_ptr<CsvIndex> index_;
  std::vector<double> readings_;
  std::vector<RowKind> kinds_;
  std::vector<double> one_;
  std::vector<std::string_view> split_;
  std::string unquoted_;
};

}  // namespace

std::unique_ptr<LineDecoder> make_csv_decoder(const InputSettings& settings, const record::RowBuilder& builder) {
  return std::make_unique<CsvDecoder>(settings, builder);
}

}  // namespace nustream::decode
