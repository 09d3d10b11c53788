// The first feature of tables that are made to count how often intervals hold the truth.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace nustream::benchmarks {

/// Normal, or 1 in a twentieth of the rows and else 0, or lognormal.
enum class Feature : std::uint8_t { normal, rare, lognormal };
inline constexpr const char* name_of_feature[] = {"normal", "rare", "lognormal"};

[[nodiscard]] inline double feature_of(Feature kind, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  if (kind == Feature::rare) return std::bernoulli_distribution(0.05)(engine) ? 1 : 0;
  return kind == Feature::lognormal ? std::exp(normal(engine)) : normal(engine);
}

}  // namespace nustream::benchmarks
