// Models with instrumental variables that are solved from running sums, through the commands: `estimate` in one pass,
// on real data (instruments_tables.h), and `replay` where noise hides the estimate.
//
// Reference numbers: linearmodels 7.1 (2SLS of the same rows).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <simdjson.h>

#include "configured_command.h"
#include "instruments_tables.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

// At ρ = 1 the noise in running sums moves 2SLS of all rows by a few hundredths.
TEST_F(RealTables, AngristAndEvansSolvedFromRunningSums) {
  const TemporaryFolder folder;
  const std::string config = "[stream]\nname = \"fertility\"\ninput = \"" + tables + "/fertility_254654.csv.gz\"\n" +
                             "[target]\ncolumn = \"weeks\"\ncenter = 26\nscale = 15\n" +
                             column("instruments", "samesex", 0.5, 0.5) + column("endogenous", "morekids", 0.5, 0.5) +
                             R"([model]
estimator = "moments"
[moments]
row_norm = 1.4143
regressor_bound = 1.8
residual_bound = 2.3
stages = [{from = 20000}]
releases = 254
[intervals]
kind = "residuals"
[privacy]
rho = 1
delta = 1e-6
)";
  JsonOutput found = run_configured("replay", folder, config);
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_EQ(found.json["steps"].get_uint64().value(), 254U);
  EXPECT_LE(found.json["rho"].get_double().value(), 1);
  EXPECT_NEAR(found.value("estimate", "morekids ~ samesex"), 0.067525, 0.002);
  EXPECT_NEAR(found.value("estimate", "morekids"), -6.314, 0.2);
  // Without noise F is 1278, and 1.96 standard errors of 2SLS are 2.5.
  EXPECT_NEAR(found.json["instruments"]["effective_f"]["morekids"].get_double().value(), 1278, 150);
  EXPECT_EQ(found.json["instruments"]["anderson_rubin"]["kind"].get_string().value(), "interval");
  EXPECT_NEAR(found.json["instruments"]["anderson_rubin"]["lower"].get_double().value(), -6.314 - 2.5, 0.4);
  EXPECT_NEAR(found.json["instruments"]["anderson_rubin"]["upper"].get_double().value(), -6.314 + 2.5, 0.4);
  // A new epoch goes on about the reduced form of what was released, and not about the settings' start.
  JsonOutput further = run_configured("replay", folder, config,
                                      {"--new-epoch", "--set", "moments.releases=100", "--set", "release.every=100"});
  EXPECT_EQ(further.command.code, 0) << further.command.err;
  EXPECT_THAT(further.command.err, HasSubstr("goes on from the release at step 254"));
  EXPECT_EQ(further.json["steps"].get_uint64().value(), 6U) << "654 records were left";
}

/// Card, solved in one pass, with one release of the whole table.
std::string solved_card(const std::string& more) {
  std::string text = card("[moments]\nrow_norm = 3.5\nregressor_bound = 6\nresidual_bound = 1\n" + more);
  return text.replace(text.find("[model]\n"), 8, "[model]\nestimator = \"moments\"\n");
}

// At ρ = 1e5 only the effect of scaling and clipping is left: .0016. The bars at ρ = 1 are those of
// benchmarks/moments_tables.
TEST_F(RealTables, CardSolvedInOnePass) {
  const TemporaryFolder folder;
  JsonOutput found = run_configured("estimate", folder, solved_card("[privacy]\nrho = 1e5\ndelta = 1e-6\n"),
                                    {"--compare-nonprivate"});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_EQ(found.json["steps"].get_uint64().value(), 1U);
  EXPECT_NEAR(found.value("estimate", "educ"), 0.07441, 0.003);
  EXPECT_NEAR(found.for_operator["not_private"]["2SLS"]["educ"].get_double().value(), 0.074410, 1e-6);
  EXPECT_TRUE(found.for_operator["not_private"]["2S-GD"].error() == simdjson::NO_SUCH_FIELD);
  EXPECT_NEAR(found.json["rho"].get_double().value(), 1e5, 1e-3);
  // Without [intervals] nothing tells how much residuals vary, and their bounds stand in: ±6 and ±1 here.
  EXPECT_EQ(found.json["instruments"]["residual_variance"].get_string().value(), "bounded");
  EXPECT_LT(found.json["instruments"]["effective_f"]["educ"].get_double().value(), 60);
}

// With [intervals] a step alone tells the spread as well: without noise F is 115, and 1.96 standard errors of 2SLS
// .03.
TEST_F(RealTables, CardTellsItsStrengthInOnePass) {
  const TemporaryFolder folder;
  JsonOutput found = run_configured(
      "estimate", folder, solved_card("[intervals]\nkind = \"residuals\"\n[privacy]\nrho = 1e5\ndelta = 1e-6\n"));
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  const auto instruments = found.json["instruments"];
  EXPECT_EQ(instruments["residual_variance"].get_string().value(), "estimated");
  EXPECT_NEAR(instruments["effective_f"]["educ"].get_double().value(), 194.6, 15);
  EXPECT_EQ(instruments["anderson_rubin"]["kind"].get_string().value(), "empty");
}

// With rows declared public, zzᵀ and z xᵀ are exact, and all of ρ is the target's.
TEST_F(RealTables, CardSolvedWithPublicRows) {
  const TemporaryFolder folder;
  const std::string last = folder.write("last.csv", with_column_last(tables + "/card_complete_2191.csv", "lwage"));
  JsonOutput found = run_configured("estimate", folder,
                                    solved_card("[privacy]\nprotects = \"target\"\nrho = 1\ndelta = 1e-6\n"), {last});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_NEAR(found.value("estimate", "educ"), 0.0760, 0.006);
  EXPECT_NEAR(found.json["rho"].get_double().value(), 1, 1e-9);
}

// Where noise hides the sums there is no estimate, and so nothing to draw.
TEST(Instruments, AReleaseWithoutAnEstimateIsNoPathToDraw) {
  const TemporaryFolder folder;
  std::string rows = "z,x,y\n";
  for (int i = 0; i < 400; ++i) {
    const double z = std::sin(i), x = z + .3 * std::cos(3 * i);
    rows += std::to_string(z) + "," + std::to_string(x) + "," + std::to_string(2 * x) + "\n";
  }
  const std::string config = "[stream]\nname = \"i\"\ninput = \"" + folder.write("rows.csv", rows) + "\"\n" +
                             "[target]\ncolumn = \"y\"\n" + column("instruments", "z") + column("endogenous", "x") +
                             R"([model]
estimator = "moments"
[moments]
row_norm = 2
residual_bound = 3
regressor_bound = 3
[release]
every = 100
[privacy]
rho = 0.0001
delta = 1e-6
)";
  const std::string picture = (folder.path() / "path.svg").string();
  const JsonOutput found = run_configured("replay", folder, config, {"--insecure-seed", "1", "--chart", picture});
  ASSERT_EQ(found.command.code, 0) << found.command.err;
  EXPECT_THAT(read_file((folder.path() / "state/releases.jsonl").string()), HasSubstr("\"estimate\":null"));
  EXPECT_TRUE(found.json["instruments"]["residual_variance"].is_null()) << found.command.out;
  EXPECT_THAT(read_file(picture), HasSubstr("i: noise hides the estimate"));
  const CommandResult shown = run_command(
      NUSTREAM_COMMAND, {"inspect", (folder.path() / "state").string(), "--chart", "--insecure-seed", "1"});
  EXPECT_EQ(shown.code, 0) << shown.err;
}

}  // namespace
}  // namespace nustream::tests
