// What counts of guesses prove about ε and μ: Clopper–Pearson, and thresholds that are chosen before the runs.
#pragma once

#include <cstdint>

namespace nustream::audit {

/// How often a guess "the record is there" came in each of two worlds.
struct Counts {
  std::uint64_t runs = 0;     ///< in each world
  std::uint64_t without = 0;  ///< guesses "it is there" where the record was not there: false alarms
  std::uint64_t with = 0;     ///< guesses "it is there" where the record was there
};

/// The probability that a lower bound lies below the parameter that it bounds, both tails taken together.
struct Confidence {
  double level = 0.999;
};

/// One-sided upper and lower bound of a binomial proportion, each of which holds with confidence 1 − α. Source:
/// Clopper and Pearson 1934.
[[nodiscard]] double proportion_upper(std::uint64_t hits, std::uint64_t runs, double alpha);
[[nodiscard]] double proportion_lower(std::uint64_t hits, std::uint64_t runs, double alpha);

/// The least ε that an (ε, δ) mechanism with these counts can have, at the confidence: ln((TPR − δ)/FPR) or its
/// mirror image, whichever is larger, from bounds of both rates at α/2. It is at least 0.
[[nodiscard]] double epsilon_lower_bound(const Counts& counts, double delta, Confidence confidence);

/// The least μ that a μ-GDP mechanism with these counts can have, at the confidence: Φ⁻¹(TPR) − Φ⁻¹(FPR), at least 0.
/// Source: Dong, Roth and Su 2022.
[[nodiscard]] double mu_lower_bound(const Counts& counts, Confidence confidence);

/// Thresholds on a statistic that is N(0, 1) in one world and N(μ, 1) in the other.
struct Thresholds {
  double epsilon;  ///< where the bound on ε is expected to be largest, for these runs
  double mu;
};
[[nodiscard]] Thresholds thresholds_for(double mu, double delta, std::uint64_t runs, Confidence confidence);

}  // namespace nustream::audit
