// Segments. First, z = B w holds over whatever keys a history of restarts, crashes and restored copies left, with the
// same B as without them. Second, the noise behind a restart is that of no other run. Third, an old copy opens
// nothing behind its segment. The fresh bytes come from the test, from a seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "noise/generator.h"
#include "noise/seed_noise.h"
#include "nustream/base/error.h"
#include "nustream/noise/source.h"
#include "support/noise_fresh_bytes.h"
#include "support/noise_glass.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

using Random = std::mt19937_64;
using testing::example_epoch_key;
using testing::example_stage;
using testing::Script;

constexpr std::size_t dimension = 1000;  // so that a block has 16 steps
constexpr std::uint64_t horizon = 200;

struct Case {
  Correlation correlation;
  GeneratorKind kind;
};

Dense banded(std::size_t bands) {
  std::vector<double> rows;
  for (std::size_t t = 0; t < horizon; ++t) {
    const std::size_t reach = std::min<std::size_t>(t + 1, bands);
    for (std::size_t i = 0; i + 1 < reach; ++i) rows.push_back(0.5 / static_cast<double>(reach + (t + i) % 3));
    rows.push_back(1);
  }
  return {rows, bands, StepCount{horizon}};
}

// Windows shorter and longer than a block and than the whole run; stretches, trees and bands that end within a block.
std::vector<Case> cases() {
  const StepCount end{horizon};
  return {{Correlation{Independent{}}, GeneratorKind::recurrent},
          {Correlation{Independent{}}, GeneratorKind::direct},
          {Correlation{Rational::nu_ftrl(Damping{1e-2}, 5)}, GeneratorKind::recurrent},
          {Correlation{Rational::nu_ftrl(Damping{1e-2}, 14)}, GeneratorKind::recurrent},
          {Correlation{DampedAntiPgd{Damping{0.1}}}, GeneratorKind::direct},
          {windowed_nu(Damping{1e-3}, 7), GeneratorKind::direct},
          {windowed_nu(Damping{1e-3}, 50), GeneratorKind::fft},
          {windowed_nu(Damping{1e-3}, 500), GeneratorKind::direct},
          {Correlation{NuFtrl{Damping{0}, end}}, GeneratorKind::direct},
          {Correlation{NuFtrl{Damping{0}, end}}, GeneratorKind::fft},
          {Correlation{Rational::nu_ftrl(Damping{1e-2}, 3), end}, GeneratorKind::fft},
          {Correlation{banded(30)}, GeneratorKind::dense},
          {Correlation{Tree{3, Tree::Estimator::honaker, true}}, GeneratorKind::tree},
          {Correlation{Tree{7, Tree::Estimator::plain, true}}, GeneratorKind::tree}};
}

std::string text(const Case& tested) {
  return tested.correlation.name() + ", kind " + std::to_string(static_cast<int>(tested.kind));
}

using Segments = std::map<std::uint64_t, KeyBytes>;

std::vector<Segment> listed(const Segments& segments) {
  std::vector<Segment> list;
  for (const auto& [first, key] : segments) list.push_back({StepIndex{first}, key});
  return list;
}

/// What is durable: a state, and what was published up to it.
struct Committed {
  std::uint64_t next_step = 0;
  Checkpoint checkpoint = first_checkpoint(example_epoch_key(), example_stage());
  Segments segments;      // the segments of all steps before next_step
  std::vector<double> z;  // the noise of these steps
};

NoiseSource source(const Case& tested, const Committed& from, Healing healing) {
  return {tested.correlation,
          tested.kind,
          dimension,
          from.checkpoint,
          StepIndex{from.next_step},
          std::pmr::get_default_resource(),
          {},
          std::move(healing)};
}

/// A process that goes on from a state: it gives blocks, and commits at steps that its callers choose.
class Life {
 public:
  Life(const Case& tested, Committed from, Healing healing)
      : source_(source(tested, from, std::move(healing))), now_(std::move(from)), given_(now_.next_step) {}

