// Calibration of a report's noise, and the report itself: project, draw, round both the parts and the noise to a
// public grid, and add integers. The exact calibration treats the whole report as one Gaussian mechanism; the paper's
// divides ε and δ between its two parts (NLDP Algorithm 1, lines 1 to 4).
#include "nustream/inference/local_mechanism.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/shown.h"
#include "nustream/base/error.h"
#include "nustream/noise/gaussian.h"
#include "nustream/noise/source.h"
#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::inference {
namespace {

// The largest absolute value of a sample is below this (√(2 ln 2^65) < 9.50).
constexpr double deviations_max = 9.5;
// Less noise than this would show most of a record, and would leave no room on the grid.
constexpr double noise_to_displacement_min = 0x1p-18;

/// How far rounding to the grids can move two records' reports apart, in standard deviations. In each coordinate each
/// of the two moves by at most ½ a spacing, and ¼ for the rounding of the product itself (|product| < 2^51 spacings).
/// A spacing is at most 2^-32 standard deviations.
double rounding_mu(const LocalBounds& bounds) {
  return 0x1p-31 * std::sqrt(static_cast<double>(local_report_size(bounds.dimension)));
}

/// μ of the Gaussian mechanism that has exactly this (ε, δ): ρ = μ²/2.
double mu_for(const LocalBudget& budget) {
  return std::sqrt(2 * privacy::rho_for(budget.epsilon, budget.delta).value());
}

/// The literal constants of NLDP Algorithm 1, whatever they amount to.
LocalNoise paper_noise(const LocalBounds& bounds, const LocalBudget& budget) {
  if (budget.norm == LocalNorm::l2 || budget.split != 0.5) {
    throw InvalidParameter("calibration", "paper", "exact, together with the l2 norm or a split");
  }
  // Each part gets (ε/2, δ/2), by σ = Δ √(2 ln(1.25/δ))/ε.
  const LocalDisplacement displacement = local_displacement(bounds, LocalNorm::paper);
  const double unit = std::sqrt(8 * std::log(2.5 / budget.delta.value())) / budget.epsilon.value();
  return {NoiseStddev{unit * displacement.second_moment}, NoiseStddev{unit * displacement.cross_moment}};
}

LocalNoise exact_noise(const LocalBounds& bounds, const LocalBudget& budget) {
  const bool divides = budget.split > 0 && budget.split < 1;
  if (!divides) {
    throw InvalidParameter("split", shown(budget.split), "0 < split < 1");
  }
  const LocalDisplacement displacement = local_displacement(bounds, budget.norm);
  const double first = displacement.second_moment / std::sqrt(budget.split);
  const double second = displacement.cross_moment / std::sqrt(1 - budget.split);
  const double at_unit = local_mu(bounds, budget.norm, NoiseStddev{first}, NoiseStddev{second});
  const double rounding = rounding_mu(bounds);
  const double mu = mu_for(budget) - rounding;
  if (!(mu > rounding)) {
    throw InvalidParameter("epsilon", shown(budget.epsilon.value()), "large enough for noise on a grid");
  }
  // 2^-48 is more than the few roundings of these lines and of local_mu() can lose.
  const double scale = at_unit / mu * (1 + 0x1p-48);
  return {NoiseStddev{first * scale}, NoiseStddev{second * scale}};
}

LocalBounds checked(const LocalBounds& bounds) {
  check(bounds);
  return bounds;
}

/// The public grid of one part, whose largest entry is `largest`.
noise::Grid grid(NoiseStddev stddev, double largest, const LocalBudget& budget) {
  if (!(stddev.value() > largest * noise_to_displacement_min)) {
    throw InvalidParameter("epsilon", shown(budget.epsilon.value()), "small enough for noise that hides anything");
  }
  return {stddev, 1.0, ClipNorm{largest}};
}

/// The largest ‖x‖₂ that the projection leaves.
double largest_norm(const LocalBounds& bounds) {
  return std::min(bounds.l1.value_or(HUGE_VAL), bounds.l2.value_or(HUGE_VAL));
}

/// The largest number of a report, in spacings: a sample's end and the largest part, rounded up.
std::int64_t limit(const noise::Grid& grid, NoiseStddev stddev, double largest) {
  return static_cast<std::int64_t>(std::ceil((deviations_max * stddev.value() + largest) / grid.spacing())) + 1;
}

std::int64_t nearest(double value, double spacing) {
  return static_cast<std::int64_t>(std::nearbyint(value / spacing));
}

void wipe_doubles(std::span<double> memory) {
  noise::wipe({reinterpret_cast<std::uint8_t*>(memory.data()), memory.size_bytes()});
}

}  // namespace

