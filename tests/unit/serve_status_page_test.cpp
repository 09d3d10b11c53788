// The status page without a browser: what stands on it, escaped, and what never stands there.
#include "serve/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "serve/operator_surface.h"
#include "serve/page_parts.h"
#include "serve_lanes.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::public_lane;
using tests::release;
using tests::release_with_verdict;
using tests::spend;

TEST(PagePlace, IsOfPathsThatAPageHas) {
  EXPECT_EQ(page_place("/")->lane, std::nullopt);
  EXPECT_EQ(page_place("/lanes/3")->lane, LaneId{3});
  EXPECT_EQ(page_place("/lanes/3/from/24")->first_coefficient, 24U);
  for (const char* const other :
       {"", "//", "/lanes", "/lanes/", "/lanes/x", "/lanes/-1", "/lanes/3/", "/lanes/3/from/", "/lanes/3/from/5",
        "/lanes/3/from/12/", "/lanes/4294967296", "/index.html"}) {
    EXPECT_FALSE(page_place(other)) << other;
  }
}

TEST(RightGuesses, AreThoseOfTheBestTestBetweenTwoGaussians) {
  EXPECT_DOUBLE_EQ(page::right_guesses(0), 0.5);
  // The number is Φ(1/2), from a table of the normal distribution, for μ = 1, which is ρ = 1/2.
  EXPECT_NEAR(page::right_guesses(0.5), 0.6914624612740131, 1e-15);
  EXPECT_EQ(page::times_in_hundred(0.5), "50.0 times in 100");
  EXPECT_EQ(page::times_in_hundred(0.69146), "69.2 times in 100") << "rounded up";
  EXPECT_EQ(page::times_in_hundred(0.9999), "practically always");
}

class StatusPage : public ::testing::Test {
 protected:
  StatusPage() {
    surface_.open_lane(public_lane(0));
    surface_.update(spend(0, 100, 0.125));
    surface_.update(release(0, 100, R"({"x":0.123456789,"<b>":-2})", R"({"x":0.25,"<b>":1e-9})"));
  }
  [[nodiscard]] std::string page(const PagePlace& place = {}) const { return surface_.page(place).value_or(""); }

  PublicSurface surface_{"retail"};
};

TEST_F(StatusPage, HasTheExactNumbersOfTheState) {
  EXPECT_THAT(page(), HasSubstr("<data value=\"0.123456789\">0.12346</data>"));
  EXPECT_THAT(page(), HasSubstr("<data value=\"1e-09\">1e-09</data>"));
  EXPECT_THAT(page(), HasSubstr("ρ <data value=\"0.125\">0.125</data>"));
  EXPECT_THAT(surface_.state(), HasSubstr("\"x\":0.123456789"));
}

TEST_F(StatusPage, HasEveryConversionOfTheEpochOfItsLimitAndOfTheLedger) {
  const std::string text = page();
  for (const char* what : {"spent in this epoch", "what this epoch can ever spend", "spent over all epochs"}) {
    EXPECT_THAT(text, HasSubstr(std::string("<th scope=\"row\">") + what + "</th><td>1e-06</td>")) << what;
  }
  // By zcdp-simple, ρ + 2√(ρ ln 1/δ), of the limit ρ = 1/2.
  const std::string limit = text.substr(text.find("can ever spend</th>"), 300);
  EXPECT_THAT(limit, HasSubstr(page::shown(0.5 + 2 * std::sqrt(0.5 * std::log(1e6)))));
}

TEST_F(StatusPage, SaysInWordsWhatAReaderCanTell) {
  // Φ(√(2·0.125)/2) = Φ(0.25) = 0.5987 so far; for ever it is Φ(√(2·0.5)/2) = Φ(0.5) = 0.6915.
  EXPECT_THAT(page(), HasSubstr("at most <strong>59.9 times in 100</strong>"));
  EXPECT_THAT(page(), HasSubstr("more than <strong>69.2 times in 100</strong>"));
  EXPECT_THAT(page(), HasSubstr("whether one record held what it held or nothing at all better than this"));
}

TEST_F(StatusPage, NamesTheUnitOfItsNoiseAndWhatIsEstimated) {
  EXPECT_THAT(page(), HasSubstr("Noise, in units of what one record can do"));
  PublicLane lane = public_lane(1);
  lane.header.promise.user = publish::PromisedUser{"customer", users::Limits({{4, 10}}, {})};
  surface_.open_lane(std::move(lane));
  const std::string by_user = page({LaneId{1}, 0});
  EXPECT_THAT(by_user, HasSubstr("Noise, in units of what one contribution of a user can do"));
  EXPECT_THAT(by_user, HasSubstr("let in (at most 4 contributions, 10 steps apart)"));
}

