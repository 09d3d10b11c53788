// The units of weights and exposures in a file: they change no slope, and no run of a configuration that a fit writes
// or that is measured. Each column is there twice, the second time in a unit that is a power of two of the first, so
// that nothing is rounded in another way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

constexpr double days_unit = 0x1p20;
constexpr double weight_unit = 0x1p100;

/// Counts of a rate of exp(−1 + .01 age) a day over 1 to 10 days, and a y of 1 + .1 age for records of a small
/// weight, 1 + .2 age for others.
std::string units_table() {
  std::string csv = "age,days,other_days,count,weight,other_weight,y\n";
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 12'000; ++i) {
    const auto age = static_cast<double>(18 + random() % 60);
    const auto days = static_cast<double>(1 + random() % 10);
    const double weight = random() % 2 == 0 ? 0.1 : 1;
    csv += fmt::format("{},{},{:.17g},{},{},{:.17g},{:.6f}\n", age, days, days_unit * days,
                       std::poisson_distribution<int>(days * std::exp(-1 + 0.01 * age))(random), weight,
                       weight_unit * weight, 1 + (weight < 1 ? 0.1 : 0.2) * age + normal(random));
  }
  return csv;
}

class FitUnits : public ::testing::Test {
 protected:
  struct Line {
    double intercept;
    double slope;
  };

  [[nodiscard]] std::string place(const std::string& name) const { return (folder.path() / name).string(); }
  /// The command with a state folder of its own.
  [[nodiscard]] CommandResult fit(const std::string& name, std::vector<std::string> options) const {
    options.insert(options.begin(), {"fit", file, "--features", "age", "--rho", "1", "--insecure-seed", "3", "--json",
                                     "--state", place(name + ".fit"), "--write-config", place(name + ".toml")});
    return run_command(NUSTREAM_COMMAND, options);
  }
  [[nodiscard]] CommandResult replay(const std::string& config) const {
    return run_command(NUSTREAM_COMMAND, {"replay", config, "--insecure-seed", "4", "--json"});
  }
  /// The estimate, or the average of a descent.
  static Line line_of(const CommandResult& result, const char* object = "estimate") {
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    const simdjson::dom::element found = parser.parse(result.out)[object];
    return {double(found["intercept"]), double(found["age"])};
  }
  static void expect_shifted(const Line& one, const Line& other, double shift) {
    EXPECT_NEAR(other.intercept, one.intercept + shift, 1e-7);
    EXPECT_NEAR(other.slope, one.slope, 1e-9);
  }
  /// The number behind "key = " in a configuration.
  [[nodiscard]] double setting(const std::string& name, const std::string& key) const {
    const std::string text = read_file(place(name + ".toml"));
    const std::size_t at = text.find("\n" + key + " = ");
    EXPECT_NE(at, std::string::npos) << key;
    return at == std::string::npos ? 0 : std::stod(text.substr(at + key.size() + 4));
  }

  const TemporaryFolder folder;
  const std::string file = folder.write("table.csv", units_table());
};

const std::vector<std::string> counts{"--target", "count", "--poisson"};

std::vector<std::string> over(const std::string& column, double bound) {
  std::vector<std::string> options = counts;
  options.insert(options.end(), {"--exposure", column, "--exposure-bound", fmt::format("{:.17g}", bound)});
  return options;
}

TEST_F(FitUnits, ExposuresMoveTheInterceptAlone) {
  const Line days = line_of(fit("days", over("days", 10)));
  EXPECT_NEAR(days.intercept, -1, 0.1);
  EXPECT_NEAR(days.slope, 0.01, 0.002);
  expect_shifted(days, line_of(fit("other", over("other_days", 10 * days_unit))), -std::log(days_unit));
  // A gradient is of the rate times the exposure, so neither its bound nor the step size has a unit.
  EXPECT_NEAR(setting("other", "clip_norm"), setting("days", "clip_norm"), 1e-6);
  EXPECT_NEAR(setting("other", "step_size"), setting("days", "step_size"), 1e-9);
  expect_shifted(line_of(replay(place("days.toml")), "average"), line_of(replay(place("other.toml")), "average"),
                 -std::log(days_unit));
}

TEST_F(FitUnits, WeightsChangeNothing) {
  const std::vector<std::string> of_numbers{"--target", "y", "--weight", "weight", "--weight-bound", "1"};
  const std::vector<std::string> of_others{
      "--target", "y", "--weight", "other_weight", "--weight-bound", fmt::format("{:.17g}", weight_unit)};
  const Line one = line_of(fit("one", of_numbers));
  EXPECT_NEAR(one.slope, 0.19, 0.01);
  expect_shifted(one, line_of(fit("other", of_others)), 0);
  // Rows are times the root of their weight.
  EXPECT_NEAR(setting("other", "row_norm") / setting("one", "row_norm"), std::sqrt(weight_unit), 1);
  EXPECT_NEAR(setting("other", "residual_bound") / setting("one", "residual_bound"), std::sqrt(weight_unit), 1);
  expect_shifted(line_of(replay(place("one.toml"))), line_of(replay(place("other.toml"))), 0);
}

// The start's intercept has a unit; centres, scales, the clip norm and the step size have none.
TEST_F(FitUnits, ExposuresMoveTheInterceptAloneWhereSettingsAreMeasured) {
  const auto average = [&](const std::string& column, double bound) {
    const std::string config = folder.write(
        column + ".toml",
        fmt::format("[stream]\nname = \"m\"\ninput = \"{}\"\n[[features]]\ncolumn = \"age\"\ncenter = \"private\"\n"
                    "scale = \"private\"\n[target]\ncolumn = \"count\"\n[model]\nloss = \"poisson\"\n"
                    "intercept = true\n[exposure]\ncolumn = \"{}\"\nmax = {:.17g}\n[descent]\n"
                    "step_size = \"private\"\nclip_norm = \"private\"\nstart = \"private\"\naverage = \"tail\"\n"
                    "average_from = 6000\n[noise]\nnu = \"private\"\n[release]\nevery = 1000\n[privacy]\nrho = 2\n"
                    "delta = 1e-6\n[ranges]\nshare = 0.5\n[state]\ndirectory = \"{}\"\n",
                    file, column, bound, place(column + ".runs")));
    return line_of(replay(config), "average");
  };
  const Line days = average("days", 10);
  EXPECT_NEAR(days.intercept, -1, 0.3);
  expect_shifted(days, average("other_days", 10 * days_unit), -std::log(days_unit));
}

TEST_F(FitUnits, NoRecordCountsByItsTarget) {
  for (const std::string weight : {"y", "square(y)"}) {
    const CommandResult result = fit("refused", {"--target", "y", "--weight", weight, "--weight-bound", "1"});
    EXPECT_EQ(result.code, 64) << result.err;
    EXPECT_THAT(result.err, HasSubstr("--weight '" + weight +
                                      "': that is the target's column, and records that count "
                                      "by what is to be explained give another model"));
    EXPECT_FALSE(std::filesystem::exists(place("refused.fit")));
  }
}

}  // namespace
}  // namespace nustream::tests
