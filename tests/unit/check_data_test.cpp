// A dry run over rows: what it counts, against what is known of the rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <simdjson.h>

#include "check/data_check.h"
#include "check/findings.h"
#include "check/look.h"
#include "decode/reader.h"
#include "temporary_folder.h"

namespace nustream::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* settings = R"([stream]
name = "dry"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x"
center = 10
scale = 2
clamp = [0, 30]
[[features]]
column = "kind"
transform = "indicator"
equals = "b"
[descent]
step_size = 0.01
clip_norm = 2.0
[privacy]
rho = 0.5
delta = 1e-6
[noise]
nu = 0.01
)";

Findings look_at(const std::string& rows, const std::vector<std::string>& overrides = {}) {
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", rows));
  const config::Config config = config::read_config(folder.write("dry.toml", settings), overrides);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  DataCheck check(config, mechanism);
  const std::string source = look_at_files(config, std::nullopt, check);
  return check.findings(source);
}

TEST(DataCheck, ProfilesUsableRecordsInOriginalUnits) {
  const Findings found = look_at("x,kind,y\n8,a,1\n12,a,0\nx,a,1\n40,c,0\n10,a,\n");
  EXPECT_EQ(found.tally.records, 5U);
  EXPECT_EQ(found.tally.rejected, 2U);
  EXPECT_EQ(found.tally.reasons.at("column 'x': not a number").first, Position{2});
  EXPECT_EQ(found.tally.reasons.at("column 'y': empty").first, Position{4});
  ASSERT_EQ(found.columns.size(), 2U);
  const ColumnFinding& x = found.columns[0];
  EXPECT_EQ(x.profile.count(), 3U);
  EXPECT_DOUBLE_EQ(x.profile.smallest(), 8);
  EXPECT_DOUBLE_EQ(x.profile.quantile(0.5), 12);
  EXPECT_DOUBLE_EQ(x.profile.largest(), 30) << "clamped";
  EXPECT_EQ(x.at_bounds, 1U);
  EXPECT_EQ(found.columns[1].never, "b");
  EXPECT_EQ(found.target->profile.count(), 3U);
}

TEST(DataCheck, AnIndicatorsTextThatOccursIsNoFinding) {
  EXPECT_FALSE(look_at("x,kind,y\n8,a,1\n12,b,0\n").columns[1].never);
  EXPECT_FALSE(look_at("x,kind,y\n8,a,z\n").columns[1].never) << "of no usable record nothing is known";
}

// For the linear loss at θ = 0 the gradient is -y·(1, (x - 10)/2, kind), whose length is |y|·√(1 + ((x - 10)/2)² +
// kind).
TEST(DataCheck, CountsGradientsThatAreClippedWhereARunBegins) {
  const Findings found = look_at("x,kind,y\n10,a,1.9\n10,a,2.1\n10,a,-2.1\n12,a,1.4\n12,a,1.5\n12,b,1.2\nx,a,9\n");
  EXPECT_EQ(found.tally.gradients, 6U);
  EXPECT_EQ(found.tally.clipped, 4U);  // the lengths 2.1, 2.1, 1.5·√2 and 1.2·√3
  EXPECT_EQ(found.start, "theta = 0");
}

TEST(DataCheck, CountsThemAtTheStartThatIsSet) {
  const std::vector<std::string> start{"descent.start=[2.1, 0, 0]"};
  const Findings found = look_at("x,kind,y\n10,a,1.9\n10,a,2.1\n10,a,-2.1\n", start);
  EXPECT_EQ(found.tally.clipped, 1U);
  EXPECT_EQ(found.start, "theta = descent.start");
}

