// Reads the file column by column, so that one bad value costs a record one number instead of all, and reasons are
// counted for each column by itself.
#include "fit/opened.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "console/signals.h"
#include "decode/reader.h"
#include "error.h"

namespace nustream::fit {
namespace {

constexpr std::size_t rows_per_read = 4096;
constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

struct Column {
  std::vector<double> values;
  check::Tally unread;
};

/// Reads one column by a schema of that column alone. A schema of all columns would make a record unusable for one
/// bad value; this way the value is NaN in its own column, and the other columns keep theirs. Where the column is an
/// exposure, a value that is none is NaN, too.
Column read_column(const config::InputSettings& input, const record::Feature& feature,
                   std::optional<record::Exposure> exposure = std::nullopt) {
  record::Schema schema;
  schema.features = {feature};
  schema.exposure = std::move(exposure);
  const auto reader = decode::open_reader(input, schema);
  record::RowBatch rows;
  rows.dimension = 1;
  Column column;
  for (bool more = true; more;) {
    rows.clear();
    console::require_no_signal();
    more = reader->read(rows, rows_per_read);
    column.values.insert(column.values.end(), rows.x.begin(), rows.x.end());
    column.unread.records += rows.count();
    column.unread.add(rows.rejects);
    for (const record::Reject& reject : rows.rejects) {
      column.values.at(reject.position.value()) = unreadable;
    }
  }
  return column;
}

/// Columns of two versions of a file would not belong to the same records.
[[noreturn]] void refuse_change(const Columns& columns) {
  throw Failure(Exit::data, fmt::format("'{}' changed while it was read; fit a copy that stays as it is",
                                        columns.input.files.front()));
}

void read_weights(const Columns& columns, FileTable& table) {
  if (!columns.weight) return;
  Column weights = read_column(columns.input, *columns.weight);
  for (double& weight : weights.values) {
    // A negative weight would turn a record's part of the sums around. It counts as a number that cannot be read.
    if (weight < 0) weight = unreadable;
  }
  table.weights = std::move(weights.values);
  table.units.weight = columns.weight->upper;
  table.unread.push_back(std::move(weights.unread));
  if (table.weights.size() != table.y.size()) refuse_change(columns);
}

/// Makes rates of counts: y/E with the weight E, whose score and curvature are those of a count with mean E·exp(θᵀx).
void read_exposures(const Columns& columns, FileTable& table) {
  if (!columns.exposure) return;
  record::Feature read = *columns.exposure;
  // The bound is about the weight alone: a count over a longer exposure still has a rate over all of it.
  read.upper = std::numeric_limits<double>::infinity();
  const double most = columns.exposure->upper;
  table.units.exposure = most;
  const Column exposures = read_column(columns.input, read, record::Exposure{read.first, columns.is_offset, most});
  if (exposures.values.size() != table.y.size()) refuse_change(columns);
  if (table.weights.empty()) table.weights.assign(table.y.size(), 1);
  for (std::size_t i = 0; i < table.y.size(); ++i) {
    const double exposure = columns.is_offset ? std::exp(exposures.values[i]) : exposures.values[i];
    const double rate = table.y[i] / exposure;
    table.y[i] = std::isfinite(rate) ? rate : unreadable;
    table.weights[i] *= std::isnan(exposure) ? exposure : std::min(exposure, most);
  }
  table.unread.push_back(exposures.unread);
}

}  // namespace

FileTable read_file(const Columns& columns) {
  // The target comes first: its number of rows is the one that all others are compared with.
  Column target = read_column(columns.input, columns.target);
  FileTable table{columns.features.size(), {}, std::move(target.values), {}};
  const std::size_t rows = table.y.size();
  table.x.resize(rows * table.features);
  for (std::size_t j = 0; j < table.features; ++j) {
    Column feature = read_column(columns.input, columns.features[j]);
    if (feature.values.size() != rows) refuse_change(columns);
    for (std::size_t i = 0; i < rows; ++i) table.x[i * table.features + j] = feature.values[i];
    table.unread.push_back(std::move(feature.unread));
  }
  table.unread.push_back(std::move(target.unread));
  read_weights(columns, table);
  read_exposures(columns, table);
  return table;
}

}  // namespace nustream::fit
