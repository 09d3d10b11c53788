// The numbers beside every ρ: for each δ, by each conversion, over all epochs, and for a person with several records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "publish/epsilons.h"
#include "publish/json_text.h"
#include "publish/release_json.h"

namespace nustream::publish {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::array deltas{Delta{1e-6}, Delta{1e-9}};

TEST(Epsilons, AreThoseOfEveryConversionAtEveryDelta) {
  const auto all = epsilons_of(Rho{0.3}, deltas);
  ASSERT_EQ(all.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(all[i].delta, deltas[i].value());
    EXPECT_EQ(all[i].by[0], privacy::epsilon(Rho{0.3}, deltas[i], privacy::Conversion::gaussian).value());
    EXPECT_EQ(all[i].by[1], privacy::epsilon(Rho{0.3}, deltas[i], privacy::Conversion::zcdp).value());
    EXPECT_EQ(all[i].by[2], privacy::epsilon(Rho{0.3}, deltas[i], privacy::Conversion::zcdp_simple).value());
    EXPECT_LT(all[i].by[0], all[i].by[1]);
    EXPECT_LT(all[i].by[1], all[i].by[2]);
  }
  const std::string out = object_text([&](JsonWriter& json) { append_epsilons("epsilons", all, json); });
  EXPECT_THAT(out, HasSubstr(R"({"epsilons":[{"delta":1e-06,"gaussian":)"));
  EXPECT_THAT(out, HasSubstr(R"(},{"delta":1e-09,"gaussian":)"));
  EXPECT_THAT(out, HasSubstr(R"(,"zcdp-simple":)"));
}

record::Schema one_feature() {
  record::Schema schema;
  schema.features = {{.name = "a", .first = {}, .second = {}, .center = 0, .scale = 1}};
  schema.intercept = true;
  return schema;
}

ReleaseEncoder encoder(LedgerTotal total, bool tells_ages = false) {
  const lane::Settings settings{.dimension = 0,
                                .loss = {.kind = model::Loss::Kind::linear},
                                .clip = ClipNorm{1},
                                .schedule = descent::Schedule{descent::Constant{StepSize{0.1}}},
                                .projection = {},
                                .averaging = {},
                                .start = {}};
  ReleaseHeader header{"stream", LaneId{0}, EpochId{1}, deltas[0], "d1gest", {true}};
  header.more_deltas = {deltas[1]};
  header.tells_ages = tells_ages;
  return {std::move(header),
          OriginalUnits(one_feature(), settings),
          privacy::Spend{noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})}, privacy::Participation::once(),
                         NoiseMultiplier{2.0}},
          {},
          {},
          std::move(total)};
}

std::string line_of(LedgerTotal total) {
  std::string line;
  encoder(std::move(total)).append({StepCount{30}, Position{47}, std::vector<double>(2), {}}, "cadence", line);
  return line;
}

// Where no epoch was before, the spend of the epoch is that of all epochs.
TEST(ReleaseSpend, IsTheLedgersWhereNoEpochWasBefore) {
  const auto shown = read_release(line_of({}));
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->rho_ledger, shown->rho);
  EXPECT_EQ(shown->epsilon_ledger, shown->epsilon);
  EXPECT_EQ(shown->epsilons, epsilons_of(Rho{shown->rho}, deltas));
  EXPECT_EQ(shown->epsilons_ledger, shown->epsilons);
}

TEST(ReleaseSpend, OfALaterEpochIsBesideWhatAllHaveSpent) {
  const auto shown = read_release(line_of([](Rho spent, StepCount steps, Position position) {
    EXPECT_EQ(steps, StepCount{30});
    EXPECT_EQ(position, Position{47});
    return Rho{spent.value() + 0.5};
  }));
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->rho_ledger, shown->rho + 0.5);
  EXPECT_EQ(shown->epsilon, epsilons_of(Rho{shown->rho}, deltas)[0].by[0]);
  EXPECT_EQ(shown->epsilon_ledger, epsilons_of(Rho{shown->rho + 0.5}, deltas)[0].by[0]);
  EXPECT_EQ(shown->epsilons, epsilons_of(Rho{shown->rho}, deltas));
  EXPECT_EQ(shown->epsilons_ledger, epsilons_of(Rho{shown->rho + 0.5}, deltas));
}

// Older files do not have these fields (docs/formats/releases.md).
TEST(ReleaseSpend, OfAnOlderLineIsTheEpochs) {
  std::string line = line_of([](Rho spent, StepCount, Position) { return Rho{2 * spent.value()}; });
  for (const char* key : {",\"rho_ledger\"", ",\"epsilon_ledger\"", ",\"epsilons\"", ",\"epsilons_ledger\""}) {
    const std::size_t at = line.find(key);
    ASSERT_NE(at, std::string::npos) << key;
    line.replace(at + 2, 1, 1, '_');
  }
  const auto shown = read_release(line);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->rho_ledger, shown->rho);
  EXPECT_TRUE(shown->epsilons.empty());
}

// The ages are powers of two, and each age costs the same in every release that tells it.
TEST(ReleaseSpend, ByAgeIsThatOfRecordsAsOldAsTheStepsSince) {
  ReleaseEncoder telling = encoder({}, true);
  const privacy::Spend spend{noise::Correlation{noise::Rational::nu_ftrl(Damping{0.01})},
                             privacy::Participation::once(), NoiseMultiplier{2.0}};
  std::string expected;
  for (const std::uint64_t age : {1U, 2U, 4U, 8U, 16U}) {
    expected += (expected.empty() ? "\"" : ",\"") + std::to_string(age) + "\":";
    append_number(spend.of_age(StepCount{age}).value(), expected);
    for (const std::uint64_t steps : {age, 2 * age - 1}) {
      std::string line;
      telling.append({StepCount{steps}, Position{47}, std::vector<double>(2), {}}, "cadence", line);
      EXPECT_THAT(line, HasSubstr(",\"rho_by_age\":{" + expected + "}")) << steps;
    }
  }
  EXPECT_THAT(line_of({}), Not(HasSubstr("rho_by_age")));
}

TEST(Groups, SayWhereHardlyAnythingIsPromised) {
  const Delta delta{1e-6};
  const std::array groups{group_spend(10, Rho{1}, delta), group_spend(100, Rho{100}, delta)};
  ASSERT_LT(groups[0].epsilon, hardly_anything);
  const std::string text = groups_text(groups, 1e-6);
  EXPECT_THAT(text, HasSubstr("a person with  10 records: rho at most 1, epsilon 7.286 at delta 1e-06\n"));
  EXPECT_THAT(text, HasSubstr("a person with 100 records: rho at most 100, epsilon "));
  EXPECT_THAT(text, HasSubstr("at delta 1e-06: hardly anything is promised\n"));
}

TEST(LargeDelta, IsOneThatTenRecordsOfThoseThatThereAreWouldKeep) {
  EXPECT_EQ(large_delta(std::vector{Delta{1e-6}}, 1'000'000), "");
  EXPECT_EQ(large_delta(std::vector{Delta{1e-6}}, 10'000'000), "");
  EXPECT_THAT(large_delta(std::vector{Delta{1e-6}}, 50'000'000), HasSubstr("shows 50 of them whole"));
  EXPECT_THAT(large_delta(std::vector{Delta{1e-6}, Delta{1e-2}}, 5000),
              HasSubstr("privacy.delta = 0.01 is far above 1/n of 5000 records"));
  EXPECT_EQ(large_delta(std::vector{Delta{0.5}}, 0), "");
}

}  // namespace
}  // namespace nustream::publish
