// Variances of an averaged descent: H⁻¹SH⁻¹/n from noisy second moments (bread) and scores (meat), and the privacy
// noise along the eigenvectors of H, which is exact for the correlation. Each variance comes with the degrees of
// freedom that the noise of bread and meat leaves it.
#include "nustream/inference/sandwich.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

#include "inference/symmetric.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"

namespace nustream::inference {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// With fewer than this an estimated variance is too uncertain for an interval.
constexpr double fewest_degrees_of_freedom = 8;

Matrix square_matrix(std::span<const double> entries) {
  const auto d = static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(entries.size()))));
  NUSTREAM_REQUIRE(static_cast<std::size_t>(d * d) == entries.size(), "a square matrix has d × d entries");
  return Eigen::Map<const Matrix>(entries.data(), d, d);
}

/// What the variances are computed from.
struct Moments {
  SymmetricSpectrum hessian;
  Matrix scores;
  Vector noise;         // V, along the eigenvectors
  double records;       // n
  double bread_stddev;  // of an entry of H on the diagonal; √½ of it elsewhere
  double meat_stddev;
};

/// Everything that is the same for all directions. Empty where noise hides H or iterates would diverge.
std::optional<Moments> moments_of(std::span<const double> bread, std::span<const double> meat,
                                  const AverageDesign& design, StepCount steps) {
  Matrix hessian = square_matrix(bread);
  const Matrix scores = square_matrix(meat);
  // The regulariser is part of the loss, but no record's gradient holds it.
  hessian.diagonal().array() += design.l2;
  if (!hessian.allFinite() || !scores.allFinite() || steps.value() <= design.from) return std::nullopt;
  SymmetricSpectrum spectrum = symmetric_spectrum(hessian);
  if (!spectrum.converged || !(spectrum.values(0) > 0)) return std::nullopt;
  // Such steps jump beyond the minimum, and the iterates settle nowhere.
  if (design.step_size.value() * spectrum.values(spectrum.values.size() - 1) >= 2) return std::nullopt;

  const auto m = static_cast<double>(design.minibatch);
  const auto left = [&](double step_size, double curvature, NoiseStddev stddev) {
    const AveragedDescent descent{step_size, curvature, design.from, steps.value()};
    // σΔ is that of a sum over a minibatch, and steps divide by the public size m.
    return stddev.value() / m * std::sqrt(averaged_noise_variance(design.correlation, descent));
  };
  Vector noise(hessian.rows());
  for (Eigen::Index j = 0; j < noise.size(); ++j) {
    noise(j) = std::pow(left(design.step_size.value(), spectrum.values(j), design.stddev), 2);
  }
  std::uint64_t records = design.minibatch * (steps.value() - design.from);
  // Several passes over the same records tell no more about the population than one.
  if (design.records) records = std::min(records, *design.records);
  // The mean of the z: a descent with η = λ = 1 forgets all of them but the last, so averaging it averages the z.
  return Moments{std::move(spectrum),
                 scores,
                 std::move(noise),
                 static_cast<double>(records),
                 left(1, 1, design.bread_stddev),
                 left(1, 1, design.meat_stddev)};
}

/// The variance along one direction a, with the error that the noise of the moments leaves in it: for symmetric noise
/// E the standard deviation of uᵀEv is at most ‖u‖‖v‖ times that of an entry of its diagonal. Empty where the
/// variance of the sampling is negative.
std::optional<EstimatedVariance> variance_along(const Moments& moments, const Vector& direction) {
  const Vector rotated = moments.hessian.vectors.transpose() * direction;
  const Vector& curvature = moments.hessian.values;
  const Vector solved = moments.hessian.vectors * rotated.cwiseQuotient(curvature);  // H⁻¹a
  const Vector scored = moments.scores * solved;
  const double sampling = solved.dot(scored) / moments.records;
  if (!(sampling >= 0)) return std::nullopt;
  const double privacy = rotated.cwiseAbs2().dot(moments.noise);
  const Vector pulled =
      moments.hessian.vectors * (moments.hessian.vectors.transpose() * scored).cwiseQuotient(curvature);  // H⁻¹SH⁻¹a
  // How the noise E of H moves the variance: d(aᵀH⁻¹SH⁻¹a) = −2 aᵀH⁻¹ E H⁻¹SH⁻¹a, and V behaves like H⁻² where the
  // noise of many steps adds up.
  const double by_bread =
      2 * moments.bread_stddev * (solved.norm() * pulled.norm() / moments.records + privacy / curvature(0));
  const double by_meat = moments.meat_stddev * solved.squaredNorm() / moments.records;
  const double variance = sampling + privacy;
  // Without noise the error is 0, and the degrees of freedom are infinite.
  const double error = variance > 0 ? std::hypot(by_bread, by_meat) / variance : 0;
  return EstimatedVariance{variance, 2 / (error * error)};
}

}  // namespace

std::optional<std::vector<EstimatedVariance>> average_variances(std::span<const double> bread,
                                                                std::span<const double> meat,
                                                                const AverageDesign& design, StepCount steps,
                                                                std::span<const double> directions) {
  const std::optional<Moments> moments = moments_of(bread, meat, design, steps);
  if (!moments) return std::nullopt;
  const auto d = static_cast<std::size_t>(moments->scores.rows());
  NUSTREAM_REQUIRE(directions.size() % d == 0, "a direction has d entries");
  std::vector<EstimatedVariance> variances;
  for (std::size_t at = 0; at < directions.size(); at += d) {
    const auto found =
        variance_along(*moments, Eigen::Map<const Vector>(directions.data() + at, static_cast<Eigen::Index>(d)));
    if (!found || !(found->degrees_of_freedom >= fewest_degrees_of_freedom)) return std::nullopt;
    variances.push_back(*found);
  }
  return variances;
}

}  // namespace nustream::inference
