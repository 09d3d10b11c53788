// From the working coordinates of the rows back to the units of the fields, by feature name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nustream/model/loss.h"
#include "nustream/record/schema.h"

namespace nustream::publish {

/// A public affine map θ → coefficients of the transformed but uncentred, unscaled features. With features
/// x'_j = (x_j − c_j)/s_j and target y' = (y − c)/s, the model y' = θ_0 + Σ θ_j x'_j is
/// y = (c + s(θ_0 − Σ θ_j c_j/s_j)) + Σ (s θ_j/s_j) x_j. For the mean: m_j = c_j + s_j θ_j.
class OriginalUnits {
 public:
  OriginalUnits(const record::Schema& schema, model::Loss::Kind loss);

  /// Names in the order of convert()'s result; "intercept" first where the model or the centring gives one.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// `theta` has schema.dimension() entries; `out` is resized to names().size().
  void convert(std::span<const double> theta, std::vector<double>& out) const;

 private:
  std::vector<std::string> names_;
  std::vector<double> centers_;  // of the features, without the intercept
  std::vector<double> scales_;
  double target_center_ = 0;
  double target_scale_ = 1;
  bool mean_;
  bool intercept_parameter_;
  bool intercept_shown_;
};

}  // namespace nustream::publish