TEST(DataCheck, ListsLabelsThatWereRefused) {
  const std::string rows = "x,kind,y\n8,a,-1\n8,a,1\n8,a,-1\n8,b, 0\n8,b,yes\n";
  const std::vector<std::string> logistic{"model.loss=\"logistic\""};
  const Findings found = look_at(rows, logistic);
  EXPECT_EQ(found.tally.rejected, 3U);
  EXPECT_THAT(found.refused_labels, ElementsAre(Pair("-1", 2U), Pair("yes", 1U)));
  EXPECT_EQ(found.columns.size(), 2U) << "the texts are no column of the model's";
  EXPECT_THAT(label_advice(found.tally), HasSubstr("model.labels"));

  const Findings named = look_at(rows, {"model.loss=\"logistic\"", "model.labels=[\"-1\",\"1\"]"});
  EXPECT_EQ(named.tally.rejected, 2U);
  EXPECT_THAT(named.refused_labels, ElementsAre(Pair("0", 1U), Pair("yes", 1U)));
  EXPECT_DOUBLE_EQ(named.target->profile.mean(), 1.0 / 3);
}

const std::vector<std::string> by_user{"privacy.unit=user", "privacy.user=kind", "users.participations=4",
                                       "descent.minibatch=2"};

// What a run clips is the sum of a user's gradients in a step: of two records each, the first two steps have one
// contribution, of length 2.4 and of nothing, and the last step has two, of 1.2 and 2.1.
TEST(DataCheck, CountsContributionsOfUsersWhereTheyAreTheUnit) {
  std::vector<std::string> one_text = by_user;
  one_text.emplace_back("features.1.equals=none");
  const Findings found = look_at("x,kind,y\n10,a,1.2\n10,a,1.2\n10,a,1.2\n10,a,-1.2\n10,a,1.2\n10,b,2.1\n", one_text);
  EXPECT_EQ(found.tally.gradients, 4U);
  EXPECT_EQ(found.tally.clipped, 2U);
  EXPECT_EQ(look_at("x,kind,y\n10,a,1.2\n10,a,1.2\n").tally.clipped, 0U) << "record by record";
}

// Attached, a user counts in the lane of its hash alone: in one of two partitions about half of the users do.
TEST(DataCheck, CountsRecordsOfUsersOfAnotherLane) {
  std::string rows = "x,kind,y\n";
  for (int who = 1; who <= 2000; ++who) rows += "10,user " + std::to_string(who) + ",1\n";
  const tests::TemporaryFolder folder;
  static_cast<void>(folder.write("rows.csv", rows));
  const config::Config config = config::read_config(folder.write("dry.toml", settings), by_user);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  DataCheck check(config, mechanism);
  const record::Schema schema = check.schema_of_lane({LaneId{1}, 2});
  const auto reader = decode::open_reader(config.input, schema);
  record::RowBatch batch;
  batch.dimension = check.schema().dimension();
  while (reader->read(batch, 5000)) continue;
  check.take(batch);
  const Findings found = check.findings("a partition");
  EXPECT_EQ(found.tally.records, 2000U);
  EXPECT_NEAR(static_cast<double>(found.tally.rejected), 1000, 150);
  ASSERT_EQ(found.tally.reasons.size(), 1U);
  EXPECT_THAT(found.tally.reasons.begin()->first, HasSubstr("a user of another lane"));
}

TEST(DataCheck, ItsJsonIsMarkedAndReadable) {
  const std::string text = to_json(look_at("x,kind,y\n8,a,1\n,a,1\n"));
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(text);
  EXPECT_FALSE(bool(json["private"]));
  EXPECT_THAT(std::string(json["note"]), HasSubstr("not covered by the promise"));
  EXPECT_EQ(std::uint64_t(json["records"]), 2U);
  EXPECT_EQ(std::uint64_t(json["usable"]), 1U);
  EXPECT_EQ(std::uint64_t(json["reasons"].at(0)["record"]), 1U);
  EXPECT_EQ(std::string(json["columns"].at(1)["never"]), "b");
  EXPECT_EQ(double(json["columns"].at(0)["median"]), 8);
}

}  // namespace
}  // namespace nustream::check
