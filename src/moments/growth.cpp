// How units and centres of later stages follow from noisy sums (Lane::grow()). A window is the part of the newest
// stage since the last look. Its sums are differences of noisy sums, and where a scale may grow, three deviations of
// the noise are taken off first: noise may hide a growth, but hardly makes one.
#include "nustream/moments/growth.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>

#include "moments/sampling.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

/// How many standard deviations of noise a figure is bounded by.
constexpr double certainty = 3;
/// The least mean square, in units of the scale, at which the scale grows. Where it grew at 2, columns whose spread
/// varies by season grew too, and their noise with them.
constexpr double least_square = 4;
/// Bounds in units of the root mean square of what they bound.
constexpr double of_rows = 1.75;
constexpr double of_residuals = 3;
/// The most by which R_r changes at a stage, and the least changes of R_x and R_r for which a stage begins.
constexpr double fourfold = 4;
constexpr double least_of_rows = 1.1;
constexpr double least_of_residuals = 1.25;

/// The entry of the isometric triangle at the diagonal of `input`.
std::size_t diagonal_of(std::size_t input, std::size_t inputs) {
  return input * (2 * inputs + 1 - input) / 2;
}

/// Which input is the intercept: the frame's combination is a unit vector here, with its 1 at that input.
std::size_t constant_of(const Frame& frame) {
  return static_cast<std::size_t>(std::ranges::max_element(frame.constant) - frame.constant.begin());
}

/// Σ clip(r)² as the spread holds it, whose unit is R_r², or (R_r R_x)² of a sandwich, from which it is taken along
/// the constant.
double squares_of(const StageSums& stage, const Frame& frame) {
  if (frame.design.spread == Spread::residuals) return stage.spread.front();
  if (frame.design.spread != Spread::sandwich) return 0;
  return stage.spread[diagonal_of(constant_of(frame), frame.design.shape.inputs)];
}

/// The sums of the window, with the standard deviations of their noise.
class Window {
 public:
  Window(const RunningSums& sums, const Frame& frame, const Looked& before, double variance, StepCount steps)
      : stage_(sums.stages().back()),
        frame_(frame),
        before_(before),
        inputs_(frame.design.shape.inputs),
        constant_(constant_of(frame)),
        deviation_(std::sqrt(std::max(variance, 0.0))),
        records_(static_cast<double>((steps.value() - before.step) * frame.every)) {}

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t constant() const { return constant_; }
  [[nodiscard]] const StageSums& stage() const { return stage_; }

  /// The noisy Σ x_j², and the standard deviation of its noise.
  [[nodiscard]] double at(std::size_t input) const {
    return stage_.second[diagonal_of(input, inputs_)] - before_.diagonal[input];
  }
  [[nodiscard]] double of_second() const {
    return stage_.radii.inputs * stage_.radii.inputs * frame_.noise.second * deviation_;
  }
  /// The noisy sum of the weights s² of all usable rows, and an upper bound of it.
  [[nodiscard]] double usable() const { return at(constant_); }
  [[nodiscard]] double usable_at_most() const { return std::min(records_, usable() + certainty * of_second()); }
  /// A lower bound of the mean square of an input, in units of its scale.
  [[nodiscard]] double mean_square(std::size_t input) const {
    const double most = usable_at_most();
    return most > 0 ? (at(input) - certainty * of_second()) / most : 0;
  }

  /// The noisy Σ clip(r)², and the standard deviation of its noise.
  struct Squares {
    double sum = 0;
    double deviation = 0;
  };
  [[nodiscard]] Squares squares() const {
    const double target = stage_.radii.target * stage_.radii.target;
    const bool is_sandwich = frame_.design.spread == Spread::sandwich;
    const double noise = target * frame_.noise.spread * deviation_;
    const double sum = squares_of(stage_, frame_) - before_.squares;
    return is_sandwich ? Squares{sum, stage_.radii.inputs * stage_.radii.inputs * noise}
                       : Squares{target * sum, noise};
  }

 private:
  const StageSums& stage_;
  const Frame& frame_;
  const Looked& before_;
  std::size_t inputs_;
  std::size_t constant_;
  double deviation_;
  double records_;
};

/// The factor by which the scale of an input grows: a power of two, 1 where it stays.
double growth_of(const Window& window, std::size_t input) {
  const double square = window.mean_square(input);
  if (input == window.constant() || !(square >= least_square)) return 1;
  const double most = largest_scale / window.stage().scale(input);
  return std::min(std::exp2(std::round(std::log2(square) / 2)), most);
}

/// R_x of rows that are divided by `growth`.
double bound_of_rows(const Window& window, std::span<const double> growth) {
  const double most = window.usable_at_most();
  double sum = 0;
  double noise = 0;
  for (std::size_t j = 0; j < growth.size(); ++j) {
    const double square = growth[j] * growth[j];
    sum += window.at(j) / square;
    noise += 1 / (square * square);
  }
  // The diagonal entries' noises are independent; each is divided as its entry is.
  const double lower = sum - certainty * window.of_second() * std::sqrt(noise);
  const double before = window.stage().radii.inputs;
  if (!(most > 0 && lower > 0)) return before;
  const double largest = 2 * std::sqrt(static_cast<double>(window.inputs()));
  const double bound = std::min(of_rows * std::sqrt(lower / most), largest);
  return bound >= least_of_rows * before ? bound : before;
}

