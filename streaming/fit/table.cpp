#include "fit/table.h"

#include <limits>

#include <fmt/format.h>

#include "console/signals.h"
#include "decode/byte_source.h"
#include "decode/reader.h"

namespace nustream::fit {
namespace {

constexpr std::size_t rows_per_read = 4096;

std::vector<double> read_column(const config::InputSettings& input, const record::Feature& feature) {
  record::Schema schema;
  schema.features = {feature};
  const auto reader = decode::open_reader(input, schema);
  record::RowBatch rows;
  rows.dimension = 1;
  std::vector<double> values;
  for (bool more = true; more;) {
    rows.clear();
    console::require_no_signal();
    more = reader->read(rows, rows_per_read);
    values.insert(values.end(), rows.x.begin(), rows.x.end());
    for (const record::Reject& reject : rows.rejects) {
      values.at(reject.position.value()) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return values;
}

[[noreturn]] void refuse_change(const Columns& columns) {
  throw Failure(Exit::data, fmt::format("'{}' changed while it was read; fit a copy that stays as it is",
                                        columns.input.files.front()));
}

std::vector<double> read_weights(const Columns& columns) {
  if (!columns.weight) return {};
  std::vector<double> weights = read_column(columns.input, *columns.weight);
  for (double& weight : weights) {
    if (weight < 0) weight = std::numeric_limits<double>::quiet_NaN();
  }
  return weights;
}

}  // namespace

FileTable read_file(const Columns& columns) {
  if (!decode::stored_size(columns.input.files.front())) {
    throw Failure(Exit::io,
                  fmt::format("'{}' is a pipe, and fit reads its file once for every column; record it to a "
                              "file first",
                              columns.input.files.front()));
  }
  FileTable table{columns.features.size(), {}, read_column(columns.input, columns.target), read_weights(columns)};
  const std::size_t rows = table.y.size();
  if (columns.weight && table.weights.size() != rows) refuse_change(columns);
  table.x.resize(rows * table.features);
  for (std::size_t j = 0; j < table.features; ++j) {
    const std::vector<double> values = read_column(columns.input, columns.features[j]);
    if (values.size() != rows) refuse_change(columns);
    for (std::size_t i = 0; i < rows; ++i) table.x[i * table.features + j] = values[i];
  }
  return table;
}

}  // namespace nustream::fit
