// The random choices of one history, which follow from its seed.
#pragma once

#include <cstdint>
#include <random>

namespace nustream::tests {

struct Draws {
  std::mt19937_64 random;

  [[nodiscard]] bool chance(double probability) { return std::bernoulli_distribution(probability)(random); }
  [[nodiscard]] std::uint64_t draw(std::uint64_t below) { return random() % below; }
};

}  // namespace nustream::tests
