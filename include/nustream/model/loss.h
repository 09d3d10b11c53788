// The losses that a lane can descend on, and what each of them says about one record. Notation: docs/notation.md.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace nustream::model {

/// A loss f(θ; x, y). Every loss carries the ½ of ½(θᵀx − y)², so that no gradient carries a 2.
///
/// The clipped part of one record's gradient is slope · x. Each loss has a header of its own (model/linear.h and so
/// on).
///
/// | kind        | f(θ; x, y)                            | slope                              | y        |
/// |-------------|---------------------------------------|------------------------------------|----------|
/// | mean        | −θᵀx, and ½‖θ‖² as its regulariser    | −1                                 | unused   |
/// | linear      | ½(θᵀx − y)²                           | θᵀx − y                            | any      |
/// | huber       | ½r² for |r| ≤ h, else h|r| − ½h²      | r clamped to ±h, r = θᵀx − y       | any      |
/// | quantile    | smoothed check loss of r = θᵀx − y    | share of the kernel below r, − τ   | any      |
/// | logistic    | ln(1 + exp(θᵀx)) − y θᵀx              | 1/(1 + exp(−θᵀx)) − y              | 0 or 1   |
/// | poisson     | exp(θᵀx) − y θᵀx                      | exp(θᵀx) − y                       | counts   |
/// | multinomial | ln(1 + Σ_k exp(θ_kᵀx)) − θ_yᵀx        | one for each class but the first   | 0 … K−1  |
///
/// The parameter of multinomial is a matrix, d × (K − 1), kept class by class: entry k·d + j belongs to class k + 1
/// and x_j. The parameters of all others are vectors of d entries.
///
/// The mean's regulariser stands outside the clip (CDP+ section 2.1). Clipping is then a public map of the record
/// alone, and θ tracks the mean of clip(x, G).
struct Loss {
  enum class Kind { mean, linear, huber, logistic, poisson, quantile, multinomial };

  Kind kind = Kind::linear;
  double threshold = 1.0;   ///< h of huber, in units of y; > 0; the other losses ignore it
  double level = 0.5;       ///< τ of quantile, in (0, 1)
  double bandwidth = 1.0;   ///< h of quantile, in units of y; > 0
  std::size_t classes = 2;  ///< K of multinomial, ≥ 2
};

/// Throws InvalidParameter where a parameter that the loss uses is out of its range.
void check(const Loss& loss);

/// How many linear predictors a record has, which is the number of the parameter's columns: K − 1 for multinomial,
/// and 1 for all others.
[[nodiscard]] std::size_t predictors(const Loss& loss) noexcept;

/// Whether rows of this loss need a y.
[[nodiscard]] bool needs_target(Loss::Kind kind) noexcept;

/// The strength of the ½‖θ‖² that the loss itself adds outside the clip: 1 for the mean, and 0 for all others.
[[nodiscard]] double own_regularisation(Loss::Kind kind) noexcept;

/// The name that settings use: "mean", "linear", "huber", "logistic", "poisson", "quantile" or "multinomial".
[[nodiscard]] std::string_view name(Loss::Kind kind) noexcept;
/// The kind with this name. Throws InvalidParameter for any other text.
[[nodiscard]] Loss::Kind loss_kind(std::string_view name);
/// Every kind, in the order of the settings' documentation.
[[nodiscard]] std::span<const Loss::Kind> loss_kinds() noexcept;
/// The kinds with one predictor, whatever their parameters.
[[nodiscard]] std::span<const Loss::Kind> single_predictor_kinds() noexcept;

/// f(θ; x, y) without the loss's own regulariser. x has d entries, and θ has d entries for each predictor.
[[nodiscard]] double value(const Loss& loss, std::span<const double> theta, std::span<const double> x, double y);

/// ∇f(θ; x, y) before clipping, without the loss's own regulariser. It has as many entries as θ.
[[nodiscard]] std::vector<double> gradient(const Loss& loss, std::span<const double> theta, std::span<const double> x,
                                           double y);

}  // namespace nustream::model
