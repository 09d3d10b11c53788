// The encoding of a lane of running sums against docs/formats/moments.md, byte by byte; and the settings of such a
// lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "nustream/base/error.h"
#include "support/moments_world.h"

namespace nustream::tests {
namespace {

std::string integer(std::uint64_t value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

std::string reals(const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) bytes += integer(std::bit_cast<std::uint64_t>(value));
  return bytes;
}

moments::Settings settings_of(bool forgets) {
  moments::Settings settings = linear_settings(2, 10);
  settings.stages = {{0, {2, 1, 3}}, {2, {2, 1, 1.5}}};
  settings.start = {0.5, -0.0};
  if (forgets) settings.memory = 40;
  return settings;
}

moments::Lane advanced(const moments::Settings& settings, std::size_t steps) {
  const SumsWorld world = sums_world(settings, steps, 3);
  moments::Lane lane(settings, Position{77});
  moments::Releases releases;
  advance(lane, settings, world, 0, 10 * steps, releases);
  return lane;
}

std::string expected_bytes(const moments::Lane& lane, std::uint64_t steps) {
  std::string bytes = std::string("nu-sums\x01", 8) + integer(2) + integer(0) + integer(0) + integer(steps);
  bytes += integer(lane.position().value()) + integer(lane.sums().stages().size());
  for (const moments::StageSums& stage : lane.sums().stages()) {
    bytes += integer(stage.first) + reals({stage.radii.inputs, stage.radii.regressors, stage.radii.target});
    bytes += reals(stage.centre) + reals(stage.second) + reals(stage.cross);
  }
  return bytes;
}

TEST(SumsEncoding, IsThePageByteByByte) {
  const moments::Lane fresh(settings_of(false), Position{77});
  EXPECT_EQ(fresh.encode(), expected_bytes(fresh, 0));
  EXPECT_EQ(fresh.encode().size(), 56 + 8 * (1 + 3 + 2 + 3 + 2));
  const moments::Lane plain = advanced(settings_of(false), 5);
  EXPECT_EQ(plain.encode(), expected_bytes(plain, 5));
  EXPECT_EQ(plain.encode().size(), 56 + 2 * 8 * (1 + 3 + 2 + 3 + 2));
  const moments::Lane forgetting = advanced(settings_of(true), 5);
  EXPECT_EQ(forgetting.encode(), expected_bytes(forgetting, 5));
  EXPECT_EQ(forgetting.encode().size(), 56 + 8 * (1 + 3 + 2) + 8 * (1 + 3 + 2 + 3 + 2));
}

moments::Settings judged_settings() {
  moments::Settings settings = settings_of(false);
  settings.mechanism.design.spread = moments::Spread::residuals;
  settings.sigmas.assign(moments::noised_blocks(settings.mechanism.design).size(), NoiseMultiplier{0.25});
  settings.keeps_marks = true;
  return settings;
}

// The newest stage has 21 steps, so that its marks are those of its steps 4, 8, 12, 16 and 20.
TEST(SumsEncoding, HasTheMarksOfTheNewestStage) {
  const moments::Settings settings = judged_settings();
  const std::size_t without = 56 + 2 * 8 * (1 + 3 + 2 + 3 + 2 + 1);
  const std::string fresh = moments::Lane(settings, Position{0}).encode();
  EXPECT_EQ(fresh.size(), 56 + 8 * (1 + 3 + 2 + 3 + 2 + 1));
  EXPECT_EQ(fresh[24], 1 + 16);
  const SumsWorld world = sums_world(settings, 23, 3);
  const auto after = [&](std::size_t steps) {
    moments::Lane lane(settings, Position{0});
    moments::Releases releases;
    advance(lane, settings, world, 0, 10 * steps, releases);
    return lane;
  };
  const std::string late = after(23).encode();
  ASSERT_EQ(late.size(), without + 5 * 8 * (3 + 2));
  const moments::StageSums then = after(2 + 12).sums().stages().back();
  EXPECT_EQ(late.substr(without + 2 * 8 * (3 + 2), 8 * (3 + 2)), reals(then.second) + reals(then.cross));
  EXPECT_EQ(moments::Lane::decode(settings, late).encode(), late);
}

// States of earlier versions have no marks: their lane goes on with the same sums, keeps none, and tells no status.
TEST(SumsEncoding, AStateWithoutMarksGoesOnWithoutThem) {
  const moments::Settings settings = judged_settings();
  moments::Settings earlier = settings;
  earlier.keeps_marks = false;
  const SumsWorld world = sums_world(settings, 20, 3);
  const auto after = [&](moments::Lane lane, std::size_t from, moments::Releases& into) {
    advance(lane, settings, world, 10 * from, 200, into);
    return lane.encode();
  };
  moments::Releases releases;
  moments::Releases expected;
  moments::Lane first(earlier, Position{0});
  advance(first, earlier, world, 0, 120, releases);
  releases.clear();
  const std::string resumed = after(moments::Lane::decode(settings, first.encode()), 12, releases);
  EXPECT_EQ(resumed, after(moments::Lane::decode(earlier, first.encode()), 12, expected));
  ASSERT_EQ(releases.size(), expected.size());
  EXPECT_FALSE(releases.back().status);
  EXPECT_EQ(releases.back().theta, expected.back().theta);
  EXPECT_EQ(releases.back().variances.size(), expected.back().variances.size());
}

// Before a stage's first step the state is still that of the stage before: the stage's centre comes with its first
// row.
TEST(SumsEncoding, AStageIsInTheStateOnceItHasAStep) {
  EXPECT_EQ(advanced(settings_of(false), 2).sums().stages().size(), 1U);
  EXPECT_EQ(advanced(settings_of(false), 3).sums().stages().size(), 2U);
}

/// The size is exact for plain sums, which keep all stages; for sums that forget it is a bound.
TEST(SumsEncoding, NeverExceedsWhatItsSettingsAllow) {
  for (const std::size_t inputs : {1U, 4U}) {
    for (const bool repeats : {false, true}) {
      moments::Settings settings = linear_settings(inputs, 10);
      settings.stages = {{0, {2, 1, 3}}, {2, {2, 1, 1.5}}, {3, {2, 1, 1}}};
      if (repeats) {
        settings.memory = 20;
        settings.repeat_every = 6;
      }
      const std::size_t most = moments::encoded_bytes_max(settings);
      std::size_t largest = 0;
      for (const std::size_t steps : {0U, 1U, 4U, 132U}) {
        largest = std::max(largest, advanced(settings, steps).encode().size());
      }
      EXPECT_LE(largest, most);
      if (repeats) {
        EXPECT_GT(largest, most * 3 / 4) << "a state of that length is there";
      } else {
        EXPECT_EQ(largest, most);
      }
    }
  }
}

void expect_refused(const moments::Settings& settings, const std::string& bytes) {
  EXPECT_THROW(static_cast<void>(moments::Lane::decode(settings, bytes)), InvalidParameter);
}

std::string changed(std::string bytes, std::size_t offset, const std::string& to) {
  bytes.replace(offset, to.size(), to);
  return bytes;
}

TEST(SumsEncoding, RefusesWhatIsNotCanonical) {
  for (const bool forgets : {false, true}) {
    const moments::Settings settings = settings_of(forgets);
    const std::string bytes = advanced(settings, 5).encode();
    EXPECT_EQ(moments::Lane::decode(settings, bytes).encode(), bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) expect_refused(settings, bytes.substr(0, size));
    expect_refused(settings, bytes + '\0');
    expect_refused(settings, changed(bytes, 7, "\x02"));
    for (const std::size_t offset : {8U, 16U, 24U}) expect_refused(settings, changed(bytes, offset, integer(9)));
    expect_refused(settings, changed(bytes, 32, integer(2)));  // a number of steps that does not fit a single stage
    expect_refused(settings, changed(bytes, 32, integer(std::numeric_limits<std::uint64_t>::max())));
    for (const std::uint64_t stages : {0U, 1U, 3U}) expect_refused(settings, changed(bytes, 48, integer(stages)));
    expect_refused(settings, changed(bytes, 56, integer(1)));
    expect_refused(settings, changed(bytes, 64, reals({2.5})));
    for (const double value : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      expect_refused(settings, changed(bytes, 88, reals({value})));
      expect_refused(settings, changed(bytes, bytes.size() - 8, reals({value})));
    }
  }
}

// Sums that forget drop the stages whose weight has become too small for a double; decode() knows how many there are.
TEST(SumsEncoding, ForgottenStagesAreDropped) {
  moments::Settings settings = settings_of(true);
  settings.memory = 11;
  settings.repeat_every = 3;
  settings.mechanism.participation.batch = 10;
  const moments::Lane lane = advanced(settings, 300);
  EXPECT_LT(lane.sums().stages().size(), 33U);
  EXPECT_GT(lane.sums().stages().size(), 25U);
  EXPECT_EQ(moments::Lane::decode(settings, lane.encode()).encode(), lane.encode());
}

TEST(SumsSettings, RefuseWhatIsOutOfRange) {
  const auto refuses = [](const auto& change) {
    moments::Settings settings = settings_of(true);
    change(settings);
    EXPECT_THROW(moments::Lane(settings, Position{0}), InvalidParameter);
  };
  refuses([](moments::Settings& s) { s.mechanism.participation.batch = 0; });
  refuses([](moments::Settings& s) { s.mechanism.design.shape.inputs = 0; });
  refuses([](moments::Settings& s) { s.sigmas.pop_back(); });
  refuses([](moments::Settings& s) { s.sigmas.assign(2, NoiseMultiplier{1e-9}); });
  refuses([](moments::Settings& s) { s.stages.clear(); });
  refuses([](moments::Settings& s) { s.stages.front().first = 1; });
  refuses([](moments::Settings& s) { s.stages.push_back({2, {1, 1, 1}}); });
  refuses([](moments::Settings& s) { s.stages.front().radii.target = 0; });
  refuses([](moments::Settings& s) { s.memory = 10; });
  refuses([](moments::Settings& s) { s.memory.reset(), s.repeat_every = 5; });
  refuses([](moments::Settings& s) { s.memory = 1000000, s.repeat_every = 1; });
  refuses([](moments::Settings& s) { s.start.pop_back(); });
  refuses([](moments::Settings& s) { s.start[0] = NAN; });
  refuses([](moments::Settings& s) { s.constant = 2; });
  refuses([](moments::Settings& s) { s.weighting.residual_variance = 0; });
  refuses([](moments::Settings& s) { s.mechanism.design.spread = moments::Spread::tight_sandwich; });
  refuses([](moments::Settings& s) {
    s.mechanism.design.shape.endogenous = 1;
    s.mechanism.design.spread = moments::Spread::sandwich;
  });
}

}  // namespace
}  // namespace nustream::tests
