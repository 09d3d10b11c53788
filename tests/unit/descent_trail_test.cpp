// Which iterates a trail keeps.
#include "nustream/descent/trail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::descent {
namespace {

/// A trail after so many steps, in which each iterate is the number of its step, and its negative.
Trail after(std::uint64_t steps, std::uint64_t from = 0) {
  Trail trail({from}, 2);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const double iterate[]{static_cast<double>(step), -static_cast<double>(step)};
    if (trail.next() == StepCount{step}) trail.pass(iterate);
  }
  return trail;
}

/// The steps of the iterates.
std::vector<std::uint64_t> steps_of(const Trail& trail) {
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < trail.iterates().size(); i += 2) {
    EXPECT_EQ(trail.iterates()[i + 1], -trail.iterates()[i]);
    steps.push_back(static_cast<std::uint64_t>(trail.iterates()[i]));
  }
  return steps;
}

// Whenever one looks, the iterates are the last two of every stretch of one length, and there are enough of them.
TEST(Trail, KeepsTheLastTwoIteratesOfEveryStretch) {
  for (const std::uint64_t from : {0U, 1000U}) {
    for (std::uint64_t steps = 0; steps < 20'000; steps += 61) {
      const Trail trail = after(from + steps, from);
      std::vector<std::uint64_t> expected;
      for (std::uint64_t end = trail.distance(); end - 1 <= steps; end += trail.distance()) {
        expected.push_back(from + end - 1);
        if (end <= steps) expected.push_back(from + end);
      }
      EXPECT_EQ(steps_of(trail), expected) << steps;
      EXPECT_EQ(trail.pairs(), steps / trail.distance()) << steps;
      EXPECT_EQ(trail.whole_pairs().size(), 4 * trail.pairs());
      EXPECT_GE(trail.pairs(), std::min<std::uint64_t>(steps / Trail::first_distance, Trail::kept)) << steps;
      EXPECT_LE(trail.iterates().size(), 2 * Trail::most_iterates) << steps;
    }
  }
  EXPECT_EQ(after(62).iterates().size(), 0U);
  EXPECT_EQ(after(64 * 64 - 1).distance(), 64U);
  EXPECT_EQ(after(64 * 64).distance(), 128U);
}

TEST(Trail, GoesOnFromWhatItHas) {
  for (const std::uint64_t steps : {63U, 64U, 4'095U, 4'096U, 4'223U, 10'000U}) {
    const Trail before = after(steps);
    Trail restored({0}, 2);
    restored.restore(before.distance(), before.iterates(), StepCount{steps});
    EXPECT_EQ(restored.next(), before.next()) << steps;
    EXPECT_EQ(steps_of(restored), steps_of(before)) << steps;
  }
}

TEST(Trail, RefusesWhatNoStateHas) {
  const Trail whole = after(5'000);  // 39 pairs at a distance of 128
  const auto refuses = [&](std::uint64_t distance, std::span<const double> iterates, std::uint64_t steps) {
    Trail trail({0}, 2);
    EXPECT_THROW(trail.restore(distance, iterates, StepCount{steps}), InvalidParameter) << distance << " " << steps;
  };
  refuses(0, whole.iterates(), 5'000);
  refuses(127, whole.iterates(), 5'000);
  refuses(192, whole.iterates(), 5'000);
  refuses(128, {}, 5'000);
  refuses(128, whole.iterates().first(4 * 31), 5'000);
  refuses(128, whole.iterates().first(4 * 38), 5'000);  // one pair less than there would be
  refuses(128, whole.iterates(), 4'991);                // the last one would come after these steps
  refuses(128, whole.iterates(), 5'119);
  refuses(64, std::vector<double>(2 * 128, 1.0), 8'192);
}

}  // namespace
}  // namespace nustream::descent
