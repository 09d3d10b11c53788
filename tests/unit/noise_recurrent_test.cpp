// The recurrent filter against its plain scalar twin, for any poles, dimension, slicing and instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "noise/generator.h"
#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

// A reproducible w that does not come from keys: the filter must not depend on where w comes from.
class ListedSeed final : public SeedNoise {
 public:
  ListedSeed(std::size_t width, std::size_t steps, std::uint64_t seed) : width_(width), samples_(width * steps) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (auto& sample : samples_) sample = normal(random);
  }
  void fill(StepIndex first, std::size_t steps, std::span<double> out) override {
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(first.value() * width_), steps * width_, out.begin());
  }
  [[nodiscard]] double at(std::size_t step, std::size_t coordinate) const {
    return samples_[step * width_ + coordinate];
  }

 private:
  std::size_t width_;
  std::vector<double> samples_;
};

Rational rational(std::size_t poles) {
  std::vector<double> q, b;
  for (std::size_t i = 0; i < poles; ++i) {
    q.push_back(1 - std::pow(0.5, static_cast<double>(i) / 2 + 1));
    b.push_back(0.3 / static_cast<double>(poles + i));
  }
  return Rational::from_poles(q, b);
}

// The recurrence as the equation has it, with the documented order of the sum: the even poles, the odd poles, then
// both.
std::vector<double> twin(const Rational& rational, const ListedSeed& seed, std::size_t dimension, std::size_t steps) {
  std::vector<double> z(steps * dimension);
  for (std::size_t j = 0; j < dimension; ++j) {
    std::vector<double> s(rational.poles());
    for (std::size_t t = 0; t < steps; ++t) {
      const double w = seed.at(t, j);
      double even = 0, odd = 0;
      for (std::size_t i = 0; i < s.size(); ++i) {
        (i % 2 == 0 ? even : odd) += rational.a()[i] * s[i];
        s[i] = rational.p()[i] * s[i] + w;
      }
      z[t * dimension + j] = w - (even + odd);
    }
  }
  return z;
}

std::vector<double> generated(const Rational& rational, ListedSeed& seed, std::size_t dimension, std::size_t steps,
                              std::size_t slice, InstructionSet set) {
  const auto generator = make_recurrent(rational, dimension, set);
  std::vector<double> z(steps * dimension);
  for (std::size_t t = 0; t < steps; t += slice) {
    const std::size_t count = std::min(slice, steps - t);
    generator->generate(StepIndex{t}, count, seed, std::span(z).subspan(t * dimension, count * dimension));
  }
  return z;
}

TEST(Recurrent, EqualsTheScalarTwinToTheBitFromTwoCoordinatesOn) {
  for (const std::size_t poles : {0U, 1U, 2U, 5U, 6U, 12U, 13U, 17U}) {
    for (const std::size_t dimension : {2U, 3U, 4U, 7U, 8U, 10U, 15U, 16U, 31U, 130U}) {
      const std::size_t steps = 200;
      ListedSeed seed(dimension, steps, poles * 1000 + dimension);
      const auto correlation = rational(poles);
      const auto expected = twin(correlation, seed, dimension, steps);
      for (const auto set : available_instruction_sets()) {
        for (const std::size_t slice : {1U, 7U, 64U, 200U}) {
          ASSERT_EQ(generated(correlation, seed, dimension, steps, slice, set), expected)
              << poles << " poles, dimension " << dimension << ", slices of " << slice;
        }
      }
    }
  }
}

// Eight steps at a time are rounded otherwise than one by one, but alike on every instruction set and in every
// slicing by whole strides.
TEST(Recurrent, EqualsTheScalarTwinForOneCoordinate) {
  for (const std::size_t poles : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 12U, 13U}) {
    const std::size_t steps = 3000 + poles % 8;
    ListedSeed seed(1, steps, poles);
    const auto correlation = rational(poles);
    const auto expected = twin(correlation, seed, 1, steps);
    const auto baseline = generated(correlation, seed, 1, steps, steps, InstructionSet::baseline);
    for (std::size_t t = 0; t < steps; ++t) ASSERT_NEAR(baseline[t], expected[t], 2e-14) << poles << " poles, " << t;
    for (const auto set : available_instruction_sets()) {
      for (const std::size_t slice : {8U, 64U, 1024U}) {
        ASSERT_EQ(generated(correlation, seed, 1, steps, slice, set), baseline) << poles << " poles";
      }
    }
  }
}

// Rounding errors must not pile up over a long memory: 1e6 steps of the default correlation at nu = 1e-4.
TEST(Recurrent, StaysWithTheTwinOverAMillionSteps) {
  const auto correlation = Rational::nu_ftrl(Damping{1e-4}, 6);
  const std::size_t steps = 1'000'000;
  ListedSeed seed(1, steps, 77);
  const auto expected = twin(correlation, seed, 1, steps);
  const auto z = generated(correlation, seed, 1, steps, 16384, fastest_instruction_set());
  double largest = 0;
  for (std::size_t t = 0; t < steps; ++t) largest = std::max(largest, std::abs(z[t] - expected[t]));
  EXPECT_LT(largest, 1e-13);
}

TEST(Recurrent, GoesOnFromItsMemory) {
  for (const std::size_t dimension : {1U, 5U}) {
    ListedSeed seed(dimension, 512, 8);
    const auto correlation = rational(6);
    const auto whole = generated(correlation, seed, dimension, 512, 512, fastest_instruction_set());
    const auto first = make_recurrent(correlation, dimension);
    std::vector<double> z(256 * dimension);
    first->generate(StepIndex{0}, 256, seed, z);
    const auto second = make_recurrent(correlation, dimension);
    second->restore(StepIndex{256}, first->memory());
    second->generate(StepIndex{256}, 256, seed, z);
    EXPECT_TRUE(std::equal(z.begin(), z.end(), whole.begin() + static_cast<std::ptrdiff_t>(256 * dimension)));
  }
}

TEST(Recurrent, RefusesForeignMemory) {
  const auto generator = make_recurrent(rational(6), 5);
  EXPECT_THROW(generator->restore(StepIndex{0}, std::vector<double>(29)), InvalidParameter);
  EXPECT_NO_THROW(generator->restore(StepIndex{0}, std::vector<double>(30)));
}

}  // namespace
}  // namespace nustream::noise