TEST_F(StatusPage, PromisesNothingWhereTheNoiseIsKnown) {
  PublicLane lane = public_lane(1);
  lane.header.promise.is_private = false;
  surface_.open_lane(std::move(lane));
  EXPECT_THAT(page({LaneId{1}, 0}), HasSubstr("These figures promise nothing"));
  EXPECT_THAT(page({LaneId{1}, 0}), Not(HasSubstr("times in 100</strong>")));
}

TEST_F(StatusPage, SaysWhetherThePathHasSettled) {
  EXPECT_THAT(page(), Not(HasSubstr("the path"))) << "where the release does not say";
  surface_.open_lane(public_lane(1));
  surface_.update(spend(1, 300, 0.2));
  const PagePlace lane{LaneId{1}, 0};
  surface_.update(release_with_verdict(1, 150, "settled"));
  EXPECT_THAT(page(lane), HasSubstr("<p>Of this estimate the path has settled"));
  surface_.update(release_with_verdict(1, 200, "converging"));
  EXPECT_THAT(page(lane), HasSubstr("<p>Of this estimate the path still converges"));
  surface_.update(release_with_verdict(1, 250, "diverged"));
  EXPECT_THAT(page(lane), HasSubstr("<p class=\"alarm\">Of this estimate the path has diverged"));
}

TEST_F(StatusPage, EscapesNames) {
  EXPECT_THAT(page(), HasSubstr("<th scope=\"row\">&lt;b&gt;</th>"));
  EXPECT_THAT(page(), Not(HasSubstr("<b>")));
  PublicSurface evil("\"><script>x</script>");
  EXPECT_THAT(*evil.page({}), Not(HasSubstr("<script>x")));
  EXPECT_THAT(*evil.page({}), HasSubstr("<title>&quot;&gt;&lt;script&gt;x&lt;/script&gt; · nustream</title>"));
}

TEST_F(StatusPage, SaysThatTheBudgetIsUsedUp) {
  surface_.open_lane(public_lane(2, 0, Rho{0.4}, StepCount{200}));
  surface_.update(spend(2, 199, 0.3));
  EXPECT_THAT(page(), Not(HasSubstr("is used up")));
  surface_.update(spend(2, 200, 0.3));
  EXPECT_THAT(page(), HasSubstr("The budget of lane 2 is used up"));
}

TEST_F(StatusPage, OfRunningSumsSaysWhatNoiseHidesAndHasNoStepSize) {
  EXPECT_THAT(page(), HasSubstr("Size of the next step"));
  EXPECT_THAT(page(), HasSubstr("Steps taken, one a record"));
  EXPECT_THAT(surface_.metrics(), HasSubstr("nustream_step_size{"));
  PublicLane lane = public_lane(0, 1);
  lane.schedule.reset();
  lane.records_of_a_step = 1000;
  surface_.open_lane(std::move(lane));
  surface_.update(spend(0, 7, 0.1, 1));
  surface_.update(tests::release_of_sums(0, 7, 2, 1));
  EXPECT_THAT(page(), HasSubstr("Noise hides 2 directions"));
  EXPECT_THAT(page(), HasSubstr("one for 1,000 records"));
  EXPECT_THAT(page(), Not(HasSubstr("Size of the next step")));
  EXPECT_THAT(page(), Not(HasSubstr("Last iterate")));
  EXPECT_THAT(surface_.metrics(), Not(HasSubstr("nustream_step_size{")));
  EXPECT_THAT(surface_.metrics(), HasSubstr(tests::of_lane("nustream_floored_directions", 0) + " 2"));
  EXPECT_THAT(surface_.state(), HasSubstr(R"("moments":{"records":7000,"floored":2})"));
}

// The path is drawn over the steps of all lanes, and begins anew behind a new epoch.
TEST_F(StatusPage, DrawsThePathOfTheCombinedModel) {
  const auto publish = [&](int step, const std::string& value) {
    surface_.update(CommittedModel::published(R"({"parts":[{"lane":0,"step":100},{"lane":1,"step":)" +
                                              std::to_string(step) + R"(}],"estimate":{"x":)" + value +
                                              R"(,"<b>":1},"average":null})"));
  };
  publish(100, "0.5");
  EXPECT_THAT(page(), Not(HasSubstr("Combined model"))) << "of one lane there is none";
  surface_.open_lane(public_lane(1));
  const std::string one = page();
  EXPECT_THAT(one, HasSubstr("<data value=\"0.5\">0.5</data>"));
  EXPECT_THAT(one, HasSubstr("At step 200 the quoted estimate is 0.5"));
  publish(150, "0.75");
  const std::string two = page();
  EXPECT_THAT(two, HasSubstr("At step 250 the quoted estimate is 0.75"));
  // A single point does not make a line.
  const auto is_path = [](const std::string& text) {
    const std::size_t path = text.find("<path class=\"line", text.find("id=\"model\""));
    return path != std::string::npos &&
           text.substr(path, text.find("/>", path) - path).find('L') != std::string::npos;
  };
  EXPECT_FALSE(is_path(one));
  EXPECT_TRUE(is_path(two));
  publish(50, "0.25");
  EXPECT_FALSE(is_path(page()));
}

