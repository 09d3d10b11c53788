// Measures how close models that are solved from running sums come to least squares, at rho = .1 on real streams with
// settings that are public. Usage: moments_bars [KEYS [JSON file]]; 50 keys by default. Exits with 1 where a mean is
// above its bar. Keys are fixed, so the result does not vary by chance.
//
// For retail the figures are the largest distance of the slope from the least squares of all records so far, over the
// releases after 100,000 records, and the distance at the end. For bike the figure is (t − s)'H(t − s)/σ² of the last
// release, in the order of time and shuffled: t is the estimate, s least squares, H the mean of xx', and σ² the mean
// squared residual. The settings of bike are public ranges and guesses, or measured privately at a fifth of rho.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/ranges.h"
#include "excess.h"
#include "measured_sums.h"
#include "nustream/inference/least_squares.h"
#include "nustream/record/batch.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

struct Figure {
  std::string name;
  std::vector<double> values;
  std::optional<double> bar;

  [[nodiscard]] double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  [[nodiscard]] double standard_error() const {
    double squares = 0;
    for (const double value : values) squares += std::pow(value - mean(), 2);
    const auto n = static_cast<double>(values.size());
    return std::sqrt(squares / (n - 1) / n);
  }
};

/// The slopes of the least squares of the first `every`, 2 `every`, … records, and of all.
std::vector<double> slopes_so_far(const Stream& stream) {
  std::vector<double> slopes;
  double n = 0, x = 0, xx = 0, y = 0, xy = 0;
  const std::size_t count = stream.rows.count();
  for (std::size_t i = 0; i < count; ++i) {
    const double one = stream.row(i)[0];
    const double feature = stream.row(i)[1];
    n += one, x += feature, xx += feature * feature, y += stream.rows.y[i], xy += feature * stream.rows.y[i];
    if ((i + 1) % stream.config.descent.minibatch == 0 || i + 1 == count) {
      slopes.push_back((n * xy - x * y) / (n * xx - x * x));
    }
  }
  return slopes;
}

