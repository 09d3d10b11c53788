// Converts parameters from the working coordinates of the rows back to the units of the fields, by feature name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nustream/lane/lane.h"
#include "nustream/record/schema.h"

namespace nustream::publish {

/// A public affine map from θ to coefficients of the features as they are before centring and scaling (but after
/// their transforms). With features x'_j = (x_j − c_j)/s_j and target y' = (y − c)/s, the model y' = θ_0 + Σ θ_j x'_j
/// is y = (c + s(θ_0 − Σ θ_j c_j/s_j)) + Σ (s θ_j/s_j) x_j. For a mean it is m_j = c_j + s_j θ_j.
///
/// A parameter of several equations is mapped equation by equation: the classes of a multinomial model ("class 1:
/// name"), or the second stage of a two-stage model and then its first ("endogenous ~ instrument"). A first stage
/// without noise is left out, because its coefficients are never shown (IV paper, Algorithm 3).
class OriginalUnits {
 public:
  OriginalUnits(const record::Schema& schema, const lane::Settings& settings);

  /// Names in the order of convert()'s result; "intercept" comes first where the model or the centring gives one.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// How many of the names belong to the first equation, which is the second stage of a two-stage model.
  [[nodiscard]] std::size_t names_of_first_equation() const noexcept;
  /// `theta` has settings.dimension entries; `out` is resized to names().size().
  void convert(std::span<const double> theta, std::vector<double>& out) const;
  /// Finds the parameter that convert() shows as `values`, which are given by name, in whatever centres and scales
  /// they were fitted. `theta` has settings.dimension entries; those of a first stage that is never shown stay as
  /// they are. An intercept that is not among the values is 0. Returns "" or what stands in the way: a name that is
  /// missing or unknown, a number that is not finite, or an intercept that a model without one cannot have.
  [[nodiscard]] std::string invert(std::span<const std::pair<std::string, double>> values,
                                   std::span<double> theta) const;
  /// The same where the values of the names in `unknown` are not known, whatever stands there: their parameters are
  /// 0.
  [[nodiscard]] std::string invert(std::span<const std::pair<std::string, double>> values,
                                   std::span<const std::string> unknown, std::span<double> theta) const;
  /// The linear part of the map, row-major names().size() × θ's entries: a covariance C becomes A C Aᵀ.
  [[nodiscard]] std::vector<double> linear_part() const;

 private:
  /// One linear predictor: which entries of θ it has, and the units of both sides.
  struct Equation {
    std::size_t first;  // its first entry in θ
    bool intercept_parameter;
    bool intercept_shown;
    std::string prefix;           // of its coefficients' names
    std::vector<double> centers;  // of its features, without the intercept
    std::vector<double> scales;
    double target_center;
    double target_scale;
    [[nodiscard]] std::size_t size() const noexcept { return centers.size() + (intercept_parameter ? 1 : 0); }
  };
  void add_equation(const std::string& prefix, bool intercept, std::span<const record::Feature> features,
                    const record::Feature* target);
  void add_two_stages(const record::Schema& schema, const lane::FirstStage& first_stage);

  std::vector<std::string> names_;
  std::vector<Equation> equations_;
  std::size_t parameters_ = 0;
  bool mean_;
};

}  // namespace nustream::publish
