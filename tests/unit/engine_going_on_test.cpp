// Which releases an epoch may continue from, and which are refused. The tests make their releases by hand.
#include "engine/going_on.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "config_reading.h"
#include "engine/release_encoder.h"
#include "expect_failure.h"

namespace nustream::engine {
namespace {

using config::Config;
using publish::ShownRelease;
using tests::expect_failure;

Config settings(std::vector<std::string> more = {}) {
  return config::read(more);
}

/// The release that the settings' own encoder writes of an iterate, read back.
ShownRelease released(const Config& config, const std::vector<double>& theta, bool is_private = true) {
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  publish::ReleaseEncoder encoder = release_encoder(config, mechanism, {LaneId{0}, EpochId{0}, "d1gest", is_private});
  std::string line;
  encoder.append({StepCount{9}, Position{9}, theta, {}}, "end", line);
  return publish::read_release(line).value();
}

TEST(CarriedOver, TakesTheIterateThroughOriginalUnits) {
  const ShownRelease release = released(settings(), {0.25, -1.5});
  const lane::Carried same = carried_from(release, settings(), true);
  ASSERT_EQ(same.theta.size(), 2U);
  EXPECT_NEAR(same.theta[0], 0.25, 1e-14);
  EXPECT_NEAR(same.theta[1], -1.5, 1e-14);
  EXPECT_TRUE(same.average.empty());
  const Config rescaled = settings({"features.0.center=4.0", "features.0.scale=0.5"});
  const lane::Carried other = carried_from(release, rescaled, true);
  const ShownRelease again = released(rescaled, other.theta);
  for (std::size_t j = 0; j < release.estimate.size(); ++j) {
    EXPECT_NEAR(again.estimate[j].second, release.estimate[j].second, 1e-13) << release.estimate[j].first;
  }
}

TEST(CarriedOver, BeginsAtZeroWhereNoiseDidNotDetermineTheRelease) {
  ShownRelease release = released(settings(), {0.25, -1.5});
  for (auto& [name, value] : release.estimate) {
    release.not_determined.push_back(name);
    value = std::nan("");
  }
  EXPECT_EQ(carried_from(release, settings(), true).theta, (std::vector<double>{0, 0}));
  release.not_determined.clear();
  expect_failure(
      Exit::data, [&] { return carried_from(release, settings(), true); }, "not all finite");
}

TEST(CarriedOver, TakesTheAverageWithItsWeightOrNotAtAll) {
  ShownRelease release = released(settings(), {0.25, -1.5});
  release.average = release.estimate;
  EXPECT_TRUE(carried_from(release, settings(), true).average.empty()) << "a line that does not say its weight";
  release.average_weight = 40;
  const lane::Carried carried = carried_from(release, settings(), true);
  EXPECT_EQ(carried.average_weight, 40);
  EXPECT_NEAR(carried.average.at(1), -1.5, 1e-14);
}

TEST(CarriedOver, RefusesWhatIsOfAnotherStreamOrModel) {
  const ShownRelease release = released(settings(), {0.25, -1.5});
  expect_failure(
      Exit::data, [&] { return carried_from(release, settings({"stream.name=other"}), true); }, "is of stream");
  using Changes = std::vector<std::string>;
  for (const Changes& changes : {Changes{"features.0.transform=log1p", "features.0.name=x"},
                                 Changes{"features.0.column=z", "features.0.name=x"}, Changes{"target.column=z"},
                                 Changes{"model.loss=huber"}}) {
    expect_failure(
        Exit::data, [&] { return carried_from(release, settings(changes), true); },
        "of another model than these settings");
  }
  for (const Changes& changes : {Changes{"weight.column=z", "weight.max=3"},
                                 Changes{"exposure.column=z", "exposure.max=3", "model.loss=poisson"}}) {
    expect_failure(
        Exit::data, [&] { return carried_from(release, settings(changes), true); },
        "or of another weight or exposure");
  }
  expect_failure(
      Exit::data, [&] { return carried_from(release, settings({"features.0.name=z"}), true); }, "it has no 'z'");
  ShownRelease older = release;
  older.model.clear();
  EXPECT_NO_THROW(static_cast<void>(carried_from(older, settings({"model.loss=huber"}), true)))
      << "a line that does not say";
}

// A release promises its privacy for all that it is made of, and its epoch's start is part of that.
TEST(CarriedOver, RefusesWhatPromisesLess) {
  const ShownRelease open = released(settings(), {0.25, -1.5}, false);
  expect_failure(
      Exit::data, [&] { return carried_from(open, settings(), true); }, "is not private");
  EXPECT_NO_THROW(static_cast<void>(carried_from(open, settings(), false)));
  const ShownRelease closed = released(settings(), {0.25, -1.5});
  EXPECT_NO_THROW(static_cast<void>(carried_from(closed, settings(), false)));
  EXPECT_NO_THROW(static_cast<void>(carried_from(closed, settings({"privacy.adjacency=replace-one"}), true)));
  ShownRelease of_targets = closed;
  of_targets.promise.target_only = true;
  expect_failure(
      Exit::data, [&] { return carried_from(of_targets, settings(), true); }, "protects targets alone");
}

TEST(CarriedOver, BeginsAtTheStartWhereNothingWasReleased) {
  const Config config = settings({"descent.start=[0.5, 2.0]"});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  Estimator lane(lane::Lane(config.descent, mechanism.grids, Position{0}));
  EXPECT_EQ(go_on_from_last(lane, EpochId{1}, "", config, true),
            "epoch 1 begins at descent.start: there is no release to go on from");
  EXPECT_EQ(lane.theta()[1], 2.0);
  expect_failure(
      Exit::data, [&] { return go_on_from_last(lane, EpochId{1}, "{}\n", config, true); }, "no release");
  Config of_sums = config;
  of_sums.moments.emplace();
  EXPECT_EQ(begun_from_start(EpochId{1}, of_sums),
            "epoch 1 begins at moments.start, whatever was released before it");
}

}  // namespace
}  // namespace nustream::engine
