// The public surface shows what was committed and published, and nothing else.
#include "serve/public_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <type_traits>

#include "expect_failure.h"
#include "nustream/privacy/epsilon.h"
#include "serve_lanes.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::MetricsPage;
using tests::of_lane;
using tests::public_lane;
using tests::release;
using tests::release_line;
using tests::spend;

// What is shown comes from the named factories alone: nobody can put a value together from parts of a batch.
static_assert(!std::is_default_constructible_v<CommittedSpend> && !std::is_aggregate_v<CommittedSpend>);
static_assert(!std::is_constructible_v<CommittedSpend, LaneId, EpochId, StepCount, Rho, Rho>);
static_assert(!std::is_default_constructible_v<CommittedRelease> && !std::is_aggregate_v<CommittedRelease>);
static_assert(!std::is_constructible_v<CommittedRelease, publish::ShownRelease, std::uint64_t>);
static_assert(!std::is_constructible_v<CommittedModel, std::string>);

TEST(PublicSurface, ShowsStepsAndSpendOfACommit) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(3));
  surface.update(spend(3, 1200, 0.25));
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(of_lane("nustream_steps_total", 3)), "1200");
  EXPECT_EQ(page.at(of_lane("nustream_zcdp_rho_spent", 3)), "0.25");
  EXPECT_EQ(page.at(of_lane("nustream_zcdp_rho_ledger", 3)), "0.25");
  EXPECT_EQ(page.at(of_lane("nustream_zcdp_rho_limit", 3)), "0.5");
  EXPECT_EQ(page.at(of_lane("nustream_noise_multiplier", 3)), "2");
  EXPECT_EQ(page.at(of_lane("nustream_sensitivity", 3)), "2");
  EXPECT_EQ(page.at(of_lane("nustream_step_size", 3)), "0.03846153846153846");  // η/(1 + 1200/100) = .5/13
  const double epsilon =
      std::stod(page.at("nustream_epsilon{conversion=\"gaussian\",delta=\"1e-06\",lane=\"3\",stream=\"retail\"}"));
  EXPECT_NEAR(epsilon, privacy::epsilon(Rho{0.25}, Delta{1e-6}).value(), 1e-12);
}

TEST(PublicSurface, ShowsEpsilonOfTheEpochAndOfTheLedgerAtEveryDeltaByEveryConversion) {
  PublicSurface surface("retail");
  PublicLane lane = public_lane(3);
  lane.header.more_deltas = {Delta{1e-9}};
  surface.open_lane(lane);
  surface.update(spend(3, 1200, 0.25, 0, 0.75));
  const MetricsPage page(surface.metrics());
  simdjson::dom::parser parser;
  const simdjson::dom::element shown = parser.parse(surface.state());
  const simdjson::dom::element of_lane = shown["lanes"].at(0);
  for (const auto& [metric, key, rho] : {std::tuple("nustream_epsilon", "epsilons", 0.25),
                                         std::tuple("nustream_epsilon_ledger", "epsilons_ledger", 0.75)}) {
    std::size_t at = 0;
    for (const auto& [text, delta] : {std::pair("1e-06", 1e-6), std::pair("1e-09", 1e-9)}) {
      for (const privacy::Conversion conversion : privacy::conversions) {
        const double expected = privacy::epsilon(Rho{rho}, Delta{delta}, conversion).value();
        const std::string name(privacy::name(conversion));
        const std::string series =
            std::string(metric) + "{conversion=\"" + name + "\",delta=\"" + text + "\",lane=\"3\",stream=\"retail\"}";
        EXPECT_NEAR(std::stod(page.at(series)), expected, 1e-12) << series;
        EXPECT_EQ(double(of_lane[key].at(at)[name]), expected) << key;
      }
      ++at;
    }
  }
  EXPECT_EQ(double(of_lane["epsilon_ledger"]), privacy::epsilon(Rho{0.75}, Delta{1e-6}).value());
}