  /// Draws the next block; returns the step behind the block's last one.
  std::uint64_t draw() {
    const CorrelatedBlock block = source_.next();
    EXPECT_LE(block.first.value(), given_);
    const std::size_t known = (given_ - block.first.value()) * dimension;
    now_.z.insert(now_.z.end(), block.z.begin() + static_cast<std::ptrdiff_t>(known), block.z.end());
    given_ = block.first.value() + block.steps;
    for (const Segment& segment : source_.checkpoint(block.first).segments) {
      now_.segments.emplace(segment.first.value(), segment.chain_key);
    }
    return given_;
  }

  [[nodiscard]] Committed commit(std::uint64_t next_step) const {
    Committed state = now_;
    state.next_step = next_step;
    state.checkpoint = source_.checkpoint(StepIndex{next_step});
    state.segments.erase(state.segments.lower_bound(next_step), state.segments.end());
    state.z.resize(next_step * dimension);
    return state;
  }

 private:
  NoiseSource source_;
  Committed now_;
  std::uint64_t given_;
};

/// The state after lives that end at any step. Most of them drew blocks that they did not use up, and committed
/// before the last step they had drawn.
Committed disturbed(const Case& tested, Random& random, Script& script) {
  Committed state;
  for (bool resumed = false; state.next_step < horizon; resumed = true) {
    Life life(tested, state, script.healing(resumed));
    if (random() % 3 == 0) state = life.commit(state.next_step);  // a commit that takes no step
    std::uint64_t end = state.next_step;
    for (auto blocks = 1 + random() % 4; blocks > 0 && end < horizon; --blocks) {
      const std::uint64_t first = end;
      end = life.draw();
      if (random() % 3 > 0) state = life.commit(std::min(first + random() % (end - first + 1), horizon));
    }
  }
  return state;
}

// z = B w with B written out, where w is the seed noise of all steps as the segments alone give it.
std::vector<double> expected_z(const Case& tested, const Segments& segments, std::size_t columns) {
  const std::size_t width = make_generator(tested.correlation, tested.kind, dimension)->seed_width();
  KeyRing keys(listed(segments), steps_per_block(dimension), std::pmr::get_default_resource());
  KeyedSeedNoise seed(keys, width);
  std::vector<double> w(horizon * width);
  seed.fill(StepIndex{0}, horizon, w);
  const std::size_t levels = width / dimension;
  const std::vector<double> matrix = dense_noise_matrix(tested.correlation, horizon);
  std::vector<double> z(horizon * columns, 0.0);
  for (std::size_t row = 0; row < horizon; ++row) {
    for (std::size_t column = 0; column < horizon * levels; ++column) {
      const double weight = matrix[row * horizon * levels + column];
      for (std::size_t j = 0; j < columns && weight != 0; ++j)
        z[row * columns + j] += weight * w[column * dimension + j];
    }
  }
  return z;
}

TEST(Healing, KeepsTheCorrelationOverAnyRestarts) {
  constexpr std::size_t columns = 20;
  Random random(70);
  for (const Case& tested : cases()) {
    for (int trial = 0; trial < 2; ++trial) {
      Script script(random());
      const Committed history = disturbed(tested, random, script);
      ASSERT_GT(history.segments.size(), horizon / 16) << text(tested);  // one segment for every block at least
      const std::vector<double> z = expected_z(tested, history.segments, columns);
      for (std::size_t i = 0; i < z.size(); ++i) {
        // |z| stays below 10, and is a sum of up to 1,600 terms.
        ASSERT_NEAR(history.z[i / columns * dimension + i % columns], z[i], 1e-11)
            << text(tested) << " step " << i / columns;
      }
    }
  }
}

/// The cipher keys of the steps from `first` to `last`, as the segments give them.
std::vector<KeyBytes> ciphers(const Segments& segments, std::uint64_t first, std::uint64_t last) {
  KeyRing keys(listed(segments), steps_per_block(dimension), std::pmr::get_default_resource());
  std::vector<KeyBytes> all;
  for (std::uint64_t step = first; step < last; ++step) all.push_back(keys.cipher_key(step));
  return all;
}

