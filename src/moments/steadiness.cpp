// The marks of a stage, and the test whether a part of the stage has the same least squares as the whole. Marks are
// noisy sums, so both are post-processing. Their number stays bounded: when there would be too many, every second one
// goes, and the distance between them doubles.
#include "nustream/moments/steadiness.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <boost/math/distributions/fisher_f.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "moments/sampling.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {

/// 1 up to 7 steps, 2 up to 15, 4 up to 31, and so on.
std::uint64_t mark_distance(std::uint64_t steps_of_stage) noexcept {
  std::uint64_t distance = 1;
  while (steps_of_stage / distance > marks_max) distance *= 2;
  return distance;
}

std::size_t mark_count(std::uint64_t steps_of_stage) noexcept {
  return static_cast<std::size_t>(steps_of_stage / mark_distance(steps_of_stage));
}

void take_mark(const StageSums& newest, std::uint64_t steps_of_stage, std::vector<Mark>& marks) {
  NUSTREAM_REQUIRE(steps_of_stage > 0 && marks.size() == mark_count(steps_of_stage - 1),
                   "the marks are those of the step before");
  const std::uint64_t distance = mark_distance(steps_of_stage);
  if (distance != mark_distance(steps_of_stage - 1)) {
    // Marks at 1, 2, … 7 steps become those at 2, 4 and 6; the mark at 8 is taken below.
    for (std::size_t i = 0; 2 * i + 1 < marks.size(); ++i) std::swap(marks[i], marks[2 * i + 1]);
    marks.resize(marks.size() / 2);
  }
  if (steps_of_stage % distance == 0) marks.push_back({newest.second, newest.cross});
}

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// With fewer degrees of freedom the sampling is too uncertain for a test.
constexpr double fewest_freedom = 4;
constexpr double most_freedom = 1e6;

/// The newest stage as a whole, and what is known of its noise.
struct JudgedStage {
  Matrix second;
  Vector gap;
  Matrix privacy;         ///< covariance of g − Hδ, per unit of the seed noise's variance
  Matrix sampling;        ///< covariance of g − Hδ, for each step
  double sampling_noise;  ///< standard deviation of the noise of an entry of `sampling`
  double sampling_scale;  ///< standard deviation of a factor of all its entries, in units of that factor
  std::uint64_t first;
  std::uint64_t end;
};

Vector of_target(std::span<const double> cross, std::size_t d) {
  const auto last = cross.last(d);
  return Eigen::Map<const Vector>(last.data(), static_cast<Eigen::Index>(d));
}

/// What is known of the newest stage. Empty where noise hides its sums or their spread, so that nothing can be
/// judged.
std::optional<JudgedStage> judged_stage(const RunningSums& sums, const Frame& frame,
                                        std::span<const double> covariance, const Estimate& found, StepCount steps) {
  const StageSums& stage = sums.stages().back();
  const std::size_t d = frame.design.shape.inputs;
  // The stage alone must stand out from the noise, since its own H is inverted below.
  if (found.floored > 0 || !(smallest_eigenvalue(stage.second, d) > found.floor)) return std::nullopt;
  Estimate alike = found;  // sums of single stages, in which all steps weigh 1
  std::ranges::fill(alike.weights, 1.0);
  const auto meat = meat_of(sums, frame, covariance, alike, std::vector<double>{1}, steps.value());
  if (!meat || !(meat->value.trace() > 0)) return std::nullopt;

  JudgedStage judged{
      full_matrix(stage.second, d), of_target(stage.cross, d), {}, {}, 0, meat->relative, stage.first, steps.value()};
  const Vector away = judged.second.llt().solve(judged.gap);
  const double of_second = std::pow(frame.noise.second * stage.radii.inputs * stage.radii.inputs, 2) / 2;
  const double of_cross = std::pow(frame.noise.target * stage.radii.inputs * stage.radii.target, 2);
  // Cov(Nδ) = ½((δᵀδ) I + δδᵀ) for symmetric noise N with unit variance on its diagonal and ½ beside it.
  judged.privacy = of_second * away * away.transpose();
  judged.privacy.diagonal().array() += of_second * away.squaredNorm() + of_cross;
  judged.sampling = meat->value / static_cast<double>(steps.value());
  judged.sampling_noise = meat->stddev / static_cast<double>(steps.value());
  return judged;
}

/// How far a part is from the whole.
struct Distance {
  double square;   ///< eᵀ Cov(e)⁻¹ e/d
  double freedom;  ///< degrees of freedom of its denominator, by Satterthwaite
};

