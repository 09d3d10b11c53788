// Seed noise for tests of generators. It is a pure function of (step, column), and refuses keys that are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "noise/generator.h"

namespace nustream::testing {

/// White noise, uniform with variance 1. Generators are linear, so that the distribution does not matter.
[[nodiscard]] inline double white(std::uint64_t run, std::uint64_t step, std::uint64_t column) {
  std::uint64_t x = run * 0x9e3779b97f4a7c15 + step * 0xbf58476d1ce4e5b9 + column * 0x94d049bb133111eb + 1;
  for (int round = 0; round < 3; ++round) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
  }
  constexpr double square_root_of_12 = 3.4641016151377546;
  return square_root_of_12 * (static_cast<double>(x >> 11) * 0x1p-53 - 0.5);
}

class WhiteSeed final : public noise::SeedNoise {
 public:
  WhiteSeed(std::uint64_t run, std::size_t width, StepIndex oldest = StepIndex{0})
      : run_(run), width_(width), oldest_(oldest) {}

  /// Throws for steps before `oldest`, whose keys are wiped.
  void fill(StepIndex first, std::size_t steps, std::span<double> out) override {
    if (first < oldest_) throw std::logic_error("seed noise from before the oldest needed step");
    if (out.size() != steps * width_) throw std::logic_error("seed noise of another size");
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = white(run_, first.value() + i / width_, i % width_);
  }

  /// From here on the keys of earlier steps count as wiped.
  void forget_before(StepIndex oldest) { oldest_ = oldest; }

 private:
  std::uint64_t run_;
  std::size_t width_;
  StepIndex oldest_;
};

/// Seed noise that is given as a row-major matrix of `width` columns.
class GivenSeed final : public noise::SeedNoise {
 public:
  GivenSeed(std::vector<double> values, std::size_t width) : values_(std::move(values)), width_(width) {}

  void fill(StepIndex first, std::size_t steps, std::span<double> out) override {
    for (std::size_t i = 0; i < steps * width_; ++i) {
      const std::size_t at = first.value() * width_ + i;
      out[i] = at < values_.size() ? values_[at] : 0;
    }
  }

 private:
  std::vector<double> values_;
  std::size_t width_;
};

/// z of the first `steps` steps, computed in blocks of `block` steps.
[[nodiscard]] inline std::vector<double> run_generator(noise::Generator& generator, noise::SeedNoise& seed,
                                                       std::size_t steps, std::size_t dimension, std::size_t block) {
  std::vector<double> z(steps * dimension);
  for (std::size_t first = 0; first < steps; first += block) {
    const std::size_t count = block < steps - first ? block : steps - first;
    generator.generate(StepIndex{first}, count, seed, std::span(z).subspan(first * dimension, count * dimension));
  }
  return z;
}

}  // namespace nustream::testing