Committed gone_on(const Case& tested, const Committed& from, Healing healing, std::uint64_t to) {
  Life life(tested, from, std::move(healing));
  while (life.draw() < to) {
  }
  return life.commit(to);
}

// Somebody restores an old copy and resumes it. From its next step on, it draws what nobody drew before: neither the
// run that the copy was taken from, nor another run that was resumed from it. So the difference of two releases of
// one step keeps its noise.
TEST(Healing, OfTwoRunsFromOneCopySharesNoNoise) {
  Random random(71);
  for (const Case& tested : cases()) {
    Script script(random());
    const std::uint64_t copied = 1 + random() % 99;
    Life original(tested, {}, script.healing(false));
    while (original.draw() < copied) {
    }
    const Committed copy = original.commit(copied);
    while (original.draw() < 160) {
    }
    const std::vector<Committed> runs{original.commit(160), gone_on(tested, copy, script.healing(true), 160),
                                      gone_on(tested, copy, script.healing(true), 160)};
    std::set<KeyBytes> keys;
    std::size_t parts = 0;
    for (const Committed& run : runs) {
      const std::vector<KeyBytes> own = ciphers(run.segments, copied, 160);
      const std::set<KeyBytes> distinct(own.begin(), own.end());
      parts += distinct.size();
      keys.insert(distinct.begin(), distinct.end());
    }
    EXPECT_EQ(keys.size(), parts) << text(tested) << " copied at " << copied;
    for (std::size_t i = 0; i < 160 * dimension; i += 37) {
      const bool before = i / dimension < copied;
      for (std::size_t other = 1; other < runs.size(); ++other) {
        ASSERT_EQ(std::abs(runs[0].z[i] - runs[other].z[i]) < 1e-12, before)
            << text(tested) << " step " << i / dimension;
      }
      ASSERT_EQ(runs[1].z[i] == runs[2].z[i], before) << text(tested) << " step " << i / dimension;
    }
  }
}

// A thief with a copy of state and key goes on from it without the fresh bytes. He gets as far as the end of the
// copy's segment, which is the end of its block or the next resume, and no further.
TEST(Healing, EndsWhatAnOldCopyOpens) {
  Random random(72);
  for (const Case& tested : cases()) {
    Script script(random());
    const std::uint64_t copied = 33 + random() % 14;  // within block 2
    const bool resumed = random() % 2 == 0;
    Life original(tested, {}, script.healing(false));
    while (original.draw() < copied) {
    }
    const Committed copy = original.commit(copied);
    const Committed later = resumed ? gone_on(tested, copy, script.healing(true), 160) : [&] {
      while (original.draw() < 160) {
      }
      return original.commit(160);
    }();
    const Committed stolen = gone_on(tested, copy, {}, 160);
    const std::uint64_t end = resumed ? copied : 48;
    for (std::uint64_t step = copied; step < 160; ++step) {
      const double difference = std::abs(stolen.z[step * dimension] - later.z[step * dimension]);
      ASSERT_EQ(difference < 1e-12, step < end) << text(tested) << " step " << step << " copied at " << copied;
    }
    const std::vector<KeyBytes> own = ciphers(later.segments, end, 160);
    const std::vector<KeyBytes> opened = ciphers(stolen.segments, end, 160);
    for (std::size_t i = 0; i < own.size(); ++i) ASSERT_NE(own[i], opened[i]) << text(tested);
  }
}

// A run that was resumed and took no step leaves no segment behind: the next resume's segment takes its place.
TEST(Healing, ReplacesASegmentWithoutAStep) {
  Script script(73);
  for (const Case& tested : cases()) {
    Committed state = gone_on(tested, {}, script.healing(false), 37);
    std::set<KeyBytes> keys;
    for (int time = 0; time < 5; ++time) {
      Life life(tested, state, script.healing(true));
      life.draw();
      state = life.commit(37);
      EXPECT_EQ(state.checkpoint.segments.back().first.value(), 37U) << text(tested);
      EXPECT_TRUE(keys.insert(state.checkpoint.segments.back().chain_key).second) << text(tested);
      // The segments that begin at steps 0, 16, 32 and 37.
      EXPECT_LE(state.checkpoint.segments.size(), 4U) << text(tested);
    }
  }
}