TEST(PublicSurface, ShowsNoEstimateBeforeOneIsPublished) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 1000, 0.1));
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("nustream_estimate")));
  EXPECT_THAT(surface.state(), HasSubstr(R"("step":null,"position":null,"estimate":null,"average":null)"));
  surface.update(release(0, 900, R"json({"intercept":0.5,"log(x)":-2})json"));
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(R"(nustream_estimate{feature="intercept",lane="0",stream="retail"})"), "0.5");
  EXPECT_EQ(page.at(R"series(nustream_estimate{feature="log(x)",lane="0",stream="retail"})series"), "-2");
  EXPECT_EQ(page.at(of_lane("nustream_steps_total", 0)), "1000") << "the commit's, not the release's";
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("nustream_estimate_average")));
}

TEST(PublicSurface, ShowsTheLastReleaseOfAnOutboxAndCountsAll) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 300, 0.1));
  const std::string outbox = release_line(0, 100, R"({"x":1})") + release_line(0, 200, R"({"x":2})", R"({"x":1.5})");
  surface.update(CommittedRelease::published(outbox));
  surface.update(release(0, 300, R"({"x":3})", R"({"x":2.5})"));
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(of_lane("nustream_releases_total", 0)), "3");
  EXPECT_EQ(page.at(R"(nustream_estimate{feature="x",lane="0",stream="retail"})"), "3");
  EXPECT_EQ(page.at(R"(nustream_estimate_average{feature="x",lane="0",stream="retail"})"), "2.5");
}

TEST(PublicSurface, ShowsIntervalsWhileReleasesHaveThem) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 300, 0.1));
  surface.update(tests::release_with_interval(0, 100));
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(R"(nustream_interval_lower{feature="x",lane="0",stream="retail"})"), "0.5");
  EXPECT_EQ(page.at(R"(nustream_interval_upper{feature="x",lane="0",stream="retail"})"), "1.5");
  EXPECT_THAT(surface.state(), HasSubstr(tests::interval_of_x));
  surface.update(release(0, 200, R"({"x":2})"));
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("nustream_interval_lower{")));
  EXPECT_THAT(surface.state(), Not(HasSubstr("interval")));
}

// A takeover publishes the committed outbox again, and a late completion may name a lane that belongs to another
// process by now.
TEST(PublicSurface, RepeatsAndStrangersChangeNothing) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0, 1));
  surface.update(spend(0, 500, 0.2, 1));
  surface.update(CommittedRelease::published(release_line(0, 400, R"({"x":1})", "null", 1)));
  const std::string metrics = surface.metrics();
  const std::string state = surface.state();
  surface.update(CommittedRelease::published(release_line(0, 400, R"({"x":1})", "null", 1)));
  surface.update(CommittedRelease::published(release_line(0, 300, R"({"x":9})", "null", 1)));
  surface.update(CommittedRelease::published(release_line(0, 450, R"({"x":9})", "null", 0)));
  surface.update(CommittedRelease::published(release_line(7, 450, R"({"x":9})", "null", 1)));
  std::string foreign = release_line(0, 450, R"({"x":9})", "null", 1);
  foreign.replace(foreign.find("retail"), 6, "whoels");
  surface.update(CommittedRelease::published(foreign));
  surface.update(spend(0, 400, 0.1, 1));
  surface.update(spend(0, 900, 0.4, 0));
  surface.update(spend(7, 900, 0.4, 1));
  EXPECT_EQ(surface.metrics(), metrics);
  EXPECT_EQ(surface.state(), state);
}

TEST(PublicSurface, NamesTheUnitOfThePromiseAndItsLimits) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  EXPECT_THAT(surface.metrics(), HasSubstr("protects=\"record\""));
  PublicLane lane = public_lane(1);
  lane.header.promise.user = publish::PromisedUser{
      "customer", users::Limits({{4, 10}}, Mass{2.5}, users::Windows{users::Period{std::chrono::hours(48)}, false})};
  surface.open_lane(std::move(lane));
  for (const char* label : {"protects=\"user\"", "user=\"customer\"", "participations=\"4\"", "separation=\"10\"",
                            "mass=\"2.5\"", "period=\"P2D\"", "times=\"append\""}) {
    EXPECT_THAT(surface.metrics(), HasSubstr(label));
  }
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("worst record")));
}

