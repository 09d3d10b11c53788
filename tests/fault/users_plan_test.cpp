// What `plan` predicts of the limits of a user, and suggests, from public guesses about the retail stream. The
// measured distances are in docs/results/users_bars.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <simdjson.h>

#include "users_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

const std::string retail = std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/";
const std::string guesses = "plan={users=4000, user_records=100, burst=20, residual=1, distance=1}";

/// `plan --json` by running sums, or by a descent.
std::string planned(bool by_sums, const std::string& rho, const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings{"privacy.rho=" + rho, guesses};
  if (!by_sums) {
    settings.insert(settings.end(), {"privacy.unit=user", "privacy.user=user", "users.participations=4",
                                     "users.separation=10", "descent.minibatch=1000", "descent.step_size=0.1",
                                     "descent.clip_norm=100", "descent.average_from=133", "noise.nu=0.01"});
  }
  settings.insert(settings.end(), more.begin(), more.end());
  std::vector<std::string> arguments{"plan", retail + (by_sums ? "customers.toml" : "retail.toml"), "--json"};
  for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
  const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return result.out;
}

/// The predicted errors, by "mass W" or "(k, b)".
std::map<std::string, double> errors_of(const std::string& json) {
  simdjson::dom::parser parser;
  std::map<std::string, double> errors;
  for (const auto& one : parser.parse(json)["limits"].get_array()) {
    double mass = 0;
    const bool has_mass = one["mass"].get(mass) == simdjson::SUCCESS;
    const std::string name = has_mass ? "mass " + std::to_string(static_cast<int>(mass))
                                      : "(" + std::to_string(one["participations"].get_uint64().value()) + ", " +
                                            std::to_string(one["separation"].get_uint64().value()) + ")";
    errors[name] = one["predicted_error"].get_double().value();
  }
  return errors;
}

double suggested_mass(const std::string& json) {
  simdjson::dom::parser parser;
  return parser.parse(json)["suggested_users"]["massed"]["mass"].get_double().value();
}

// Measured over 50 keys: mass 4 is the best of the masses at ρ = .1, and mass 8 at ρ = 1.
TEST(UsersPlan, SuggestsTheMassThatIsBestForRunningSums) {
  EXPECT_EQ(suggested_mass(planned(true, "0.1")), 4);
  EXPECT_EQ(suggested_mass(planned(true, "1")), 8);
}

// Measured over 50 keys at ρ = .1: mass 1 .185, mass 4 .074, (16, 1) .058, (1, 1) .042, (4, 10) .031, in two
// coefficients.
TEST(UsersPlan, OrdersTheLimitsOfADescentAsTheyAreMeasured) {
  const std::map<std::string, double> errors = errors_of(planned(false, "0.1"));
  for (const auto& [name, error] : errors) EXPECT_LE(error, errors.at("mass 1")) << name;
  EXPECT_GT(errors.at("mass 4"), errors.at("(1, 1)"));
  EXPECT_GT(errors.at("(1, 1)"), errors.at("(4, 10)"));
  EXPECT_GT(errors.at("(16, 1)"), errors.at("(4, 10)"));
  EXPECT_GT(errors.at("mass 1"), .185 / std::sqrt(2) / 2);
  EXPECT_LT(errors.at("mass 1"), .185 / std::sqrt(2) * 2);
  EXPECT_GT(errors.at("(4, 10)"), .031 / std::sqrt(2) / 2);
  EXPECT_LT(errors.at("(4, 10)"), .031 / std::sqrt(2) * 2);
}

TEST(UsersPlan, SuggestsBoundsAndStepsWhateverIsSet) {
  simdjson::dom::parser parser;
  const std::string json = planned(false, "0.1", {"descent.minibatch=1", "descent.clip_norm=6"});
  const auto suggested = parser.parse(json)["suggested_users"];
  EXPECT_EQ(suggested["minibatch"].get_uint64().value(), 1000U);
  EXPECT_EQ(suggested["clip_norm"].get_double().value(), 100);
  EXPECT_EQ(suggested["step_size"].get_double().value(), .1);
  EXPECT_EQ(suggested["average_from"].get_uint64().value(), 133U);
  EXPECT_GT(suggested["counted"]["predicted_error"].get_double().value(), 0);
  EXPECT_THAT(json, HasSubstr("descent.minibatch = 1: "));
  const std::string sums = planned(true, "0.1");
  EXPECT_EQ(parser.parse(sums)["suggested_users"]["row_norm"].get_double().value(), 15);
}

TEST(UsersPlan, MarksTheBestOfEachKindInItsTable) {
  const CommandResult plan = run_command(NUSTREAM_COMMAND, {"plan", retail + "customers.toml"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  std::size_t marks = 0;
  for (std::size_t at = plan.out.find("<- suggested"); at != std::string::npos;
       at = plan.out.find("<- suggested", at + 1)) {
    ++marks;
  }
  EXPECT_EQ(marks, 2U);
  EXPECT_THAT(plan.out, HasSubstr("suggested from the guesses: moments.row_norm=15, with one of"));
}

TEST(UsersPlan, RefusesGuessesOutOfRange) {
  for (const char* setting : {"plan.user_spread=-1", "plan.user_deviation=2", "plan.user_deviation=-1"}) {
    EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"plan", retail + "customers.toml", "--set", setting}).code, 78);
  }
}

}  // namespace
}  // namespace nustream::tests
