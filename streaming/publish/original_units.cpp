// The affine map between θ and the coefficients that people read, equation by equation. convert() and invert() walk
// the equations and names in one order, which add_equation() sets; linear_part() is read off convert() itself.
#include "publish/original_units.h"

#include <algorithm>
#include <cmath>

namespace nustream::publish {
namespace {

/// Values by name, with a count of how many of them were asked for.
class GivenValues {
 public:
  explicit GivenValues(std::span<const std::pair<std::string, double>> values) : values_(values) {}

  /// The value of the name; null where it has none.
  const double* find(const std::string& name) {
    const auto found = std::ranges::find(values_, name, &std::pair<std::string, double>::first);
    if (found == values_.end()) return nullptr;
    ++used_;
    return &found->second;
  }
  /// False where a name was given that nobody asked for, which is a misspelt one or one of another model.
  [[nodiscard]] bool all_used() const noexcept { return used_ == values_.size(); }

 private:
  std::span<const std::pair<std::string, double>> values_;
  std::size_t used_ = 0;
};

}  // namespace

OriginalUnits::OriginalUnits(const record::Schema& schema, const lane::Settings& settings)
    : mean_(settings.loss.kind == model::Loss::Kind::mean) {
  const record::Feature* target = schema.target ? &*schema.target : nullptr;
  if (settings.first_stage) {
    add_two_stages(schema, *settings.first_stage);
    return;
  }
  const std::size_t predictors = model::predictors(settings.loss);
  const auto name_of = [&](std::size_t k) {
    // Class k is named by the label that the target's values have in the records. Without labels it
    // is named by its number.
    const bool is_named = target != nullptr && k < target->first.labels.size();
    return is_named ? target->first.labels[k] : std::to_string(k);
  };
  // A multinomial model has a predictor for each class but class 0, to which the others are compared.
  for (std::size_t k = 1; k <= predictors; ++k) {
    const std::string prefix = predictors > 1 ? "class " + name_of(k) + ": " : "";
    add_equation(prefix, schema.intercept, schema.features, target);
  }
}

/// A row is [intercept, controls, instruments, endogenous]. The second stage is about controls and endogenous
/// regressors, and each first stage about controls and instruments.
void OriginalUnits::add_two_stages(const record::Schema& schema, const lane::FirstStage& first_stage) {
  const descent::TwoStageShape& shape = first_stage.shape;
  const std::span<const record::Feature> features(schema.features);
  const std::span<const record::Feature> endogenous = features.last(shape.endogenous);
  const std::span<const record::Feature> exogenous = features.first(features.size() - shape.endogenous);
  // The shape counts the intercept among the controls, but the schema has no feature for it.
  const std::size_t controls = shape.controls - (schema.intercept ? 1 : 0);
  std::vector<record::Feature> second(exogenous.begin(), exogenous.begin() + static_cast<std::ptrdiff_t>(controls));
  second.insert(second.end(), endogenous.begin(), endogenous.end());
  add_equation("", schema.intercept, second, &*schema.target);
  // This first stage has no noise, so that its coefficients must not be shown.
  if (!first_stage.clip) return;
  for (const record::Feature& regressor : endogenous) {
    add_equation(regressor.name + " ~ ", schema.intercept, exogenous, &regressor);
  }
}

/// Adds one linear predictor: its names, and the next entries of θ. With centred columns a model without an intercept
/// has one in original units, since Σ θ_j (x_j − c_j)/s_j contains a constant. It is shown then.
void OriginalUnits::add_equation(const std::string& prefix, bool intercept, std::span<const record::Feature> features,
                                 const record::Feature* target) {
  Equation equation{parameters_, intercept, intercept, prefix, {}, {}, 0, 1};
  for (const record::Feature& feature : features) {
    equation.centers.push_back(feature.center);
    equation.scales.push_back(feature.scale);
    equation.intercept_shown |= feature.center != 0;
  }
  if (target != nullptr) {
    equation.target_center = target->center;
    equation.target_scale = target->scale;
    equation.intercept_shown |= target->center != 0;
  }
  // A mean has a value for each column and no predictor, so that there is nothing that an
  // intercept would be added to.
  equation.intercept_shown &= !mean_;
  if (equation.intercept_shown) names_.push_back(prefix + "intercept");
  for (const record::Feature& feature : features) names_.push_back(prefix + feature.name);
  parameters_ += equation.size();
  equations_.push_back(std::move(equation));
}

void OriginalUnits::convert(std::span<const double> theta, std::vector<double>& out) const {
  out.clear();
  for (const Equation& equation : equations_) {
    const std::vector<double>& centers = equation.centers;
    const std::vector<double>& scales = equation.scales;
    const std::span<const double> own = theta.subspan(equation.first, equation.size());
    if (mean_) {
      for (std::size_t j = 0; j < own.size(); ++j) out.push_back(centers[j] + scales[j] * own[j]);
      continue;
    }
    const std::size_t first = equation.intercept_parameter ? 1 : 0;
    if (equation.intercept_shown) {
      // θ_0 − Σ θ_j c_j/s_j is the prediction for features that are all 0, in the target's working units.
      double constant = equation.intercept_parameter ? own[0] : 0.0;
      for (std::size_t j = 0; j < centers.size(); ++j) constant -= own[first + j] * centers[j] / scales[j];
      out.push_back(equation.target_center + equation.target_scale * constant);
    }
    for (std::size_t j = 0; j < centers.size(); ++j) {
      out.push_back(equation.target_scale * own[first + j] / scales[j]);
    }
  }
}

std::string OriginalUnits::invert(std::span<const std::pair<std::string, double>> values,
                                  std::span<double> theta) const {
  GivenValues given(values);
  std::size_t name = 0;
  for (const Equation& equation : equations_) {
    const std::span<double> own = theta.subspan(equation.first, equation.size());
    // The intercept's name stands before those of the features. Its value is asked for below, when the sum
    // over the centres is known.
    if (equation.intercept_shown) ++name;
    const std::size_t first = equation.intercept_parameter && !mean_ ? 1 : 0;
    double constant = 0;  // of the centred features, in units of the target
    for (std::size_t j = 0; j < equation.centers.size(); ++j, ++name) {
      const double* value = given.find(names_[name]);
      if (value == nullptr) return "it has no '" + names_[name] + "'";
      const double center = equation.centers[j];
      const double scale = equation.scales[j];
      own[first + j] = mean_ ? (*value - center) / scale : *value * scale / equation.target_scale;
      if (!mean_) constant += own[first + j] * center / scale;
    }
    if (mean_) continue;
    // It may be given although it is not among this map's names, where the values came from other centres, and may
    // be missing where it is 0.
    const double* intercept = given.find(equation.prefix + "intercept");
    const double shown = intercept != nullptr ? *intercept : 0.0;
    const double parameter = (shown - equation.target_center) / equation.target_scale + constant;
    if (equation.intercept_parameter) {
      own[0] = parameter;
      // Otherwise θ has no entry for the constant, which therefore has to vanish. It is compared up to rounding,
      // relative to the terms that cancel in it, and by a negation, so that NaN is refused too.
    } else if (!(std::abs(parameter) <= 1e-9 * (1 + std::abs(shown) + std::abs(constant)))) {
      return "its intercept is not one that a model without an intercept has under these centres";
    }
  }
  if (!given.all_used()) return "it has coefficients that the settings do not";
  if (!std::ranges::all_of(theta, [](double entry) { return std::isfinite(entry); })) {
    return "its values are not all finite numbers";
  }
  return {};
}

std::string OriginalUnits::invert(std::span<const std::pair<std::string, double>> values,
                                  std::span<const std::string> unknown, std::span<double> theta) const {
  const auto is_unknown = [&](const std::string& name) { return std::ranges::find(unknown, name) != unknown.end(); };
  std::vector<std::pair<std::string, double>> known(values.begin(), values.end());
  for (auto& [name, value] : known) {
    if (is_unknown(name)) value = 0;
  }
  std::string wrong = invert(known, theta);
  const Equation& first = equations_.front();
  // An intercept of 0 in original units could be as far from any answer as the target's centre is from 0.
  if (wrong.empty() && first.intercept_parameter && is_unknown(first.prefix + "intercept")) theta[first.first] = 0;
  return wrong;
}

std::size_t OriginalUnits::names_of_first_equation() const noexcept {
  const Equation& first = equations_.front();
  return first.centers.size() + (first.intercept_shown ? 1 : 0);
}

std::vector<double> OriginalUnits::linear_part() const {
  // The map is affine, so that its columns are the images of the unit vectors less the image of 0.
  std::vector<double> theta(parameters_, 0.0);
  std::vector<double> origin;
  convert(theta, origin);
  std::vector<double> matrix(origin.size() * parameters_);
  std::vector<double> image;
  for (std::size_t j = 0; j < parameters_; ++j) {
    theta[j] = 1;
    convert(theta, image);
    theta[j] = 0;
    for (std::size_t i = 0; i < image.size(); ++i) matrix[i * parameters_ + j] = image[i] - origin[i];
  }
  return matrix;
}

}  // namespace nustream::publish
