// `nustream audit` as users meet it: over a stream's settings and a table's, as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <vector>

#include "command.h"
#include "example_config.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// So many games prove μ within a fifth. To exceed a true claim, a bound would have to err in both worlds at once, by
// 4.6 standard errors.
constexpr const char* runs = "10000";

CommandResult audit(const TemporaryFolder& folder, const std::string& config, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"audit", folder.write("audit.toml", config), "--runs", runs});
  return run_command(NUSTREAM_COMMAND, more);
}

TEST(AuditCommand, ShowsWhatIsProvenBesideTheClaim) {
  const TemporaryFolder folder;
  const CommandResult shown = audit(folder, example_config());
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.err, "");
  for (const char* part :
       {"10,000 games of 8 steps in each of two worlds", "claimed        proven", "epsilon", "at delta 0.01",
        "of the Gaussian curve", "99.9% confidence", "the claim holds: nothing above it was proven"}) {
    EXPECT_THAT(shown.out, HasSubstr(part));
  }
}

// Where nothing can be said about the claim, the reason is named, and the exit code differs from that of a claim that
// holds.
TEST(AuditCommand, SaysWhatWasNotShown) {
  const TemporaryFolder folder;
  const auto expect_not_shown = [&](const std::string& config, const std::vector<std::string>& settings,
                                    const std::string& reason) {
    std::vector<std::string> arguments{"audit", folder.write("audit.toml", config), "--runs", "1000"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const CommandResult text = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(text.code, 78) << text.out;
    EXPECT_THAT(text.out, HasSubstr("NOT SHOWN: " + reason));
    arguments.emplace_back("--json");
    EXPECT_THAT(run_command(NUSTREAM_COMMAND, arguments).out,
                AllOf(HasSubstr("\"holds\":null"), HasSubstr("\"not_shown\":[\"" + reason)));
  };
  expect_not_shown(example_config(), {"privacy.rho=60"}, "so many games can prove no mu above 4.858");
  expect_not_shown(sandwich_config(), {"features.0.clamp=[-1e-3, 1e-3]", "features.1.clamp=[-1e-3, 1e-3]"},
                   "the record hardly moved the second moments");
}

TEST(AuditCommand, RefusesWhatHasNoMeaningForTheseSettings) {
  const TemporaryFolder folder;
  const CommandResult records = audit(folder, example_config(), {"--records", "50"});
  EXPECT_EQ(records.code, 64);
  EXPECT_THAT(records.err, HasSubstr("--records: only for a table"));
  EXPECT_EQ(audit(folder, table_config(), {"--records", "5"}).code, 0);
  const CommandResult late = audit(folder, example_config(), {"--passes", "2", "--at", "4"});
  EXPECT_EQ(late.code, 64);
  EXPECT_THAT(late.err, HasSubstr("--at 4: allowed is 0 to 3, a step of the first pass (--steps 8, --passes 2)"));
}

TEST(AuditCommand, GivesTheSameAsJson) {
  const TemporaryFolder folder;
  simdjson::dom::parser parser;
  for (const std::string& config : {example_config(), table_config()}) {
    const CommandResult shown = audit(folder, config, {"--json"});
    ASSERT_EQ(shown.code, 0) << shown.err;
    const simdjson::dom::element json = parser.parse(shown.out);
    EXPECT_EQ(std::uint64_t{json["runs"]}, 10000U);
    EXPECT_TRUE(bool{json["holds"]});
    const double mu = json["mu"];
    EXPECT_NEAR(double{json["rho"]}, mu * mu / 2, 1e-12 * mu);
    EXPECT_NEAR(double{json["mu_of_filter"]}, mu, 1e-6 * mu);
    EXPECT_GT(double{json["mu_lower_bound"]}, 0.8 * mu);
    EXPECT_LE(double{json["mu_lower_bound"]}, mu);
    EXPECT_LE(double{json["epsilon_lower_bound"]}, double{json["epsilon"]});
    EXPECT_EQ(double{json["shorter_share"]}, 0);
  }
}

}  // namespace
}  // namespace nustream::tests