/// `more` are further settings of [moments], in TOML.
void retail(const std::string& name, const std::string& more, std::uint64_t keys, std::optional<double> bar,
            std::vector<Figure>& figures) {
  const Stream stream =
      read_stream(config::read_config(std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/retail.toml",
                                      {"model.estimator=moments", "privacy.rho=0.1",
                                       fmt::format("moments={{row_norm=4, residual_bound=6, {}}}", more)}));
  const std::vector<double> slopes = slopes_so_far(stream);
  Figure last{"retail, " + name + ", at the end", {}, 0.0025};
  Figure worst{"retail, " + name + ", worst release after 100,000", {}, bar};
  for (std::uint64_t key = 0; key < keys; ++key) {
    double largest = 0;
    double end = 0;
    for (const moments::Release& release : solve(stream, stream.rows, key)) {
      const double off = std::fabs(release.theta[1] - slopes[release.steps.value() - 1]);
      if (release.records >= 100'000) largest = std::max(largest, off);
      end = std::fabs(release.theta[1] - slopes.back());
    }
    last.values.push_back(end);
    worst.values.push_back(largest);
  }
  figures.push_back(std::move(last));
  figures.push_back(std::move(worst));
}

struct Column {
  const char* name;
  double lower, upper;  ///< public ranges, according to the table's page
};
constexpr Column columns[] = {{"season", 1, 4},  {"yr", 0, 1},      {"mnth", 1, 12},      {"hr", 0, 23},
                              {"holiday", 0, 1}, {"weekday", 0, 6}, {"workingday", 0, 1}, {"weathersit", 1, 4},
                              {"temp", 0, 1},    {"atemp", 0, 1},   {"hum", 0, 1},        {"windspeed", 0, 1}};

/// A linear model of the log of the hourly count on all columns, at rho = 0.1. `target` and `moments` are settings in
/// TOML, and `place` gives a column's centre and scale.
template <class Place>
std::string bike_stream(const std::string& target, const std::string& moments, const Place& place) {
  std::string text = fmt::format(
      "[stream]\nname = \"bike\"\ninput = \"{}/tests/golden/data/bike_hour.csv.gz\"\n[target]\ncolumn = \"cnt\"\n"
      "transform = \"log\"\n{}\n[model]\nestimator = \"moments\"\n[moments]\n{}\n[privacy]\nrho = 0.1\ndelta = "
      "1e-6\n[release]\nevery = 174\n",
      NUSTREAM_ROOT_DIR, target, moments);
  for (const Column& column : columns) {
    text += fmt::format("[[features]]\ncolumn = \"{}\"\n{}\n", column.name, place(column));
  }
  return text;
}

/// The centre of a column is the middle of its public range and its scale the standard deviation of a uniform one;
/// R_x is 1.25√d. For the log of a count between 1 and 1,000 the centre 4, the scale 1.5 and R_r = 2 are guesses.
/// The sums are recentred once, at a tenth of the releases, about which `plan` places the stage too, and with the
/// same bounds: the noise of H is then multiplied by the distance to an estimate instead of the distance to 0. The
/// hours are in the order of time, so all records count alike, without `residual_variance`.
/// Other guesses that look as good (R_x from √d to 1.6√d, R_r from 1.5 to 4) end between .005 and .021.
std::string bike_settings() {
  return bike_stream("center = 4\nscale = 1.5",
                     fmt::format("row_norm = {}\nresidual_bound = 2\nreleases = 99\nstages = [{{from = {}}}]",
                                 1.25 * std::sqrt(13), 10 * 174),
                     [](const Column& column) {
                       return fmt::format("center = {}\nscale = {}", (column.lower + column.upper) / 2,
                                          (column.upper - column.lower) / std::sqrt(12));
                     });
}

/// Everything that can be measured is measured; rho = 0.1 pays for that too.
std::string measured_settings() {
  const std::string measured = "center = \"private\"\nscale = \"private\"";
  return bike_stream(measured, "row_norm = \"private\"\nresidual_bound = \"private\"\nstart = \"private\"",
                     [&](const Column&) { return measured; });
}

record::RowBatch shuffled(const record::RowBatch& rows, std::uint64_t seed) {
  std::vector<std::size_t> order(rows.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  record::RowBatch other;
  other.dimension = rows.dimension;
  for (const std::size_t i : order) {
    const auto first = rows.x.begin() + static_cast<std::ptrdiff_t>(i * rows.dimension);
    other.x.insert(other.x.end(), first, first + static_cast<std::ptrdiff_t>(rows.dimension));
    other.y.push_back(rows.y[i]);
    other.next.push_back(other.y.size());
  }
  return other;
}

void bike(std::uint64_t keys, std::vector<Figure>& figures) {
  const std::string file = (std::filesystem::temp_directory_path() / "nustream_moments_bars.toml").string();
  std::ofstream(file, std::ios::binary) << bike_settings();
  const Stream stream = read_stream(config::read_config(file, {}));
  std::filesystem::remove(file);
  const std::vector<double> best =
      inference::ordinary_least_squares({stream.rows.dimension, stream.rows.x, stream.rows.y}).theta;
  Figure in_time{"bike, in the order of time", {}, 0.007};
  Figure mixed{"bike, shuffled", {}, 0.007};
  for (std::uint64_t key = 0; key < keys; ++key) {
    in_time.values.push_back(excess(stream.rows, solve(stream, stream.rows, key).back().theta, best));
    mixed.values.push_back(excess(stream.rows, solve(stream, shuffled(stream.rows, key), key).back().theta, best));
  }
  figures.push_back(std::move(in_time));
  figures.push_back(std::move(mixed));
}

/// Where settings are measured: over the whole file before the first step, as `replay` does, in the order of time and
/// shuffled; or over the first 11,000 records alone, as an attached lane does.
void bike_measured(std::uint64_t keys, std::vector<Figure>& figures) {
  const std::string file = (std::filesystem::temp_directory_path() / "nustream_moments_bars.toml").string();
  std::ofstream(file, std::ios::binary) << measured_settings();
  const config::Config asked = config::read_config_to_measure(file, {}, config::Purpose::stream);
  const measure::RawTable whole = raw_table(asked, 1 << 20);
  const measure::RawTable first = raw_table(asked, 11'000);
  Figure in_time{"bike, all settings measured, in the order of time", {}, 0.007};
  Figure mixed{"bike, all settings measured, shuffled", {}, 0.007};
  Figure live{"bike, all settings measured over the first 11,000 records", {}, 0.05};
  for (std::uint64_t key = 0; key < keys; ++key) {
    const auto off = [&](const Stream& stream, const record::RowBatch& rows) {
      const std::vector<double> best =
          inference::ordinary_least_squares({stream.rows.dimension, stream.rows.x, stream.rows.y}).theta;
      return excess(stream.rows, solve(stream, rows, key).back().theta, best);
    };
    const Stream stream = measured(asked, whole, key);
    in_time.values.push_back(off(stream, stream.rows));
    mixed.values.push_back(off(stream, shuffled(stream.rows, key)));
    const Stream later = measured(asked, first, key);
    live.values.push_back(off(later, later.rows));
  }
  std::filesystem::remove(file);
  for (Figure* figure : {&in_time, &mixed, &live}) figures.push_back(std::move(*figure));
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::max<std::uint64_t>(2, std::strtoull(argv[1], nullptr, 10)) : 50;
  std::vector<Figure> figures;
  const std::string recentred = "stages=[{from=20000, residual_bound=4}]";
  retail("two stages, for ever", recentred, keys, std::nullopt, figures);
  retail("two stages, 397 releases", recentred + ", releases=397", keys, 0.005, figures);
  bike(keys, figures);
  bike_measured(keys, figures);
  std::string text = fmt::format(
      "{{\"figure\": \"running sums against least squares, rho = 0.1\", \"keys\": {}, "
      "\"rows\": [",
      keys);
  bool all = true;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = figures[i];
    const double largest = *std::max_element(figure.values.begin(), figure.values.end());
    text += fmt::format(
        "{}\n  {{\"case\": \"{}\", \"mean\": {:.5f}, \"standard_error\": {:.5f}, \"max\": {:.5f}, "
        "\"bar\": {}}}",
        i == 0 ? "" : ",", figure.name, figure.mean(), figure.standard_error(), largest,
        figure.bar ? fmt::format("{}", *figure.bar) : "null");
    all = all && (!figure.bar || figure.mean() <= *figure.bar);
  }
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}]}}\n", text);
  return all ? 0 : 1;
}