/// R_r from the mean square of clipped residuals. Where clipping was tight that mean is too small, and several stages
/// are needed until the bound fits.
double bound_of_residuals(const Window& window) {
  const double before = window.stage().radii.target;
  const Window::Squares squares = window.squares();
  const bool is_seen =
      squares.sum > certainty * squares.deviation && window.usable() > certainty * window.of_second();
  if (!is_seen) return before;
  const double found =
      std::clamp(of_residuals * std::sqrt(squares.sum / window.usable()), before / fourfold, before * fourfold);
  const double bound = std::clamp(found, 0x1p-100, 0x1p100);  // what radii may be
  const bool stays = bound < least_of_residuals * before && before < least_of_residuals * bound;
  return stays ? before : bound;
}

}  // namespace

Looked look(const RunningSums& sums, const Frame& frame, StepCount steps) {
  const StageSums& newest = sums.stages().back();
  Looked seen{steps.value(), {}, squares_of(newest, frame)};
  const std::size_t inputs = frame.design.shape.inputs;
  for (std::size_t j = 0; j < inputs; ++j) seen.diagonal.push_back(newest.second[diagonal_of(j, inputs)]);
  return seen;
}

std::optional<StageUnits> grown_units(const RunningSums& sums, const Frame& frame, const Looked& before,
                                      double variance, StepCount steps) {
  NUSTREAM_REQUIRE(frame.design.shape.endogenous == 0 && !sums.memory().forgets(), "plain sums of a linear model");
  NUSTREAM_REQUIRE(frame.constant.size() == frame.design.shape.inputs, "an intercept counts the rows");
  NUSTREAM_REQUIRE(before.step < steps.value() && before.diagonal.size() == frame.constant.size(), "an earlier look");
  const Window window(sums, frame, before, variance, steps);
  const StageSums& newest = window.stage();
  StageUnits units{newest.radii, {}};
  std::vector<double> growth;
  for (std::size_t j = 0; j < window.inputs(); ++j) {
    growth.push_back(growth_of(window, j));
    units.scales.push_back(newest.scale(j) * growth.back());
    units.have_grown = units.have_grown || growth.back() > 1;
  }
  units.radii.inputs = bound_of_rows(window, growth);
  units.radii.target = bound_of_residuals(window);
  units.have_grown = units.have_grown || units.radii.inputs > newest.radii.inputs;
  if (std::ranges::all_of(units.scales, [](double scale) { return scale == 1; })) units.scales.clear();
  if (!units.have_grown && units.radii == newest.radii) return std::nullopt;
  return units;
}

std::vector<double> shrunken_centre(const RunningSums& sums, const Frame& frame, std::span<const double> covariance,
                                    const Estimate& found) {
  std::vector<double> centre = sums.stages().back().centre;
  const Eigen::Map<const Eigen::VectorXd> before(centre.data(), static_cast<Eigen::Index>(centre.size()));
  const Eigen::Map<const Eigen::VectorXd> theta(found.theta.data(), before.size());
  const Eigen::VectorXd away = theta - before;
  const Eigen::LLT<Eigen::MatrixXd> noise(floored_privacy_of(sums, frame, covariance, found, std::vector<double>{1}));
  // Without noise, C is 0 and has no factor. The centre then stays, as if the move could not be judged.
  if (noise.info() != Eigen::Success) return centre;
  const double square = away.dot(noise.solve(away));
  if (!(square > 0)) return centre;
  const double moved = std::clamp(1 - (static_cast<double>(centre.size()) - 2) / square, 0.0, 1.0);
  for (std::size_t j = 0; j < centre.size(); ++j) centre[j] += moved * away(static_cast<Eigen::Index>(j));
  return centre;
}

std::vector<double> in_units_of(std::span<const double> scales, const StageSums& before, std::vector<double> centre) {
  for (std::size_t j = 0; j < scales.size(); ++j) centre[j] *= scales[j] / before.scale(j);
  return centre;
}

std::vector<double> in_working_units(std::vector<double> theta, const StageSums& newest) {
  for (std::size_t j = 0; j < newest.scales.size(); ++j) theta[j] /= newest.scales[j];
  return theta;
}

std::vector<double> directions_in_units_of(const StageSums& newest, std::vector<double> directions,
                                           std::size_t inputs) {
  if (directions.empty()) {
    directions.resize(inputs * inputs);
    for (std::size_t j = 0; j < inputs; ++j) directions[j * inputs + j] = 1;
  }
  for (std::size_t j = 0; j < directions.size(); ++j) directions[j] /= newest.scale(j % inputs);
  return directions;
}

std::vector<GrownInput> grown_inputs(const std::vector<StageSums>& stages) {
  std::vector<GrownInput> all;
  for (std::size_t j = 0; j < stages.back().scales.size(); ++j) {
    GrownInput input{j, stages.back().scale(j), 0};
    for (std::size_t s = 1; s < stages.size(); ++s) {
      if (stages[s].scale(j) > stages[s - 1].scale(j)) ++input.times;
    }
    if (input.times > 0) all.push_back(input);
  }
  return all;
}

}  // namespace nustream::moments
