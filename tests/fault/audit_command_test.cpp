// `nustream audit` as a user meets it: a stream's settings and a table's, as text and as JSON.
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

using ::testing::HasSubstr;

// They prove μ within a fifth. A bound would have to err in both worlds at once to exceed a true claim: 4.6 standard
// errors.
constexpr const char* runs = "10000";

CommandResult audit(const TemporaryFolder& folder, const std::string& config, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"audit", folder.write("audit.toml", config), "--runs", runs});
  return run_command(NUSTREAM_COMMAND, more);
}

constexpr const char* table_config = R"([stream]
name = "table"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
[descent]
step_size = 0.3
clip_norm = 2.0
minibatch = 2
[privacy]
rho = 0.5
delta = 1e-6
[estimate]
steps = 6
)";

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

TEST(AuditCommand, GivesTheSameAsJson) {
  const TemporaryFolder folder;
  simdjson::dom::parser parser;
  for (const std::string& config : {example_config(), std::string(table_config)}) {
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