LocalNoise local_noise(const LocalBounds& bounds, const LocalBudget& budget) {
  check(bounds);
  if (budget.epsilon.value() == 0) throw InvalidParameter("epsilon", "0", "a finite number > 0");
  return budget.calibration == LocalCalibration::paper ? paper_noise(bounds, budget) : exact_noise(bounds, budget);
}

LocalMechanism::LocalMechanism(const LocalBounds& bounds, const LocalBudget& budget)
    : bounds_(checked(bounds)),
      budget_(budget),
      noise_(local_noise(bounds, budget)),
      // The paper's constants are judged by the bounds that are enforced, not by the paper's own looser ones.
      mu_(local_mu(bounds, budget.calibration == LocalCalibration::paper ? LocalNorm::l1 : budget.norm,
                   noise_.second_moment, noise_.cross_moment) +
          rounding_mu(bounds)),
      second_moment_grid_(grid(noise_.second_moment, largest_norm(bounds) * largest_norm(bounds), budget)),
      cross_moment_grid_(grid(noise_.cross_moment, largest_norm(bounds) * label_reach(bounds), budget)),
      second_moment_limit_(
          limit(second_moment_grid_, noise_.second_moment, largest_norm(bounds) * largest_norm(bounds))),
      cross_moment_limit_(
          limit(cross_moment_grid_, noise_.cross_moment, largest_norm(bounds) * label_reach(bounds))) {
  const double allowed = mu_for(budget_);
  if (budget.calibration == LocalCalibration::paper && !(mu_ <= allowed)) {
    throw InvalidParameter(
        "calibration", "paper",
        "exact: at this epsilon and delta the paper's constants are too small for what they claim");
  }
  NUSTREAM_REQUIRE(mu_ <= allowed, "a report costs no more than its budget");
}

Epsilon LocalMechanism::epsilon() const {
  return privacy::epsilon(Rho{mu_ * mu_ / 2}, budget_.delta);
}

Projected LocalMechanism::randomize(std::span<double> x, double y, std::span<std::uint64_t> words,
                                    std::span<std::int64_t> report) const {
  NUSTREAM_REQUIRE(words.size() == this->words() && report.size() == report_size(), "one report's words and numbers");
  const Projected projected = project(bounds_, x, y);
  std::vector<double> samples(words.size());
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const noise::GaussianPair pair = noise::gaussian_pair(words[i], words[i + 1]);
    samples[i] = pair.cosine;
    samples[i + 1] = pair.sine;
  }
  // Whoever has words or samples can subtract the noise from the report, so both go as soon as they were used.
  noise::wipe({reinterpret_cast<std::uint8_t*>(words.data()), words.size_bytes()});
  const std::size_t p = bounds_.dimension;
  const std::size_t triangle = report.size() - p;
  second_moment_grid_.round_noise(std::span(samples).first(triangle), report.first(triangle));
  cross_moment_grid_.round_noise(std::span(samples).subspan(triangle, p), report.last(p));
  wipe_doubles(samples);
  std::size_t at = 0;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j) report[at++] += nearest(x[i] * x[j], second_moment_grid_.spacing());
  }
  const double label = y - bounds_.label_centre;
  for (std::size_t j = 0; j < p; ++j) report[at++] += nearest(x[j] * label, cross_moment_grid_.spacing());
  return projected;
}

}  // namespace nustream::inference
