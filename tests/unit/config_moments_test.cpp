// model.estimator = "moments": what it reads and refuses, what it costs, and what its digest holds.
#include "config/moments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "config_reading.h"
#include "engine/table_design.h"
#include "nustream/moments/budget.h"

namespace nustream::config {
namespace {

using ::testing::HasSubstr;

constexpr const char* text = R"([stream]
name = "sums"
input = "rows.csv"
columns = ["x", "y"]
[target]
column = "y"
[[features]]
column = "x"
[model]
estimator = "moments"
[moments]
row_norm = 4
residual_bound = 6
[privacy]
rho = 0.1
delta = 1e-6
)";

Mechanism mechanism_of(const Config& config) {
  return make_mechanism(config, privacy::Participation::once());
}

TEST(MomentsConfig, NeedsNoDescentAndNoNoise) {
  const Config config = read({}, text);
  ASSERT_TRUE(config.moments);
  EXPECT_EQ(config.descent.minibatch, 1000U) << "records of a step: release.every";
  EXPECT_EQ(config.descent.release_every, 1U);
  EXPECT_EQ(config.moments->stages.size(), 1U);
  const Mechanism mechanism = mechanism_of(config);
  ASSERT_EQ(mechanism.stages.size(), 2U);
  EXPECT_EQ(mechanism.stages[0].name, "second moments");
  EXPECT_EQ(mechanism.stages[0].dimension, 3U);
  EXPECT_EQ(mechanism.stages[1].name, "target moments");
  EXPECT_EQ(mechanism.stages[1].dimension, 2U);
  EXPECT_FALSE(mechanism.horizon()) << "for ever, at a finite spend";
  EXPECT_LE(mechanism.spend.limit().value(), 0.1);
  EXPECT_GE(mechanism.spend.limit().value(), 0.1 * (1 - 1e-12));
}

// Nothing is read of the section of the estimator that is not asked for.
TEST(MomentsConfig, StandsBesideADescent) {
  const std::string both = std::string(text) + "[descent]\nclip_norm = 1\nstep_size = 0.1\n[noise]\nnu = 0.01\n";
  EXPECT_TRUE(read({}, both).moments);
  const Config descent = read({"model.estimator=descent"}, both);
  EXPECT_FALSE(descent.moments);
  EXPECT_EQ(descent.descent.minibatch, 1U);
}

TEST(MomentsConfig, RefusesWhatItCannotDo) {
  const auto refused = [](const std::vector<std::string>& overrides, const char* said) {
    EXPECT_THAT(refusal(overrides, text), HasSubstr(said));
  };
  refused({"model.loss=logistic"}, "model.loss");
  refused({"model.l2=1"}, "model.l2");
  refused({"moments.row_norm=0"}, "moments.row_norm");
  refused({"moments.residual_bound=-1"}, "moments.residual_bound");
  refused({"moments.residual_bound=nan"}, "moments.residual_bound");
  refused({"moments.second_moment_share=1"}, "second_moment_share");
  refused({"moments.memory=1500"}, "moments.memory");
  refused({"moments.restage_every=1000"}, "restage_every");
  refused({"moments.releases=0"}, "moments.releases");
  refused({"moments.start=[1]"}, "moments.start");
  refused({"moments.step=1"}, "step");
  refused({"release.every=0"}, "release.every");
  refused({"release.every=100000000000"}, "release.every");
  refused({"intervals.kind=batch-means"}, "intervals.kind");
  refused({"intervals.kind=residuals"}, "intervals.kind");  // residuals need a single stage
  refused({"privacy.calibration=proposition-3.1"}, "calibration");
  const std::string stages = std::string(text) + "[[moments.stages]]\nfrom = ";
  EXPECT_THAT(refusal({}, stages + "1500\n"), HasSubstr("from"));
  EXPECT_THAT(refusal({}, stages + "2000\n[[moments.stages]]\nfrom = 1000\n"), HasSubstr("from"));
  const std::string without = std::string(text).replace(std::string(text).find("row_norm = 4"), 12, "");
  EXPECT_THAT(refusal({}, without), HasSubstr("row_norm"));
}

TEST(MomentsConfig, LaterStagesKeepTheRadiiThatTheyDoNotChange) {
  const Config config = read({}, std::string(text) + "[[moments.stages]]\nfrom = 5000\nresidual_bound = 2\n");
  ASSERT_EQ(config.moments->stages.size(), 2U);
  EXPECT_EQ(config.moments->stages[1].radii.inputs, 4);
  EXPECT_EQ(config.moments->stages[1].radii.target, 2);
  EXPECT_EQ(moments_settings(config, mechanism_of(config)).stages[1].first, 5U) << "in steps";
}

TEST(MomentsConfig, UnitsGrowAtSharesOfAKnownNumberOfReleases) {
  const auto firsts = [](const std::vector<std::string>& overrides) {
    const Config config = read(overrides, text);
    const moments::Settings settings = moments_settings(config, mechanism_of(config));
    EXPECT_TRUE(settings.grows);
    std::vector<std::uint64_t> all;
    for (const moments::StageStart& stage : settings.stages) all.push_back(stage.first);
    return all;
  };
  using Firsts = std::vector<std::uint64_t>;
  EXPECT_EQ(firsts({"moments.stages=growing", "moments.releases=1000"}), (Firsts{0, 50, 100, 200, 400, 700}));
  EXPECT_EQ(firsts({"moments.stages=growing", "moments.releases=99"}), (Firsts{0, 5, 10, 20, 40, 69}));
  EXPECT_EQ(firsts({"moments.stages=growing", "moments.releases=7"}), (Firsts{0, 1, 3, 5}));
  EXPECT_EQ(firsts({"moments.stages=growing", "moments.releases=1"}), (Firsts{0}));
  const Firsts endless = firsts({"moments.stages=growing"});
  ASSERT_EQ(endless.size(), 29U);
  EXPECT_EQ((Firsts{endless.begin(), endless.begin() + 4}), (Firsts{0, 16, 32, 64}));
  EXPECT_EQ(endless.back(), std::uint64_t{1} << 31U);
  EXPECT_FALSE(moments_settings(read({}, text), mechanism_of(read({}, text))).grows) << "only where it is asked for";
}

TEST(MomentsConfig, UnitsGrowForPlainSumsWithAnInterceptAlone) {
  const auto refused = [](const std::vector<std::string>& more, const char* said) {
    std::vector<std::string> overrides{"moments.stages=growing"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    EXPECT_THAT(refusal(overrides, text), HasSubstr(said));
  };
  refused({"moments.memory=100000"}, "moments.stages");
  refused({"model.intercept=false"}, "moments.stages");
  refused({"release.moments=true"}, "moments.stages");
  refused({"weight={column = \"w\", max = 10}"}, "where records have weights");
  refused({"privacy.unit=user", "privacy.user=u", "privacy.participations=3"}, "where the unit is the user");
  EXPECT_EQ(read({"moments.stages=growing"}, text).moments->spread, moments::Spread::none) << "growth costs nothing";
  EXPECT_FALSE(read({"moments.stages=growing"}, text).moments->keeps_marks) << "there is no status without intervals";
  EXPECT_THAT(refusal({"moments.stages=grow"}, text), HasSubstr("growing"));
}

// Where the target alone is private, it must not decide how the rest of its record is read, here as in two-stage
// models.
TEST(MomentsConfig, ATargetAloneIsProtectedWhereItsTextIsTheLastOfALine) {
  const Config config = read({"privacy.protects=target"}, text);
  EXPECT_TRUE(config.schema.features_public);
  const Mechanism mechanism = mechanism_of(config);
  ASSERT_EQ(mechanism.stages.size(), 1U) << "xx' is public and has no noise";
  EXPECT_EQ(mechanism.stages[0].name, "target moments");
  EXPECT_THAT(refusal({"privacy.protects=target", "stream.format=jsonl"}, text), HasSubstr("protects"));
  EXPECT_THAT(refusal({"privacy.protects=target", "stream.columns=[\"y\",\"x\"]"}, text), HasSubstr("protects"));
}

// The spend that the ledger writes is that of all blocks together, as the moments room computes it, and never less.
TEST(MomentsConfig, TheSpendIsThatOfAllBlocksTogether) {
  for (const char* adjacency : {"zero-out", "replace-one"}) {
    for (const char* protects : {"record", "target"}) {
      for (const double share : {0.05, 0.5, 0.9}) {
        for (const std::uint64_t times : {1U, 3U}) {
          const Config config =
              read({"privacy.adjacency=" + std::string(adjacency), "privacy.protects=" + std::string(protects),
                    "moments.second_moment_share=" + std::to_string(share), "intervals.kind=sandwich",
                    "moments.memory=50000", "moments.restage_every=10000"},
                   text);
          const privacy::Participation participation{times, 7};
          const Mechanism mechanism = make_mechanism(config, participation);
          const moments::Settings settings = moments_settings(config, mechanism);
          EXPECT_EQ(settings.mechanism.participation, (moments::BatchParticipation{times, 7000, 1000}));
          const moments::Spend own(settings.mechanism, settings.sigmas);
          for (const std::uint64_t steps : {1U, 6U, 8U, 50U, 10'000U}) {
            const double claimed = mechanism.spend.after(StepCount{steps}).value();
            const double exact = own.after(StepCount{steps}).value();
            EXPECT_GE(claimed, exact * (1 - 1e-13)) << adjacency << ' ' << protects << ' ' << share << ' ' << steps;
            EXPECT_LE(claimed, exact * (1 + 1e-12)) << adjacency << ' ' << protects << ' ' << share << ' ' << steps;
          }
          EXPECT_LE(mechanism.spend.limit().value(), 0.1);
          EXPECT_GE(mechanism.spend.limit().value(), 0.1 * (1 - 1e-10));
        }
      }
    }
  }
}

TEST(MomentsConfig, TheNoiseIsTheBlocksOwn) {
  const Config config = read({"privacy.adjacency=replace-one"}, text);
  const Mechanism mechanism = mechanism_of(config);
  EXPECT_DOUBLE_EQ(mechanism.stages[0].displacement.value(), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(mechanism.stages[1].displacement.value(), 2.0);
  for (std::size_t i = 0; i < 2; ++i) {
    const CalibratedStage& stage = mechanism.stages[i];
    EXPECT_DOUBLE_EQ(stage.stddev.value(), stage.sigma.value() * stage.displacement.value());
    EXPECT_LE(mechanism.grids[i].spacing(), stage.stddev.value() * 0x1p-31);
    EXPECT_GE(mechanism.grids[i].spacing(), stage.stddev.value() * 0x1p-33);
  }
}

TEST(MomentsConfig, TheCorrelationFollowsFromWhatIsSummed) {
  EXPECT_FALSE(mechanism_of(read({}, text)).horizon());
  EXPECT_EQ(mechanism_of(read({"moments.releases=398"}, text)).horizon(), StepCount{398});
  const Config forgetting = read({"moments.memory=100000"}, text);
  const auto& rational = std::get<noise::Rational>(forgetting.noise.correlation.family());
  EXPECT_DOUBLE_EQ(rational.q().front(), 0.99) << "the slowest mode forgets as the sums do: 1 - every/memory";
}

TEST(MomentsConfig, TheDigestChangesWithEverythingThatChangesASum) {
  const std::string stages = std::string(text) + "[[moments.stages]]\nfrom = 5000\n";
  const auto digest = [&](const std::vector<std::string>& overrides) {
    const Config config = read(overrides, stages);
    return settings_digest(config, mechanism_of(config));
  };
  std::set<std::string> digests{digest({})};
  const std::vector<std::vector<std::string>> changes{{"release.every=500"},
                                                      {"moments.row_norm=5"},
                                                      {"moments.residual_bound=5"},
                                                      {"moments.stages.0.from=6000"},
                                                      {"moments.stages.0.residual_bound=2"},
                                                      {"moments.memory=200000"},
                                                      {"moments.stages=growing"},
                                                      {"moments.memory=200000", "moments.restage_every=50000"},
                                                      {"moments.releases=100"},
                                                      {"moments.residual_variance=2"},
                                                      {"moments.start=[1,0]"},
                                                      {"moments.second_moment_share=0.4"},
                                                      {"intervals.kind=residuals"},
                                                      {"intervals.kind=sandwich"},
                                                      {"intervals.kind=sandwich", "intervals.share=0.2"},
                                                      {"privacy.rho=0.2"},
                                                      {"privacy.adjacency=replace-one"},
                                                      {"privacy.protects=target"},
                                                      {"features.0.scale=2"}};
  for (const auto& change : changes) EXPECT_TRUE(digests.insert(digest(change)).second) << change.front();
  EXPECT_EQ(digest({"state.commit_records=7"}), digest({}));
  EXPECT_EQ(digest({"release.moments=true"}), digest({})) << "what is shown of the same sums";
}

const std::string with_instruments = [] {
  std::string whole = text;
  whole.replace(whole.find("[\"x\", \"y\"]"), 10, "[\"x\", \"z\", \"v\", \"y\"]");
  return whole + "[[instruments]]\ncolumn = \"z\"\n[[endogenous]]\ncolumn = \"v\"\nscale = 2\n";
}();

TEST(MomentsConfig, InstrumentsAreScaledAndSharedByThemselves) {
  EXPECT_THAT(refusal({}, with_instruments), HasSubstr("regressor_bound"));
  const Config config = read({"moments.regressor_bound=5", "moments.second_moment_share=0.2"}, with_instruments);
  const Mechanism mechanism = mechanism_of(config);
  ASSERT_EQ(mechanism.stages.size(), 3U);
  EXPECT_EQ(mechanism.stages[0].dimension, 6U) << "the intercept, x and z";
  EXPECT_EQ(mechanism.stages[1].name, "regressor moments");
  EXPECT_EQ(mechanism.stages[1].dimension, 3U);
  EXPECT_EQ(mechanism.stages[2].dimension, 3U);
  EXPECT_NEAR(mechanism.stages[0].rho.value(), 0.02, 1e-12);
  EXPECT_NEAR(mechanism.stages[1].rho.value(), 0.04, 1e-12) << "half of what is left";
  EXPECT_NEAR(mechanism.stages[2].rho.value(), 0.04, 1e-12);
  EXPECT_EQ(moments_settings(config, mechanism).controls, 2U);
  const std::string bound = "moments.regressor_bound=5";
  EXPECT_THAT(refusal({bound, "intervals.kind=sandwich", "moments.stages=[{from=1000}]"}, with_instruments),
              HasSubstr("residuals"));
  EXPECT_THAT(refusal({bound, "moments.regressor_share=1"}, with_instruments), HasSubstr("regressor_share"));
  EXPECT_THAT(refusal({bound, "moments.start=[1,2,3]"}, with_instruments), HasSubstr("6 parameters"));
  const auto digest = [&](const std::vector<std::string>& overrides) {
    const Config other = read(overrides, with_instruments);
    return settings_digest(other, mechanism_of(other));
  };
  std::set<std::string> digests{digest({bound})};
  for (const char* change : {"moments.regressor_bound=6", "moments.regressor_share=0.4"}) {
    EXPECT_TRUE(digests.insert(digest({bound, change})).second) << change;
  }
}

// Coefficients by name are those of a release: the lane begins about their reduced form.
TEST(MomentsConfig, AStartByNameIsTheReducedFormOfARelease) {
  const Config config = read(
      {"moments.regressor_bound=5", "moments.start={intercept=1, x=2, v=3, 'v ~ intercept'=4, 'v ~ x'=5, 'v ~ z'=6}"},
      with_instruments);
  // v' = v/2: Π = (2, 2.5, 3), β = (1, 2, 6), and π = β of the controls + 6Π.
  EXPECT_EQ(config.descent.start, (std::vector<double>{2, 2.5, 3, 13, 17, 18}));
}

// A table is one pass whose releases are known: each record is in one step, and all of ρ is spent at the end.
TEST(MomentsConfig, ATableIsOnePass) {
  const std::string stages = std::string(text) + "[[moments.stages]]\nfrom = 500\n[release]\nevery = 250\n";
  for (const std::uint64_t rows : {501U, 1000U, 1001U}) {
    const tests::TemporaryFolder folder;
    Config config = read_config(folder.write("table.toml", stages), {}, Purpose::table);
    const engine::TableDesign design = engine::settle_design(config, rows);
    EXPECT_EQ(design.minibatch, 250U);
    EXPECT_EQ(design.steps, (rows + 249) / 250);
    EXPECT_EQ(design.participation().times(), 1U);
    const Mechanism mechanism = make_mechanism(config, design.participation(), StepCount{design.steps});
    EXPECT_EQ(mechanism.horizon(), StepCount{design.steps});
    EXPECT_NEAR(mechanism.spend.after(StepCount{design.steps}).value(), 0.1, 1e-12);
    EXPECT_LE(mechanism.spend.limit().value(), 0.1);
    EXPECT_EQ(config.privacy.adjacency, privacy::Adjacency::replace_one);
  }
  const tests::TemporaryFolder folder;
  const std::string file = folder.write("table.toml", text);
  Config whole = read_config(file, {}, Purpose::table);
  const engine::TableDesign design = engine::settle_design(whole, 777);
  EXPECT_EQ(design.minibatch, 777U);
  EXPECT_EQ(design.steps, 1U);
  const Mechanism mechanism = make_mechanism(whole, design.participation(), StepCount{1});
  // Under replace-one with equal shares a: a + a/2 + a/16 = .1. A single release has the noise of one sum.
  const double own = 0.1 / (25.0 / 16);
  for (const CalibratedStage& stage : mechanism.stages) {
    EXPECT_NEAR(stage.stddev.value(), stage.displacement.value() * std::sqrt(1 / (2 * own)), 1e-9);
  }
}

}  // namespace
}  // namespace nustream::config
