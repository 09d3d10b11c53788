// Measures how far instrumental variables that are solved from one pass over a table are from two-stage least squares
// of the same rows, under fresh noise. Usage: moments_tables TABLES [KEYS [JSON file]]; 200 keys by default. TABLES
// is the folder of card_complete_2191.csv and fertility_254654.csv.gz. Exits with 1 where a bar is missed. Keys are
// fixed, so the result does not vary by chance.
//
// Angrist and Evans: weeks worked on a third child, by the sexes of the first two, 254,654 rows; 2SLS −6.314. Card:
// log wages on years of schooling, by nearby colleges and the parents' schooling, 2,191 rows; 2SLS .07441. Bounds
// come from the columns' public ranges, or are round figures. The scales of Card's columns are those of the file,
// which the descents that it is compared with have too.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "card_table.h"
#include "config/mechanism.h"
#include "config/moments.h"
#include "engine/noise_feed.h"
#include "engine/table_design.h"
#include "estimate/table.h"
#include "nustream/record/batch.h"
#include "publish/instruments.h"
#include "publish/original_units.h"
#include "secrets/keyring.h"

namespace {

using namespace nustream;
using tests::column;

struct Case {
  std::string name;
  std::string settings;
  std::vector<std::string> overrides;
  std::string regressor;
  double least_squares;
  double bar;       ///< bar of the standard deviation
  double bias_bar;  ///< bar of the mean's distance
};

std::string fertility(const std::string& tables) {
  return "[stream]\nname = \"fertility\"\ninput = \"" + tables + "/fertility_254654.csv.gz\"\n" +
         "[target]\ncolumn = \"weeks\"\ncenter = 26\nscale = 15\n" + column("instruments", "samesex", 0.5, 0.5) +
         column("endogenous", "morekids", 0.5, 0.5) + R"([model]
estimator = "moments"
[moments]
row_norm = 1.4143
regressor_bound = 1.25
residual_bound = 1.8
second_moment_share = 0.2
regressor_share = 0.2
[privacy]
delta = 1e-6
adjacency = "zero-out"
)";
}

std::string card(const std::string& tables) {
  return tests::card_columns(tables) + R"([model]
estimator = "moments"
intercept = false
[moments]
row_norm = 3.5
regressor_bound = 6
residual_bound = 1
second_moment_share = 0.2
regressor_share = 0.35
[privacy]
rho = 1
delta = 1e-6
)";
}

/// The effects under `keys` keys, with one pass each.
std::vector<double> effects(const Case& one, std::uint64_t keys) {
  const std::string file = (std::filesystem::temp_directory_path() / "nustream_moments_tables.toml").string();
  std::ofstream(file, std::ios::binary) << one.settings;
  config::Config config = config::read_config(file, one.overrides, config::Purpose::table);
  std::filesystem::remove(file);
  estimate::Table table = estimate::read_table(config);
  const engine::TableDesign design = engine::settle_design(config, table.rows());
  const config::Mechanism mechanism = make_mechanism(config, design.participation(), StepCount{design.steps});
  table.pad_to_multiple_of(design.minibatch);
  const moments::Settings settings = config::moments_settings(config, mechanism);
  const publish::OriginalUnits units(config.schema, config.descent);
  const publish::SolvedInstruments instruments{{one.regressor}, settings.mechanism.design.shape.inputs, 1, 0.95};
  const auto wanted = std::ranges::find(units.names(), one.regressor) - units.names().begin();
  std::vector<double> found;
  for (std::uint64_t key = 0; key < keys; ++key) {
    const secrets::Keyring keyring = secrets::Keyring::insecure(key);
    engine::NoiseFeed feed(mechanism,
                           engine::noise_of_new_epoch(keyring, config.stream, LaneId{0}, EpochId{0}, mechanism),
                           StepIndex{0}, std::pmr::get_default_resource(), keyring.healing(false));
    moments::Lane lane(settings, Position{0});
    moments::Releases releases;
    const std::uint64_t m = design.minibatch;
    for (std::uint64_t step = 0; step < design.steps; ++step) {
      lane.advance({table.dimension, m, table.x.values().data() + step * m * table.dimension,
                    table.y.values().data() + step * m, nullptr},
                   feed.take(1), releases);
    }
    std::vector<double> values;
    units.convert(publish::parameters_of(releases.back(), instruments), values);
    found.push_back(values.at(static_cast<std::size_t>(wanted)));
  }
  return found;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += std::pow(value - mean_of(values), 2);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::string tables = argv[1];
  const std::uint64_t keys = argc > 2 ? std::max<std::uint64_t>(2, std::strtoull(argv[2], nullptr, 10)) : 200;
  const std::vector<Case> cases{{"Angrist and Evans, one pass in 255 steps, rho = 1, zero-out",
                                 fertility(tables),
                                 {"privacy.rho=1", "release.every=1000"},
                                 "morekids",
                                 -6.314,
                                 0.025,
                                 0.02},
                                {"Angrist and Evans, one release at the end, rho = 0.2, zero-out",
                                 fertility(tables),
                                 {"privacy.rho=0.2"},
                                 "morekids",
                                 -6.314,
                                 0.02,
                                 0.02},
                                {"Angrist and Evans, one release at the end, rho = 0.2, replace-one",
                                 fertility(tables),
                                 {"privacy.rho=0.2", "privacy.adjacency=replace-one"},
                                 "morekids",
                                 -6.314,
                                 0.04,
                                 0.02},
                                {"Card, one release at the end, rho = 1, zero-out",
                                 card(tables),
                                 {"privacy.adjacency=zero-out"},
                                 "educ",
                                 0.074410,
                                 0.0025,
                                 0.003},
                                {"Card, one release at the end, rho = 1, replace-one",
                                 card(tables),
                                 {"privacy.adjacency=replace-one"},
                                 "educ",
                                 0.074410,
                                 0.0029,
                                 0.003}};
  std::string text = fmt::format(
      "{{\"figure\": \"instrumental variables solved from one pass over a table, against 2SLS of its rows\", "
      "\"keys\": {}, \"rows\": [",
      keys);
  bool all = true;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    const std::vector<double> found = effects(one, keys);
    const double bias = mean_of(found) - one.least_squares;
    const double deviation = deviation_of(found);
    all = all && deviation <= one.bar && std::fabs(bias) < one.bias_bar;
    text += fmt::format(
        "{}\n  {{\"case\": \"{}\", \"2SLS\": {}, \"mean\": {:.6g}, \"bias\": {:.3g}, \"standard_deviation\": {:.4g}, "
        "\"bar\": {}, \"bias_bar\": {}}}",
        i == 0 ? "" : ",", one.name, one.least_squares, mean_of(found), bias, deviation, one.bar, one.bias_bar);
  }
  std::FILE* out = argc > 3 ? std::fopen(argv[3], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}]}}\n", text);
  return all ? 0 : 1;
}
