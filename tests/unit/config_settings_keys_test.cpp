// Each changed key is named once, by its own name: nothing that only follows from it, and no two equal values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/settings_difference.h"
#include "config_reading.h"

namespace nustream::config {
namespace {

using ::testing::ElementsAre;
using Overrides = std::vector<std::string>;

/// What differs for somebody who has typed `here`, with all that stands beside the texts.
std::vector<std::string> typed(const Overrides& there, const Overrides& here,
                               const std::string& toml = tests::example_config()) {
  const tests::TemporaryFolder folder;
  const std::string file = folder.write("settings.toml", toml);
  const auto text_of = [](const Config& config, const Mechanism& mechanism) {
    return settings_text(config, mechanism, true, EpochStart::last_release);
  };
  const Config old = read_config(file, there);
  const Config now = read_config(file, here);
  const Mechanism old_mechanism = make_mechanism(old, privacy::Participation::once());
  const Mechanism now_mechanism = make_mechanism(now, privacy::Participation::once());
  BesideTexts beside = beside_texts(now, now_mechanism);
  beside.rho_there = old_mechanism.spend.limit();
  return differing_settings(text_of(old, old_mechanism), text_of(now, now_mechanism), beside);
}

// A further stage repeats the noise, which is no difference of the noise.
TEST(SettingsDifference, AFurtherStageIsToldByWhatAsksForIt) {
  EXPECT_THAT(typed({}, {"privacy.clipped_share=0.01"}), ElementsAre("privacy.clipped_share (0 there, 0.01 here)"));
  EXPECT_THAT(typed({"privacy.clipped_share=0.01"}, {"privacy.clipped_share=0.02"}),
              ElementsAre("privacy.clipped_share (0.01 there, 0.02 here)"));
  EXPECT_THAT(typed({"privacy.clipped_share=0.01"}, {}), ElementsAre("privacy.clipped_share (0.01 there, 0 here)"));
  EXPECT_THAT(typed({"privacy.clipped_share=0.01"}, {"privacy.clipped_share=0.01", "release.every=7"}),
              ElementsAre(::testing::StartsWith("release.every (")));
  EXPECT_THAT(typed({}, {"privacy.clipped_share=0.01", "privacy.rho=0.6"}),
              ElementsAre("privacy.clipped_share (0 there, 0.01 here)", "privacy.rho (0.5 there, 0.6 here)"));
}

TEST(SettingsDifference, IntervalsAreToldByTheirKind) {
  const Overrides tail{"descent.average=tail", "descent.average_from=9"};
  const auto with = [&](const Overrides& more) {
    Overrides all = tail;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Overrides means = with({"intervals.kind=batch-means"});
  const Overrides sandwich =
      with({"intervals.kind=sandwich", "intervals.second_moment_clip=9", "intervals.squared_residual_clip=8"});
  const Overrides status = with({"release.status=true"});
  EXPECT_THAT(typed(tail, means), ElementsAre("intervals.kind (none there, batch-means here)"));
  EXPECT_THAT(typed(tail, status), ElementsAre("release.status (false there, true here)"));
  EXPECT_THAT(typed(tail, with({"intervals.kind=batch-means", "release.status=true"})),
              ::testing::UnorderedElementsAre("intervals.kind (none there, batch-means here)",
                                              "release.status (false there, true here)"));
  EXPECT_THAT(typed(means, tail), ElementsAre("intervals.kind or release.status (batches there, none here)"));
  EXPECT_THAT(
      typed(tail, with({"intervals.kind=batch-means", "intervals.batches=64"})),
      ::testing::UnorderedElementsAre("intervals.kind (none there, batch-means here)", "intervals.batches (new)"));
  EXPECT_THAT(typed(means, with({"intervals.kind=batch-means", "intervals.batches=64"})),
              ElementsAre("intervals.batches (32 there, 64 here)"));
  EXPECT_THAT(typed(tail, sandwich), ::testing::UnorderedElementsAre("intervals.kind (none there, sandwich here)",
                                                                     "intervals.second_moment_clip (new)",
                                                                     "intervals.squared_residual_clip (new)"));
  EXPECT_THAT(typed(sandwich, tail), ElementsAre("intervals.kind (sandwich there, none here)"));
  Overrides larger = sandwich;
  larger.emplace_back("intervals.share=0.2");
  EXPECT_THAT(typed(sandwich, larger), ElementsAre("intervals.share (0.1 there, 0.2 here)"));
}

TEST(SettingsDifference, APolesNumberIsNoNu) {
  EXPECT_THAT(typed({"noise.poles=4"}, {"noise.poles=3"}), ElementsAre("noise.poles (4 there, 3 here)"));
  EXPECT_THAT(typed({"noise.poles=4"}, {"noise.poles=3", "noise.nu=0.2"}),
              ::testing::UnorderedElementsAre("noise.nu (0.01 there, 0.2 here)", "noise.poles (4 there, 3 here)"));
}

TEST(SettingsDifference, RunningSumsAreToldByTheirOwnKeys) {
  const std::string sums = tests::moments_config();
  EXPECT_THAT(typed({}, {"moments.second_moment_share=0.4"}, sums),
              ElementsAre("moments.second_moment_share (0.5 there, 0.4 here)"));
  EXPECT_THAT(typed({}, {"privacy.protects=target"}, sums),
              ElementsAre("privacy.protects (record there, target here)"));
  EXPECT_THAT(typed({}, {"moments.start=[0, 1, 0]"}, sums),
              ElementsAre("moments.start ([0, 0, 0] there, [0, 1, 0] here)"));
  const Overrides staged{"moments.stages=[{from=1000,residual_bound=1}]"};
  EXPECT_THAT(typed({}, staged, sums), ElementsAre("moments.stages (new)"));
  // What a later stage takes over from the first one differs with it, and is told once.
  EXPECT_THAT(typed(staged, {staged.front(), "moments.row_norm=77"}, sums),
              ElementsAre(::testing::StartsWith("moments.row_norm (")));
}

// Text has one name for several correlations.
TEST(SettingsDifference, ACorrelationIsToldByTheNameThatAFileHas) {
  EXPECT_THAT(
      typed({}, {"noise.correlation=optimised", "noise.horizon=100"}),
      ElementsAre("noise.correlation (rational there, optimised here)", "noise.horizon (none there, 100 here)"));
}

// The runs of a table divide what is asked for.
TEST(SettingsDifference, RunsAreToldByTheirKindAndNotByTheirShareOfRho) {
  const Config config = read({"noise.correlation=independent", "noise.horizon=20"});
  const std::string table =
      settings_text(config, make_mechanism(config, privacy::Participation::once()), true, EpochStart::last_release);
  const std::string ten = table + "runs=2:10\n";
  const BesideTexts beside{.rho_there = Rho{0.5}, .rho_here = Rho{0.05}, .is_table = true, .intervals = "runs"};
  EXPECT_THAT(differing_settings(table, ten, beside),
              ElementsAre("intervals.kind (none or checkpoints there, runs here)"));
  BesideTexts less = beside;
  less.rho_here = Rho{0.025};
  EXPECT_THAT(
      differing_settings(table, ten, less),
      ElementsAre("intervals.kind (none or checkpoints there, runs here)", "privacy.rho (0.5 there, 0.25 here)"));
  BesideTexts twenty = beside;
  twenty.rho_there = Rho{0.05};
  twenty.rho_here = Rho{0.025};
  EXPECT_THAT(differing_settings(ten, table + "runs=2:20\n", twenty),
              ElementsAre("intervals.count (10 there, 20 here)"));
}

}  // namespace
}  // namespace nustream::config
