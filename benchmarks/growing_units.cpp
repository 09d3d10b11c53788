// Measures what units that grow are worth where settings are measured on the first part of a stream alone, at rho =
// .1. Usage: growing_units [KEYS [JSON file]]; 20 keys by default. Keys are fixed, so the result does not vary by
// chance.
//
// The stream is the bike table in the order of time, of whose 17,379 records the first 11,000 are measured. Beside
// its twelve columns it may have one more, standard normal at first, whose spread is 30 or 100 times as large after
// these records, and of which the target reads a thirtieth or a hundredth. The figure is (t − s)'H(t − s)/σ² of the
// last release: t is the estimate, s least squares of all records, H the mean of xx', and σ² the mean squared
// residual.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/ranges.h"
#include "excess.h"
#include "measured_sums.h"
#include "nustream/inference/least_squares.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr std::size_t measured_records = 11'000;
const std::vector<std::string> columns{"season",     "yr",         "mnth", "hr",    "holiday", "weekday",
                                       "workingday", "weathersit", "temp", "atemp", "hum",     "windspeed"};

/// The table with the columns z30 and z100, and the targets that read them.
void write_table(const std::filesystem::path& to) {
  const std::string settings = (to.parent_path() / "nustream_growing_bike.toml").string();
  std::string text = fmt::format(
      "[stream]\nname = \"bike\"\ninput = \"{}/tests/golden/data/bike_hour.csv.gz\"\n[target]\ncolumn = \"cnt\"\n"
      "transform = \"log\"\n[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 1\nresidual_bound = 1\n"
      "[privacy]\nrho = 0.1\ndelta = 1e-6\n",
      NUSTREAM_ROOT_DIR);
  for (const std::string& column : columns) text += fmt::format("[[features]]\ncolumn = \"{}\"\n", column);
  std::ofstream(settings, std::ios::binary) << text;
  const measure::RawTable table = raw_table(config::read_config(settings, {}), 1 << 20);
  std::filesystem::remove(settings);
  std::ofstream out(to, std::ios::binary);
  out << fmt::format("{},z30,z100,y,y30,y100\n", fmt::join(columns, ","));
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < table.y.size(); ++i) {
    const auto row = table.x.begin() + static_cast<std::ptrdiff_t>(i * table.features);
    const double z = normal(random);
    const bool late = i >= measured_records;
    out << fmt::format("{},{},{},{},{},{}\n", fmt::join(row, row + static_cast<std::ptrdiff_t>(table.features), ","),
                       late ? 30 * z : z, late ? 100 * z : z, table.y[i], table.y[i] + (late ? z : z / 30),
                       table.y[i] + (late ? z : z / 100));
  }
}

/// What differs between the runs of a stream.
struct Way {
  std::string name;
  std::string moments;    ///< settings of [moments], in TOML
  std::string intervals;  ///< a section, or nothing
};

const std::vector<Way>& ways() {
  static const std::string fixed =
      "stages = [{from = 870}, {from = 1740}, {from = 3480}, {from = 6960}, {from = 12006}]\n";
  static const std::string known = "releases = 99\n";
  static const std::string growing = "stages = \"growing\"\n";
  static const std::string residuals = "[intervals]\nkind = \"residuals\"\n";
  static const std::vector<Way> all{{"one stage, 99 releases", known, ""},
                                    {"stages without growing, 99 releases", known + fixed, ""},
                                    {"growing, 99 releases", known + growing, ""},
                                    {"growing with intervals, 99 releases", known + growing, residuals},
                                    {"one stage, for ever", "", ""},
                                    {"growing, for ever", growing, ""},
                                    {"growing with intervals, for ever", growing, residuals}};
  return all;
}

std::string settings_of(const std::string& table, const std::string& suffix, const Way& way) {
  const std::string measured = "center = \"private\"\nscale = \"private\"\n";
  std::string text = fmt::format(
      "[stream]\nname = \"bike\"\ninput = \"{}\"\n[target]\ncolumn = \"y{}\"\n{}[model]\nestimator = \"moments\"\n"
      "[moments]\nrow_norm = \"private\"\nresidual_bound = \"private\"\nstart = \"private\"\n{}{}[privacy]\nrho = "
      "0.1\ndelta = 1e-6\n[release]\nevery = 174\n",
      table, suffix, measured, way.moments, way.intervals);
  std::vector<std::string> all = columns;
  if (!suffix.empty()) {
    text += "[ranges]\nshare = 0.25\n";  // of so many records a fifth of rho does not show fourteen columns
    all.push_back("z" + suffix);
  }
  for (const std::string& column : all) {
    text += fmt::format("[[features]]\ncolumn = \"{}\"\n{}", column, measured);
  }
  return text;
}

struct Result {
  std::string name;
  std::vector<double> values;
  double grown = 0;  ///< how many scales had grown at the end, in the mean

  [[nodiscard]] std::string json() const {
    double sum = 0;
    double squares = 0;
    for (const double value : values) sum += value;
    const auto n = static_cast<double>(values.size());
    for (const double value : values) squares += std::pow(value - sum / n, 2);
    return fmt::format(
        "{{\"case\": \"{}\", \"mean\": {:.5f}, \"standard_error\": {:.5f}, \"max\": {:.5f}, \"grown\": {:.2f}}}",
        name, sum / n, std::sqrt(squares / (n - 1) / n), *std::max_element(values.begin(), values.end()), grown / n);
  }
};

Result result_of(const std::string& table, const std::string& suffix, const Way& way, std::uint64_t keys) {
  const std::string file = (std::filesystem::path(table).parent_path() / "nustream_growing.toml").string();
  std::ofstream(file, std::ios::binary) << settings_of(table, suffix, way);
  const config::Config asked = config::read_config_to_measure(file, {}, config::Purpose::stream);
  const measure::RawTable first = raw_table(asked, measured_records);
  Result result{(suffix.empty() ? "bike, " : "bike and a column that grows " + suffix + " times, ") + way.name, {}};
  for (std::uint64_t key = 0; key < keys; ++key) {
    const Stream stream = measured(asked, first, key);
    const std::vector<double> best =
        inference::ordinary_least_squares({stream.rows.dimension, stream.rows.x, stream.rows.y}).theta;
    const moments::Release last = solve(stream, stream.rows, key).back();
    result.values.push_back(excess(stream.rows, last.theta, best));
    if (last.grown) result.grown += static_cast<double>(last.grown->size());
  }
  std::filesystem::remove(file);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t keys = argc > 1 ? std::max<std::uint64_t>(2, std::strtoull(argv[1], nullptr, 10)) : 20;
  const std::filesystem::path table = std::filesystem::temp_directory_path() / "nustream_growing.csv";
  write_table(table);
  std::string rows;
  for (const char* suffix : {"", "30", "100"}) {
    for (const Way& way : ways()) {
      rows += (rows.empty() ? "\n  " : ",\n  ") + result_of(table.string(), suffix, way, keys).json();
    }
  }
  std::filesystem::remove(table);
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{{\"figure\": \"units that grow, rho = 0.1\", \"keys\": {}, \"rows\": [{}]}}\n", keys, rows);
  return 0;
}
