// Lower bounds of ε and μ from counts of guesses, by exact binomial bounds, and thresholds that are best for the
// claimed Gaussian curve. Every rate is bounded in the direction that makes the proof harder.
#include "audit/bounds.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>

namespace nustream::audit {
namespace {

/// Φ(x). By erfc(), which keeps its digits far below 0.
double normal_below(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

std::uint64_t expected(double share, std::uint64_t runs) {
  return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(runs)));
}

/// The counts that are expected at a threshold if the claim of μ is true.
Counts expected_counts(double mu, double threshold, std::uint64_t runs) {
  return {runs, expected(normal_below(-threshold), runs), expected(normal_below(mu - threshold), runs)};
}

}  // namespace

double proportion_upper(std::uint64_t hits, std::uint64_t runs, double alpha) {
  // The beta distribution of the bound has no parameter 0.
  if (hits >= runs) return 1;
  const auto n = static_cast<double>(runs);
  const auto k = static_cast<double>(hits);
  return boost::math::quantile(boost::math::complement(boost::math::beta_distribution<>(k + 1, n - k), alpha));
}

double proportion_lower(std::uint64_t hits, std::uint64_t runs, double alpha) {
  if (hits == 0) return 0;
  const auto n = static_cast<double>(runs);
  const auto k = static_cast<double>(hits);
  return boost::math::quantile(boost::math::beta_distribution<>(k, n - k + 1), alpha);
}

double epsilon_lower_bound(const Counts& counts, double delta, Confidence confidence) {
  const double alpha = (1 - confidence.level) / 2;
  const auto bound = [&](double likely, double rare) {
    // From TPR ≤ e^ε·FPR + δ, which every (ε, δ) mechanism satisfies.
    return likely > delta ? std::log((likely - delta) / rare) : 0;
  };
  // Either guess can prove ε: "it is there" by few false alarms, "it is absent" by few misses. Each of the two ratios
  // uses two rates. So each rate gets half of the error.
  const double there =
      bound(proportion_lower(counts.with, counts.runs, alpha), proportion_upper(counts.without, counts.runs, alpha));
  const double absent = bound(proportion_lower(counts.runs - counts.without, counts.runs, alpha),
                              proportion_upper(counts.runs - counts.with, counts.runs, alpha));
  return std::max({0.0, there, absent});
}

double mu_lower_bound(const Counts& counts, Confidence confidence) {
  const double alpha = (1 - confidence.level) / 2;
  const double with = proportion_lower(counts.with, counts.runs, alpha);
  const double without = proportion_upper(counts.without, counts.runs, alpha);
  if (!(with > 0) || !(without < 1)) return 0;
  const boost::math::normal_distribution<> normal;
  return std::max(0.0, boost::math::quantile(normal, with) - boost::math::quantile(normal, without));
}

Thresholds thresholds_for(double mu, double delta, std::uint64_t runs, Confidence confidence) {
  // The bound on μ is expected to be largest midway between the two means, where both rates are alike.
  Thresholds best{mu / 2, mu / 2};
  double most = 0;
  // The search looks at what is expected, never at the games: a threshold that is chosen by the counts that it judges
  // would spoil the confidence.
  constexpr double spacing = 0.01;
  // From 4 deviations below the mean of one world to 4 above that of the other.
  const auto looks = static_cast<int>((mu + 8) / spacing);
  for (int look = 0; look <= looks; ++look) {
    const double threshold = -4 + spacing * look;
    const double bound = epsilon_lower_bound(expected_counts(mu, threshold, runs), delta, confidence);
    if (bound > most) {
      most = bound;
      best.epsilon = threshold;
    }
  }
  return best;
}

}  // namespace nustream::audit