TEST(Healing, RefusesARestartThatAStateHasNoRoomFor) {
  const Case tested{windowed_nu(Damping{1e-3}, 6000), GeneratorKind::direct};
  Script script(76);
  Checkpoint full;
  for (std::uint64_t step = 0; step < segments_max; ++step) full.segments.push_back({StepIndex{step}, {}});
  const auto resume = [&](std::uint64_t next_step, bool resumed) {
    return NoiseSource(tested.correlation, tested.kind, 1, full, StepIndex{next_step},
                       std::pmr::get_default_resource(), {}, script.healing(resumed))
        .most_segments();
  };
  EXPECT_THROW(static_cast<void>(resume(segments_max, true)), Unsupported);
  EXPECT_EQ(resume(segments_max, false), segments_max);
  EXPECT_EQ(resume(segments_max - 1, true), segments_max);  // the new segment takes the place of the last one
  // Segments that the window no longer reaches do not count.
  EXPECT_EQ(resume(segments_max + 2000, true), segments_max);
  full.segments.push_back({StepIndex{segments_max}, {}});
  EXPECT_THROW(static_cast<void>(resume(segments_max, false)), InvalidParameter);
}

TEST(Healing, LeavesNeitherOldKeysNorFreshBytesInMemory) {
  testing::Glass glass;
  Script script(77);
  std::vector<KeyBytes> keys;
  {
    NoiseSource noise(Correlation{Rational::nu_ftrl(Damping{1e-3}, 5)}, GeneratorKind::automatic, dimension,
                      first_checkpoint(example_epoch_key(), example_stage()), StepIndex{0}, &glass, {},
                      script.healing(false));
    for (std::uint64_t given = 1; given < 10; ++given) {
      const CorrelatedBlock block = noise.next();
      keys.push_back(noise.checkpoint(block.first).segments.front().chain_key);
      for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(glass.shows(keys[i]), i + 2 >= given) << i;
    }
  }
  ASSERT_EQ(script.drawn.size(), 8U);
  for (const KeyBytes& bytes : script.drawn) EXPECT_FALSE(glass.shows(bytes));
  for (const KeyBytes& key : keys) EXPECT_FALSE(glass.shows(key));
}

TEST(HealingDeathTest, GivesNothingWithoutFreshBytes) {
  const Case tested{Correlation{Independent{}}, GeneratorKind::recurrent};
  const Healing none{[](std::span<std::uint8_t>) { throw std::runtime_error("no random bits"); }, false};
  NoiseSource noise = source(tested, {}, none);
  EXPECT_EQ(noise.next().steps, 16U);
  EXPECT_THROW(static_cast<void>(noise.next()), std::runtime_error);
  EXPECT_DEATH(static_cast<void>(noise.next()), "contract violated: a source that got no fresh bytes");
}

// Without a source of fresh bytes there are no segments, whatever is resumed: equal checkpoints give equal noise.
TEST(Healing, IsOffWithoutASourceOfFreshBytes) {
  for (const Case& tested : cases()) {
    const Committed copy = gone_on(tested, {}, {}, 37);
    EXPECT_EQ(copy.checkpoint.segments.size(), 1U);
    NoiseSource one = source(tested, copy, Healing{{}, true});
    NoiseSource two = source(tested, copy, Healing{});
    const CorrelatedBlock block = one.next();
    EXPECT_EQ(block.first, StepIndex{32}) << text(tested);
    const std::vector<double> z(block.z.begin(), block.z.end());
    const CorrelatedBlock same = two.next();
    EXPECT_EQ(z, std::vector<double>(same.z.begin(), same.z.end())) << text(tested);
  }
}

}  // namespace
}  // namespace nustream::noise
