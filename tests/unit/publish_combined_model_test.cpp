// The lanes' releases as one model: weights are steps, the spend is the dearest lane's, and what does not fit
// together gives none.
#include <gtest/gtest.h>

#include <array>

#include "publish/combined_model.h"
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
      combined_model(releases, 2, digests),
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
  const auto model = combined_model(releases, 2, digests);
  ASSERT_TRUE(model);
  EXPECT_NE(model->find(R"("average":null,"rho":0.31,"rho_limit":0.5,"rho_ledger":0.31,"epsilon":4.5)"),
            std::string::npos)
      << *model;
}

// Epochs add up lane by lane: the lane that costs most now need not be the one that did in all.
TEST(CombinedModel, CostInAllEpochsWhatTheDearestOfThemDoes) {
  std::string much = release_line(1, 10, R"({"x":2})");
  much.insert(
      much.find(",\"delta\""),
      R"(,"rho_ledger":0.75,"epsilon_ledger":6.5,"epsilons":[{"delta":1e-6,"gaussian":3.5,"zcdp":3.6,)"
      R"("zcdp-simple":3.7}],"epsilons_ledger":[{"delta":1e-6,"gaussian":6.5,"zcdp":6.6,"zcdp-simple":6.7}])");
  const Lines releases{{LaneId{0}, release_line(0, 10, R"({"x":1})")}, {LaneId{1}, much}};
  const auto model = combined_model(releases, 2, digests);
  ASSERT_TRUE(model);
  EXPECT_NE(model->find(R"("rho":0.25,"rho_limit":0.5,"rho_ledger":0.75,"epsilon":3.5,"epsilon_ledger":6.5)"),
            std::string::npos)
      << *model;
  EXPECT_NE(model->find(R"("epsilons_ledger":[{"delta":1e-06,"gaussian":6.5,)"), std::string::npos) << *model;
}

TEST(CombinedModel, NeedsEveryLaneUnderOneSettingAndOnePromise) {
  const std::string here = release_line(0, 10, R"({"x":1})");
  const std::string other = release_line(1, 10, R"({"x":2})");
  const auto made = [&](const std::string& second, std::uint32_t lanes = 2) {
    return combined_model({{LaneId{0}, here}, {LaneId{1}, second}}, lanes, digests).has_value();
  };
  EXPECT_TRUE(made(other));
  EXPECT_FALSE(made(other, 3)) << "a lane without a release";
  EXPECT_FALSE(made(release_line(1, 0, R"({"x":2})"))) << "a lane that took no step";
  EXPECT_FALSE(made(release_line(1, 10, R"({"x":2})", "null", 0, "false"))) << "another promise";
  std::string replaced = other;
  replaced.insert(replaced.find(",\"private\""), ",\"adjacency\":\"replace-one\"");
  EXPECT_FALSE(made(replaced)) << "other neighbours";
  EXPECT_FALSE(made("not a release"));
  EXPECT_FALSE(combined_model({{LaneId{0}, here}}, 1, std::array{std::string("another digest")}));
  EXPECT_FALSE(combined_model({}, 0, digests));
}

// One set of parts gives one value: an iterate that diverged is told as such.
TEST(CombinedModel, OfALaneThatDivergedIsNull) {
  const Lines releases{{LaneId{0}, release_line(0, 10, R"({"x":null})")},
                       {LaneId{1}, release_line(1, 10, R"({"x":2})")}};
  EXPECT_NE(combined_model(releases, 2, digests)->find(R"("estimate":{"x":null})"), std::string::npos);
}

}  // namespace
}  // namespace nustream::publish