TEST(PublicSurface, SeriesGoWithTheirLane) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0, 0, Rho{1}));
  surface.open_lane(public_lane(1, 0, Rho{1}));
  for (const std::uint32_t lane : {0U, 1U}) {
    surface.update(spend(lane, 10, 0.1));
    surface.update(release(lane, 10, R"({"x":1})", R"({"x":1})"));
  }
  ASSERT_THAT(surface.metrics(), HasSubstr("lane=\"1\""));
  surface.close_lane(LaneId{1});
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("lane=\"1\"")));
  EXPECT_THAT(surface.state(), Not(HasSubstr("\"lane\":1")));
  EXPECT_THAT(surface.metrics(), HasSubstr("lane=\"0\""));
  surface.close_lane(LaneId{1});
  surface.close_lane(LaneId{0});
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("lane=")));
  EXPECT_THAT(surface.metrics(), HasSubstr("nustream_build_info"));
}

TEST(PublicSurface, ANewEpochBeginsAnew) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0, 0));
  surface.update(spend(0, 500, 0.2));
  surface.update(release(0, 500, R"({"x":1})"));
  surface.open_lane(public_lane(0, 1));
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(of_lane("nustream_steps_total", 0)), "0");
  EXPECT_EQ(page.at(of_lane("nustream_releases_total", 0)), "0");
  EXPECT_FALSE(page.has(R"(nustream_estimate{feature="x",lane="0",stream="retail"})"));
  EXPECT_THAT(surface.state(), HasSubstr("\"epoch\":1,\"steps_committed\":0"));
}

TEST(PublicSurface, TheBudgetIsThereWhereThereIsOne) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("nustream_zcdp_rho_budget")));
  surface.open_lane(public_lane(1, 0, Rho{0.75}));
  EXPECT_EQ(MetricsPage(surface.metrics()).at(of_lane("nustream_zcdp_rho_budget", 1)), "0.75");
}

TEST(PublicSurface, StateIsJsonWithTheNumbersOfTheRelease) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(2));
  surface.open_lane(public_lane(0));
  surface.update(spend(2, 1200, 0.25));
  surface.update(release(2, 1000, R"({"a":0.1,"b":-3.3333333333333337e-10,"c":null})", R"({"a":1,"b":2,"c":3})"));
  surface.update(CommittedModel::published(" { \"parts\" : [ {\"lane\": 2} ] , \"estimate\": {\"a\": 0.10} }\n"));
  EXPECT_THAT(surface.state(), HasSubstr(R"("estimate":{"a":0.1,"b":-3.3333333333333337e-10,"c":null})"));
  EXPECT_THAT(surface.state(), HasSubstr(R"("model":{"parts":[{"lane":2}],"estimate":{"a":0.10}})"));
  simdjson::dom::parser parser;
  const simdjson::dom::element state = parser.parse(surface.state());
  EXPECT_EQ(std::string_view(state["stream"]), "retail");
  ASSERT_EQ(simdjson::dom::array(state["lanes"]).size(), 2u);
  EXPECT_EQ(std::uint64_t(state["lanes"].at(0)["lane"]), 0u) << "lanes by number, whatever order they came in";
  const simdjson::dom::element lane = state["lanes"].at(1);
  EXPECT_EQ(std::uint64_t(lane["epoch"]), 0u);
  EXPECT_EQ(std::uint64_t(lane["steps_committed"]), 1200u);
  EXPECT_EQ(std::uint64_t(lane["step"]), 1000u);
  EXPECT_EQ(std::uint64_t(lane["position"]), 1007u);
  EXPECT_EQ(double(lane["rho"]), 0.25);
  EXPECT_EQ(double(lane["rho_ledger"]), 0.25);
  EXPECT_EQ(double(lane["rho_limit"]), 0.5);
  EXPECT_EQ(double(lane["epsilon"]), privacy::epsilon(Rho{0.25}, Delta{1e-6}).value());
  EXPECT_EQ(double(lane["delta"]), 1e-6);
  EXPECT_EQ(std::string_view(lane["conversion"]), "gaussian");
  EXPECT_EQ(std::string_view(lane["digest"]), tests::serve_digest);
  EXPECT_EQ(bool(lane["private"]), true);
  EXPECT_EQ(double(lane["average"]["b"]), 2);
}