TEST_F(StatusPage, IsOfLanesAndCoefficientsThatThereAre) {
  EXPECT_TRUE(page({LaneId{1}, 0}).empty());
  EXPECT_TRUE(page({LaneId{0}, 12}).empty());
  EXPECT_THAT(*PublicSurface("retail").page({}), HasSubstr("No lane is open here: the service starts"));
}

// What was published can still be seen while a broker is lost, and where other instances have the lanes.
TEST_F(StatusPage, KeepsWhatWasPublishedWhileNoLaneIsOpen) {
  const std::string open = page();
  EXPECT_THAT(open, HasSubstr("/api/v1/history/0\""));
  surface_.open_lane(public_lane(1));
  surface_.close_lane(LaneId{0});
  EXPECT_TRUE(page({LaneId{0}, 0}).empty()) << "while another one is open";
  surface_.close_lane(LaneId{1});
  EXPECT_THAT(surface_.state(), HasSubstr("\"lanes\":[]"));
  EXPECT_THAT(surface_.metrics(), Not(HasSubstr("nustream_estimate{")));
  EXPECT_EQ(surface_.history(LaneId{0}), std::nullopt);
  const std::string former = page();
  EXPECT_THAT(former, HasSubstr("No lane is open here: the service waits"));
  EXPECT_THAT(former, HasSubstr("others may have gone on since"));
  EXPECT_THAT(former, HasSubstr("/api/v1/history\"")) << "that of a closed lane is not there";
  const auto section = [](const std::string& text, const std::string& id) {
    const std::size_t begin = text.find("<section id=\"" + id);
    return text.substr(begin, text.find("</section>", begin) - begin);
  };
  EXPECT_EQ(section(former, "privacy"), section(open, "privacy"));
  EXPECT_THAT(former, HasSubstr("<data value=\"0.123456789\">0.12346</data>"));
  EXPECT_FALSE(page({LaneId{1}, 0}).empty());
  surface_.open_lane(public_lane(1));
  EXPECT_THAT(page(), Not(HasSubstr("No lane is open")));
  EXPECT_TRUE(page({LaneId{0}, 0}).empty()) << "it is open elsewhere";
}

// What the operator sees changes no byte of the public page.
TEST_F(StatusPage, IsTheSameWhateverTheOperatorSees) {
  OperatorSurface operators(surface_);
  operators.set_phase(Phase::serving);
  OperatorMetrics::Lane& lane = operators.open_lane(LaneId{0});
  operators.set_state(LaneId{0}, LaneStatus::running);
  const std::string before = page();
  lane.records->Increment(77);
  lane.release_latency_seconds->Observe(0.5);
  operators.set_state(LaneId{0}, LaneStatus::restoring, "a reason");
  EXPECT_EQ(page(), before);
  EXPECT_THAT(*operators.page({}), HasSubstr("a reason"));
  EXPECT_THAT(*operators.page({}), HasSubstr("<td>77</td>"));
  EXPECT_THAT(*operators.page({}), HasSubstr("Not private"));
  EXPECT_THAT(before, Not(HasSubstr("perator")));
}

TEST(SpendByAge, RisesToWhatTheMechanismSays) {
  const privacy::Spend spend(noise::Correlation(noise::NuFtrl{Damping{0.01}, std::nullopt}),
                             privacy::Participation::once(), NoiseMultiplier{2});
  const SpendByAge ages = spend_by_age(spend, StepCount{4096});
  ASSERT_GT(ages.size(), 70U);
  EXPECT_EQ(ages.front().first, 1U);
  EXPECT_EQ(ages.back().first, 4096U);
  for (const auto& [age, rho] : ages) EXPECT_EQ(rho, spend.of_age(StepCount{age}).value()) << age;
  // Most of the ρ is spent at small ages, so half of the ages that are told are small.
  EXPECT_LT(ages[ages.size() / 2].first, 150U);
}

}  // namespace
}  // namespace nustream::serve
