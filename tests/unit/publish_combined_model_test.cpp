// The lanes' releases as one model: each lane weighs as many as its steps, the spend is that of the lane that spent
// most, and releases that do not fit together give no model.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include <simdjson.h>

#include "config_reading.h"
#include "engine/release_encoder.h"
#include "expect_failure.h"
#include "publish/combined_model.h"
#include "publish/released_sums.h"
#include "serve_lanes.h"

namespace nustream::publish {
namespace {

using tests::release_line;
using tests::serve_digest;
using Lines = std::map<LaneId, std::string>;

const std::array<std::string, 2> digests{"of other settings", serve_digest};

TEST(CombinedModel, IsTheAverageOfTheLanesWeightedByTheirSteps) {
  const Lines releases{{LaneId{0}, release_line(0, 100, R"({"x":1,"y":-2})", R"({"x":0,"y":4})")},
                       {LaneId{1}, release_line(1, 300, R"({"x":2,"y":6})", R"({"x":8,"y":0})", 2)}};
  EXPECT_EQ(
      combined_model(releases, 2, digests).json,
      std::string(R"({"format":1,"stream":"retail","parts":[{"lane":0,"epoch":0,"step":100},)"
                  R"({"lane":1,"epoch":2,"step":300}],"estimate":{"x":1.75,"y":4},"average":{"x":6,"y":1},)"
                  R"("rho":0.25,"rho_limit":0.5,"rho_ledger":0.25,"epsilon":3.5,"epsilon_ledger":3.5,"delta":1e-06,)"
                  R"("conversion":"gaussian","digest":")") +
          serve_digest + R"(","private":true})");
}

TEST(CombinedModel, CostsWhatItsDearestLaneDoes) {
  std::string dear = release_line(1, 10, R"({"x":2})");
  dear.replace(dear.find("0.25"), 4, "0.31").replace(dear.find("3.5"), 3, "4.5");
  const Lines releases{{LaneId{0}, release_line(0, 10, R"({"x":1})")}, {LaneId{1}, dear}};
  const auto model = combined_model(releases, 2, digests).json;
  ASSERT_TRUE(model);
  EXPECT_NE(model->find(R"("average":null,"rho":0.31,"rho_limit":0.5,"rho_ledger":0.31,"epsilon":4.5)"),
            std::string::npos)
      << *model;
}

// Epochs add up lane by lane: the lane that costs most in the present epoch need not be the lane that cost most in
// all.
TEST(CombinedModel, CostInAllEpochsWhatTheDearestOfThemDoes) {
  std::string much = release_line(1, 10, R"({"x":2})");
  much.insert(
      much.find(",\"delta\""),
      R"(,"rho_ledger":0.75,"epsilon_ledger":6.5,"epsilons":[{"delta":1e-6,"gaussian":3.5,"zcdp":3.6,)"
      R"("zcdp-simple":3.7}],"epsilons_ledger":[{"delta":1e-6,"gaussian":6.5,"zcdp":6.6,"zcdp-simple":6.7}])");
  const Lines releases{{LaneId{0}, release_line(0, 10, R"({"x":1})")}, {LaneId{1}, much}};
  const auto model = combined_model(releases, 2, digests).json;
  ASSERT_TRUE(model);
  EXPECT_NE(model->find(R"("rho":0.25,"rho_limit":0.5,"rho_ledger":0.75,"epsilon":3.5,"epsilon_ledger":6.5)"),
            std::string::npos)
      << *model;
  EXPECT_NE(model->find(R"("epsilons_ledger":[{"delta":1e-06,"gaussian":6.5,)"), std::string::npos) << *model;
}

TEST(CombinedModel, WaitsForLanesUnderOtherSettingsAndOtherPromises) {
  const std::string here = release_line(0, 10, R"({"x":1})");
  const std::string other = release_line(1, 10, R"({"x":2})");
  const auto waits = [&](const std::string& second) {
    const CombinedModel model = combined_model({{LaneId{0}, here}, {LaneId{1}, second}}, 2, digests);
    EXPECT_EQ(model.json.has_value(), model.waits_for.empty()) << second;
    return model.waits_for;
  };
  const std::vector<LaneId> nobody;
  const std::vector<LaneId> second{LaneId{1}};
  EXPECT_EQ(waits(other), nobody);
  EXPECT_EQ(waits(release_line(1, 10, R"({"x":2})", "null", 0, "false")), second) << "another promise";
  std::string replaced = other;
  replaced.insert(replaced.find(",\"private\""), ",\"adjacency\":\"replace-one\"");
  EXPECT_EQ(waits(replaced), second) << "other neighbours";
  std::string changed = other;
  changed.replace(changed.find(serve_digest), 4, "ffff");
  EXPECT_EQ(waits(changed), second) << "other settings";
  EXPECT_EQ(waits("not a release"), second);
  EXPECT_EQ(waits("{\"format\":2," + other.substr(1)), second) << "the service of that lane is newer";
  const CombinedModel alone = combined_model({{LaneId{0}, here}}, 1, std::array{std::string("another digest")});
  EXPECT_FALSE(alone.json);
  EXPECT_EQ(alone.waits_for, std::vector<LaneId>{LaneId{0}});
}

// `nustream solve` reads the model of a service that may be newer.
TEST(CombinedModel, IsReadBackInTheFirstFormatOnly) {
  const std::string model = *combined_model({{LaneId{0}, release_line(0, 10, R"({"x":1})")}}, 1, digests).json;
  EXPECT_TRUE(read_model(model));
  std::string without = model;
  EXPECT_TRUE(read_model(without.erase(1, std::string("\"format\":1,").size())));
  tests::expect_failure(
      Exit::data, [&] { static_cast<void>(read_model("{\"format\":7," + without.substr(1))); },
      "a release of format 7; this version reads format 1");
}

// Whose promise it is has to be read back, too: `nustream solve` says whom a spend protects.
TEST(CombinedModel, ReadsBackWhomItProtects) {
  std::string line = release_line(0, 10, R"({"x":1})");
  const std::string of_users = R"("protects":"user","user":"who","participations":3,"separation":2,"private":)";
  line.replace(line.find("\"private\":"), std::string("\"private\":").size(), of_users);
  const auto model = read_model(*combined_model({{LaneId{0}, line}}, 1, digests).json);
  ASSERT_TRUE(model);
  ASSERT_TRUE(model->promise.user);
  EXPECT_EQ(model->promise.user->column, "who");
  EXPECT_EQ(model->promise.user->limits, users::Limits(privacy::Participation{3, 2}, {}));
}

// A partition may be empty for ever, or new.
TEST(CombinedModel, GivesALaneWithoutAReleaseNoWeight) {
  const std::string here = release_line(1, 10, R"({"x":3})");
  const CombinedModel model =
      combined_model({{LaneId{1}, here}, {LaneId{3}, release_line(3, 0, R"({"x":9})")}}, 4, digests);
  EXPECT_TRUE(model.waits_for.empty());
  ASSERT_TRUE(model.json);
  EXPECT_EQ(model.json->find(R"({"format":1,"stream":"retail","parts":[{"lane":1,"epoch":0,"step":10}],)"
                             R"("empty":[0,2,3],"estimate":{"x":3},)"),
            0U)
      << *model.json;
  for (const std::uint32_t lanes : {0U, 1U}) {
    const CombinedModel none = combined_model({}, lanes, digests);
    EXPECT_FALSE(none.json);
    EXPECT_TRUE(none.waits_for.empty());
  }
}

// One set of parts gives one value: where an iterate diverged, the model says so.
TEST(CombinedModel, OfALaneThatDivergedIsNull) {
  const Lines releases{{LaneId{0}, release_line(0, 10, R"({"x":null})")},
                       {LaneId{1}, release_line(1, 10, R"({"x":2})")}};
  EXPECT_NE(combined_model(releases, 2, digests).json->find(R"("estimate":{"x":null})"), std::string::npos);
}

/// A release of a lane of running sums, of an intercept and x.
std::string release_of_sums(std::uint32_t lane, std::uint64_t step, const std::string& moments) {
  std::string line = release_line(lane, step, R"({"intercept":7,"x":7})");
  return line.insert(line.find(",\"rho\""), ",\"moments\":" + moments);
}

const std::string first_sums =
    R"({"records":200,"stage":0,"floored":0,"sums":{"inputs":2,"second":[100,20,80],"gap":[10,-30],)"
    R"("centre":[1,0.5],"floor":3}})";
const std::string second_sums =
    R"({"records":300,"stage":1,"floored":2,"sums":{"inputs":2,"second":[200,-40,60],"gap":[5,12],)"
    R"("centre":[0,-1],"floor":4}})";

SolvedModel model_of_sums() {
  return *engine::solved_model(
      config::read({"model.estimator=moments", "moments.row_norm=4", "moments.residual_bound=4"}));
}

// By hand, b = g + Hθ_c of each part: (120, 30) and (45, -48); H = (300, -20, 140).
TEST(CombinedModel, OfRunningSumsIsTheSolutionOfAllOfThem) {
  const Lines releases{{LaneId{0}, release_of_sums(0, 2, first_sums)},
                       {LaneId{1}, release_of_sums(1, 3, second_sums)}};
  const auto model = combined_model(releases, 2, digests, model_of_sums()).json;
  ASSERT_TRUE(model);
  const auto sums = read_sums(*model);
  ASSERT_TRUE(sums) << *model;
  EXPECT_EQ(sums->floor, 5);
  const double determinant = 300.0 * 140.0 - 400.0;
  const double intercept = (140.0 * 165.0 - 20.0 * 18.0) / determinant;
  const double slope = (300.0 * -18.0 + 20.0 * 165.0) / determinant;
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(*model);
  // In original units, because x was centred at 0.5 and divided by 2.
  EXPECT_NEAR(json["estimate"]["intercept"].get_double().value(), intercept - slope / 4, 1e-12);
  EXPECT_NEAR(json["estimate"]["x"].get_double().value(), slope / 2, 1e-12);
  EXPECT_EQ(json["moments"]["records"].get_uint64().value(), 500U);
  EXPECT_EQ(json["moments"]["floored"].get_uint64().value(), 0U) << "what hid a lane's answer is small in all";
}

// Where a lane's releases do not show their sums, or show other sums, the sums cannot be added: the average takes
// their place.
TEST(CombinedModel, OfLanesWithoutTheirSumsIsTheAverage) {
  const std::string other_size =
      R"({"records":1,"stage":0,"floored":0,"sums":{"inputs":1,"second":[1],"gap":[1],"centre":[0],"floor":1}})";
  for (const std::string& second : {std::string(R"({"records":1,"stage":0,"floored":0})"), other_size}) {
    const Lines releases{{LaneId{0}, release_of_sums(0, 2, first_sums)}, {LaneId{1}, release_of_sums(1, 3, second)}};
    const auto model = combined_model(releases, 2, digests, model_of_sums()).json;
    ASSERT_TRUE(model);
    EXPECT_NE(model->find(R"("estimate":{"intercept":7,"x":7})"), std::string::npos) << *model;
    EXPECT_FALSE(read_sums(*model));
  }
  const Lines alone{{LaneId{0}, release_of_sums(0, 2, first_sums)}};
  EXPECT_FALSE(read_sums(*combined_model(alone, 1, digests).json)) << "of a descent nothing is added";
}

}  // namespace
}  // namespace nustream::publish
