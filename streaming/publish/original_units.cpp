#include "publish/original_units.h"

namespace nustream::publish {

OriginalUnits::OriginalUnits(const record::Schema& schema, model::Loss::Kind loss)
    : mean_(loss == model::Loss::Kind::mean), intercept_parameter_(schema.intercept) {
  bool constant = schema.intercept;
  for (const record::Feature& feature : schema.features) {
    centers_.push_back(feature.center);
    scales_.push_back(feature.scale);
    constant = constant || feature.center != 0;
  }
  if (schema.target) {
    target_center_ = schema.target->center;
    target_scale_ = schema.target->scale;
    constant = constant || target_center_ != 0;
  }
  intercept_shown_ = constant && !mean_;
  if (intercept_shown_) names_.emplace_back("intercept");
  for (const record::Feature& feature : schema.features) names_.push_back(feature.name);
}

void OriginalUnits::convert(std::span<const double> theta, std::vector<double>& out) const {
  out.clear();
  if (mean_) {
    for (std::size_t j = 0; j < theta.size(); ++j) out.push_back(centers_[j] + scales_[j] * theta[j]);
    return;
  }
  const std::size_t first = intercept_parameter_ ? 1 : 0;
  if (intercept_shown_) {
    double constant = intercept_parameter_ ? theta[0] : 0.0;
    for (std::size_t j = 0; j < centers_.size(); ++j) constant -= theta[first + j] * centers_[j] / scales_[j];
    out.push_back(target_center_ + target_scale_ * constant);
  }
  for (std::size_t j = 0; j < centers_.size(); ++j) out.push_back(target_scale_ * theta[first + j] / scales_[j]);
}

}  // namespace nustream::publish
