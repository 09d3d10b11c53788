// Measures a CSV of 10 features and a target from end to end on one core: std::from_chars alone, the reader, plain
// SGD over the reader, and the whole private replay (parse, step, noise, a release every 1,000 records, commits), of
// a descent and of running sums. Usage: replay_speed [JSON file]; ROWS in the environment (default 6,000,000).

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include "config/config.h"
#include "decode/reader.h"
#include "harness.h"
#include "replay/replay.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

constexpr std::size_t features = 10;

/// A stream in a folder of its own on the memory file system, so that the speed of the disk does not matter.
struct Stream {
  std::filesystem::path folder;
  std::string csv;
  std::string config;
  std::string config_of_sums;
};

Stream make_stream(std::size_t rows) {
  std::string name = "/dev/shm/nustream-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder in /dev/shm");
  Stream stream{name, "", name + "/stream.toml", name + "/sums.toml"};
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  for (std::size_t j = 0; j < features; ++j) stream.csv += fmt::format("x{},", j);
  stream.csv += "y\n";
  for (std::size_t i = 0; i < rows; ++i) {
    double y = 0.3 * normal(bits);
    for (std::size_t j = 0; j < features; ++j) {
      const double x = normal(bits);
      y += x * (j % 2 == 0 ? 0.2 : -0.1);
      stream.csv += fmt::format("{:.5f},", x);
    }
    stream.csv += fmt::format("{:.5f}\n", y);
  }
  std::ofstream(stream.folder / "rows.csv") << stream.csv;
  std::string text = "[stream]\nname = \"bench\"\ninput = \"rows.csv\"\n[target]\ncolumn = \"y\"\n";
  for (std::size_t j = 0; j < features; ++j) text += fmt::format("[[features]]\ncolumn = \"x{}\"\n", j);
  text += "[privacy]\nrho = 0.5\ndelta = 1e-6\n[release]\nevery = 1000\n[model]\nintercept = false\n";
  std::ofstream(stream.config) << text << "[descent]\nstep_size = 0.001\nclip_norm = 3.0\n[noise]\nnu = 0.0001\n";
  std::ofstream(stream.config_of_sums) << text
                                       << "estimator = \"moments\"\n[moments]\nrow_norm = 5\nresidual_bound = 2\n";
  return stream;
}

double from_chars_alone(const std::string& csv) {
  const char* at = csv.data() + csv.find('\n') + 1;
  const char* end = csv.data() + csv.size();
  double sum = 0;
  while (at < end) {
    double value = 0;
    at = std::from_chars(at, end, value).ptr + 1;
    sum += value;
  }
  return sum;
}

template <class EachBatch>
void read_all(const config::Config& config, const EachBatch& each) {
  const auto reader = decode::open_reader(config.input, config.schema);
  record::RowBatch rows;
  rows.dimension = config.descent.dimension;
  bool more = true;
  while (more) {
    rows.clear();
    more = reader->read(rows, 2048);
    each(rows);
  }
}

double plain_sgd(const config::Config& config) {
  std::vector<double> theta(features, 0.0);
  read_all(config, [&](const record::RowBatch& rows) {
    for (std::size_t i = 0; i < rows.count(); ++i) {
      const double* x = rows.x.data() + i * features;
      double residual = -rows.y[i];
      for (std::size_t j = 0; j < features; ++j) residual += x[j] * theta[j];
      for (std::size_t j = 0; j < features; ++j) theta[j] -= 0.001 * residual * x[j];
    }
  });
  return theta[0];
}

}  // namespace

int main(int argc, char** argv) {
  const char* rows_text = std::getenv("ROWS");
  const std::size_t rows = rows_text == nullptr ? 6'000'000 : std::strtoull(rows_text, nullptr, 10);
  pin_to_one_core();
  const Stream stream = make_stream(rows);
  ::setenv("XDG_CONFIG_HOME", stream.folder.c_str(), 1);  // keys never go to the user's own folder
  const config::Config config = config::read_config(stream.config, {});
  const config::Config config_of_sums = config::read_config(stream.config_of_sums, {});
  int run = 0;
  const auto replay = [&](const config::Config& of) {
    config::Config each = of;
    each.state.directory = (stream.folder / ("state" + std::to_string(run++))).string();
    folder::Options options;
    options.quiet = true;
    folder::AccountShare none(folder::share_of(each, true), each.privacy.budget);
    static_cast<void>(replay::run(std::move(each), options, none));
  };
  const auto count = static_cast<double>(rows);
  const auto timings =
      measure({{"from_chars alone", count, [&] { keep(from_chars_alone(stream.csv)); }},
               {"reader", count,
                [&] {
                  double sum = 0;
                  read_all(config, [&](const record::RowBatch& batch) { sum += batch.y.empty() ? 0 : batch.y[0]; });
                  keep(sum);
                }},
               {"plain SGD over the reader", count, [&] { keep(plain_sgd(config)); }},
               {"private replay", count, [&] { replay(config); }},
               {"private replay of running sums", count, [&] { replay(config_of_sums); }}},
              15);
  std::filesystem::remove_all(stream.folder);
  Report report("replay");
  report.add(timings, "row");
  report.add_ratio("private replay over plain SGD", "private replay", "plain SGD over the reader", "at most 1.6");
  report.add_ratio("from_chars over reader", "from_chars alone", "reader", "at least 1");
  report.add_ratio("private replay over from_chars", "private replay", "from_chars alone",
                   "at most 1.5: 4 million rows a second where from_chars parses 6 million");
  report.add_ratio("running sums over descent", "private replay of running sums", "private replay",
                   "at most 1: noise is drawn a thousandth as often");
  return report.write(argc, argv);
}