/// The distance of the part up to the step `mark`. Empty where noise leaves no covariance, or too little of it.
std::optional<Distance> distance_of_part(const JudgedStage& stage, const StageNoise& noise, const Mark& sums,
                                         std::uint64_t mark) {
  const auto d = static_cast<std::size_t>(stage.gap.size());
  // Two stages that never were: the noise of the part before the mark, and of the part behind it.
  const std::array<std::uint64_t, 2> firsts{stage.first, mark};
  const std::vector<double> shared = noise.covariance(firsts, StepCount{stage.end});
  const auto covariance_of = [&](std::size_t i, std::size_t j, std::uint64_t steps) -> Matrix {
    return shared[2 * i + j] * stage.privacy + static_cast<double>(steps) * stage.sampling;
  };
  const Matrix early = covariance_of(0, 0, mark - stage.first);
  const Matrix late = covariance_of(1, 1, stage.end - mark);
  // Records of different steps are independent, so the parts share noise, but no sampling.
  const Matrix both = covariance_of(0, 1, 0);
  const Matrix part = full_matrix(sums.second, d);
  const Matrix share = stage.second.llt().solve(part).transpose();  // W = H_A H⁻¹
  const Matrix rest = Matrix::Identity(share.rows(), share.cols()) - share;
  const Matrix crossed = rest * both * share.transpose();
  // Cov(e) of the header. H and its parts are noisy, so that it may come out indefinite, which is checked below.
  const Matrix covariance =
      rest * early * rest.transpose() - crossed - crossed.transpose() + share * late * share.transpose();
  const Eigen::SelfAdjointEigenSolver<Matrix> spectrum((covariance + covariance.transpose()) / 2);
  if (spectrum.info() != Eigen::Success || !(spectrum.eigenvalues()(0) > 0)) return std::nullopt;
  const Vector away = spectrum.eigenvectors().transpose() * (of_target(sums.cross, d) - share * stage.gap);
  // Symmetric noise as that of the spread has the same deviation along every direction.
  const double steps_between = static_cast<double>(mark - stage.first) * static_cast<double>(stage.end - mark) /
                               static_cast<double>(stage.end - stage.first);
  const Vector errors = steps_between * stage.sampling_noise * spectrum.eigenvalues().cwiseInverse();
  const double uncertain = std::hypot(stage.sampling_scale, std::sqrt(errors.squaredNorm() / static_cast<double>(d)));
  const double freedom = std::min(most_freedom, 2 / (uncertain * uncertain));
  if (!(freedom >= fewest_freedom)) return std::nullopt;
  const Vector squares = away.cwiseAbs2().cwiseQuotient(spectrum.eigenvalues());
  return Distance{squares.sum() / static_cast<double>(d), freedom};
}

/// Fisher's F rather than χ²/d, because the covariance that the distance is measured by is itself an estimate.
bool alarms(const Distance& distance, std::size_t d, double false_alarm) {
  const boost::math::fisher_f alike(static_cast<double>(d), distance.freedom);
  return distance.square > boost::math::quantile(boost::math::complement(alike, false_alarm));
}

/// The number of the mark, from 1, that is nearest to `share` of the stage, of those before its last step.
std::size_t nearest_mark(std::uint64_t steps, double share) {
  const std::uint64_t distance = mark_distance(steps);
  const auto last = static_cast<std::size_t>((steps - 1) / distance);
  const double wanted = share * static_cast<double>(steps) / static_cast<double>(distance);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::llround(wanted)), 1, last);
}

}  // namespace

SumsStatus sums_status(const RunningSums& sums, const Frame& frame, const StageNoise& noise,
                       std::span<const Mark> marks, std::span<const double> covariance, const Estimate& found,
                       StepCount steps, double false_alarm) {
  NUSTREAM_REQUIRE(frame.design.shape.endogenous == 0 && !sums.memory().forgets(), "plain sums of a linear model");
  const SumsStatus unknown{inference::Verdict::converging, 0, 0, false_alarm};
  const std::uint64_t own = steps.value() - sums.stages().back().first;
  NUSTREAM_REQUIRE(marks.size() == mark_count(own), "the marks are the newest stage's");
  if (own < enough_steps_of_a_stage) return unknown;
  const auto stage = judged_stage(sums, frame, covariance, found, steps);
  if (!stage) return unknown;
  SumsStatus status{inference::Verdict::settled, 0, 0, false_alarm};
  for (const auto& [share, figure] : {std::pair{0.5, &status.halves}, std::pair{0.75, &status.ends}}) {
    const std::size_t number = nearest_mark(own, share);
    const auto seen = distance_of_part(*stage, noise, marks[number - 1], stage->first + number * mark_distance(own));
    if (!seen) return unknown;
    *figure = seen->square;
    // Half for each of the two comparisons (Bonferroni), so that both together are as rare as said.
    if (alarms(*seen, frame.design.shape.inputs, false_alarm / 2)) status.verdict = inference::Verdict::drifting;
  }
  return status;
}

}  // namespace nustream::moments
