// What users of the local figures hold and report: features ±1/p, a logistic model of w* = (1, …, 1)/√p, and the
// noise of all reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "nustream/inference/local_mechanism.h"
#include "nustream/inference/local_solver.h"

namespace nustream::benchmarks {

/// p features, and all 2^p records that there are.
struct LocalDesign {
  std::size_t p;
  double coefficient;     ///< each entry of w*
  std::vector<double> x;  ///< row-major kinds × p

  explicit LocalDesign(std::size_t dimension);
  [[nodiscard]] std::size_t kinds() const noexcept { return std::size_t{1} << p; }
  /// How many numbers a report has: the upper triangle of x xᵀ, and x y.
  [[nodiscard]] std::size_t numbers() const noexcept { return p * (p + 1) / 2 + p; }
};

/// What one repetition's users hold, and the noise that they add, of standard deviation 1.
struct LocalDraw {
  std::vector<double> second_moment;
  std::vector<double> sum;           ///< of x
  std::vector<double> cross_moment;  ///< of x y
  std::vector<double> noise;
  std::vector<double> public_counts{};

  explicit LocalDraw(const LocalDesign& design);
};

/// Draws n private records and as many public rows. The draw is exact at every n, because it is one of multinomial
/// counts of the kinds.
void draw_records(const LocalDesign& design, double n, std::mt19937_64& random, LocalDraw& draw);
/// Draws m public rows in place of the present ones.
void draw_public_rows(const LocalDesign& design, double m, std::mt19937_64& random, LocalDraw& draw);
/// Draws the noise report by report.
void draw_noise(std::uint64_t reports, std::mt19937_64& random, LocalDraw& draw);
/// Draws the noise of the sum over n reports as one Gaussian, which has the same distribution.
void draw_sum_of_noise(double n, std::mt19937_64& random, LocalDraw& draw);

/// The means that the server has, with noise of these sizes.
[[nodiscard]] inference::LocalMoments moments(const LocalDesign& design, const LocalDraw& draw, double n,
                                              double label_centre, const inference::LocalNoise& noise);
/// ‖ŵ − w*‖∞/‖w*‖∞.
[[nodiscard]] double relative_error(const LocalDesign& design, const inference::LocalEstimate& estimate);

struct Median {
  double value;
  double standard_error;  ///< from the order statistics one standard deviation of the rank away
};
[[nodiscard]] Median median(std::vector<double> values);

}  // namespace nustream::benchmarks