// The owner of lane 0 publishes the combined model. A process that has lost this lane would show an old model for
// ever.
TEST(PublicSurface, TheCombinedModelGoesWithLaneZero) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(1));
  surface.update(CommittedModel::published(R"({"late":1})"));
  EXPECT_THAT(surface.state(), HasSubstr("\"model\":null"));
  surface.open_lane(public_lane(0));
  surface.update(CommittedModel::published(R"({"estimate":1})"));
  EXPECT_THAT(surface.state(), HasSubstr(R"("model":{"estimate":1})"));
  surface.open_lane(public_lane(0, 1));
  surface.close_lane(LaneId{1});
  EXPECT_THAT(surface.state(), HasSubstr(R"("model":{"estimate":1})")) << "a new epoch does not unpublish it";
  surface.close_lane(LaneId{0});
  EXPECT_THAT(surface.state(), HasSubstr("\"model\":null"));
}

// The reason why a lane had to be restored anew may depend on a record.
TEST(PublicSurface, ALaneThatIsRestoredAnewInItsEpochChangesNothing) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 300, 0.1));
  surface.update(
      CommittedRelease::published(release_line(0, 100, R"({"x":1})") + release_line(0, 200, R"({"x":2})")));
  const std::string metrics = surface.metrics();
  const std::string state = surface.state();
  surface.open_lane(public_lane(0));
  EXPECT_EQ(surface.metrics(), metrics);
  surface.update(spend(0, 300, 0.1));
  surface.update(release(0, 200, R"({"x":2})"));
  EXPECT_EQ(surface.metrics(), metrics);
  EXPECT_EQ(surface.state(), state);
}

TEST(PublicSurface, AnIterateThatDivergedIsShownAsSuch) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 1, 0.1));
  surface.update(release(0, 1, R"({"x":null})"));
  EXPECT_EQ(MetricsPage(surface.metrics()).at(R"(nustream_estimate{feature="x",lane="0",stream="retail"})"), "Nan");
}

// With instrumental variables noise may hide a direction of the instruments at any step: the release has no estimate,
// though the ones before and after it have.
TEST(PublicSurface, ShowsNoEstimateWhereNoiseHidesIt) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 300, 0.1));
  const std::string series = R"(nustream_estimate{feature="x",lane="0",stream="retail"})";
  surface.update(release(0, 100, R"({"x":1})"));
  surface.update(release(0, 200, "null"));
  EXPECT_FALSE(MetricsPage(surface.metrics()).has(series));
  EXPECT_THAT(surface.state(), HasSubstr(R"("step":200,"position":207,"estimate":null)"));
  EXPECT_TRUE(surface.page({}));
  surface.update(release(0, 300, R"({"x":3})"));
  EXPECT_EQ(MetricsPage(surface.metrics()).at(series), "3");
  EXPECT_THAT(*surface.history(LaneId{0}), HasSubstr(R"("estimate":null)"));
}

// A journal's completions must be told in their order: in the reverse order the surface would show a release that no
// durable state covers.
TEST(PublicSurfaceDeathTest, RefusesAReleaseThatNoCommittedStateCovers) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 99, 0.1));
  EXPECT_DEATH(surface.update(release(0, 100, R"({"x":1})")), "after the commit of its state");
}

TEST(PublicSurfaceDeathTest, RefusesAReleaseOfTheOtherKind) {
  PublicSurface surface("retail");
  surface.open_lane(public_lane(0));
  surface.update(spend(0, 100, 0.1));
  const std::string line = release_line(0, 100, R"({"x":1})", "null", 0, "false");
  EXPECT_DEATH(surface.update(CommittedRelease::published(line)), "of its own kind");
}

TEST(CommittedRelease, RefusesWhatIsNoWholeRelease) {
  const std::string line = release_line(0, 1, R"({"x":1})");
  for (const std::string& outbox :
       {std::string(), std::string("\n"), line.substr(0, line.size() - 1), line + "{\"torn\":", line + "\n"}) {
    tests::expect_failure(Exit::internal, [&] { static_cast<void>(CommittedRelease::published(outbox)); });
  }
  EXPECT_EQ(CommittedRelease::published(line + line + line).count(), 3u);
}

TEST(CommittedModel, RefusesWhatIsNoObject) {
  for (const char* record : {"", "[1]", "1", "{\"a\":", "{\"a\":1} {\"b\":2}"}) {
    tests::expect_failure(Exit::internal, [&] { static_cast<void>(CommittedModel::published(record)); });
  }
}

}  // namespace
}  // namespace nustream::serve
