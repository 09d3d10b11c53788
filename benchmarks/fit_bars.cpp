// Measures how close `nustream fit` of a linear model comes to least squares of the whole table, at three budgets.
// Usage: fit_bars [KEYS [JSON file]]; 40 keys by default. Exits with 1 where a mean or median at rho = .1 is above
// its bar. Keys are fixed, so the result does not vary by chance.
//
// For retail the figure is the distance of the slope. For bike rentals, in the order of time and shuffled, it is
// (t − s)'H(t − s)/σ²: t is the fit, s least squares, H the mean of xx', and σ² the mean squared residual.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/config.h"
#include "decode/reader.h"
#include "excess.h"
#include "nustream/inference/least_squares.h"
#include "nustream/ranges/linear_fit.h"
#include "private_path.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

/// The rows of a file in the columns' own units, with a constant 1 in front.
record::RowBatch read_rows(const std::string& input, const std::string& target, const std::string& features) {
  const auto file = std::filesystem::temp_directory_path() / "nustream_fit_bars.toml";
  std::ofstream(file, std::ios::binary) << fmt::format(
      "[stream]\nname = \"fit\"\ninput = \"{}/{}\"\n[target]\n{}\n{}[descent]\nstep_size = 0.1\nclip_norm = 1\n"
      "[privacy]\nrho = 1\ndelta = 1e-6\n",
      NUSTREAM_ROOT_DIR, input, target, features);
  const config::Config config = config::read_config(file.string(), {});
  std::filesystem::remove(file);
  record::RowBatch rows;
  rows.dimension = config.descent.dimension;
  const auto reader = decode::open_reader(config.input, config.schema);
  while (reader->read(rows, 1 << 16)) {
  }
  return rows;
}

/// The rows in another order, without the constant, as a fit takes them.
struct Columns {
  std::vector<double> x, y;
};
Columns columns_of(const record::RowBatch& rows, const std::vector<std::size_t>& order) {
  Columns columns;
  for (const std::size_t i : order) {
    const double* row = rows.x.data() + i * rows.dimension;
    columns.x.insert(columns.x.end(), row + 1, row + rows.dimension);
    columns.y.push_back(rows.y[i]);
  }
  return columns;
}

struct Table {
  std::string name;
  record::RowBatch rows;
  bool is_shuffled = false;
  bool by_distance = false;   ///< whether the figure is the distance of the first slope; else it is the excess
  std::optional<double> bar;  ///< bar of the median at rho = .1
};

/// The figures of `keys` keys, the least first.
std::vector<double> figures(const Table& table, double rho, std::uint64_t keys) {
  const record::RowBatch& rows = table.rows;
  const std::vector<double> best = inference::ordinary_least_squares({rows.dimension, rows.x, rows.y}).theta;
  std::vector<std::size_t> order(rows.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Columns columns = columns_of(rows, order);
  std::vector<double> found;
  for (std::uint64_t key = 0; key < keys; ++key) {
    if (table.is_shuffled) {
      std::shuffle(order.begin(), order.end(), std::mt19937_64(key));
      columns = columns_of(rows, order);
    }
    const ranges::TableFit fit = ranges::fit_linear({rows.dimension - 1, columns.x, columns.y}, {Rho{rho}},
                                                    ranges::keyed_noise(numbered_key(key), LaneId{0}, EpochId{0}));
    found.push_back(table.by_distance ? std::fabs(fit.theta[1] - best[1]) : excess(rows, fit.theta, best));
  }
  std::ranges::sort(found);
  return found;
}

std::vector<Table> tables() {
  const std::string columns[] = {"season",     "yr",         "mnth", "hr",    "holiday", "weekday",
                                 "workingday", "weathersit", "temp", "atemp", "hum",     "windspeed"};
  std::string features;
  for (const std::string& column : columns) features += fmt::format("[[features]]\ncolumn = \"{}\"\n", column);
  const std::string hours = "tests/golden/data/bike_hour.csv.gz";
  std::vector<Table> all;
  all.push_back(
      {"retail, log of quantity on log of price (distance)",
       read_rows("examples/retail/online_retail_events.csv.gz", "column = \"quantity\"\ntransform = \"log\"",
                 "[[features]]\ncolumn = \"unit_price\"\ntransform = \"log\"\n"),
       false, true, 0.004});
  const record::RowBatch bike = read_rows(hours, "column = \"cnt\"", features);
  all.push_back({"bike rentals, in time order", bike, false, false, 0.01});
  all.push_back({"bike rentals, shuffled", bike, true, false, 0.01});
  all.push_back({"log of bike rentals, in time order",
                 read_rows(hours, "column = \"cnt\"\ntransform = \"log\"", features), false, false, 0.01});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::max<std::uint64_t>(1, std::strtoull(argv[1], nullptr, 10)) : 40;
  std::string text;
  bool all = true;
  for (const Table& table : tables()) {
    for (const double rho : {0.01, 0.1, 1.0}) {
      const std::vector<double> found = figures(table, rho, keys);
      const double mean = std::accumulate(found.begin(), found.end(), 0.0) / static_cast<double>(keys);
      const double median = (found[(keys - 1) / 2] + found[keys / 2]) / 2;
      const bool has_bar = table.bar && rho == 0.1;
      text += fmt::format(
          "{}\n  {{\"table\": \"{}\", \"records\": {}, \"rho\": {}, \"mean\": {:.5f}, \"median\": {:.5f}, "
          "\"max\": {:.5f}, \"bar\": {}}}",
          text.empty() ? "" : ",", table.name, table.rows.count(), rho, mean, median, found.back(),
          has_bar ? fmt::format("{}", *table.bar) : "null");
      all = all && (!has_bar || std::max(mean, median) <= *table.bar);
    }
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{{\"figure\": \"fits against least squares\", \"keys\": {}, \"rows\": [{}]}}\n", keys, text);
  return all ? 0 : 1;
}
