#include "config/advice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace nustream::config {
namespace {

/// The largest second derivative of the loss by its prediction.
std::optional<double> curvature_of(const model::Loss& loss) {
  using Kind = model::Loss::Kind;
  switch (loss.kind) {
    case Kind::mean:
    case Kind::linear:
    case Kind::huber:
      return 1;
    case Kind::logistic:
      return 0.25;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string overshoot(const Config& config) {
  if (config.moments) return {};  // no steps of a descent
  const std::optional<double> of_loss = curvature_of(config.descent.loss);
  if (!of_loss) return {};
  const std::vector<double>& moments = config.second_moment_eigenvalues;
  const bool is_assumed = moments.empty() || config.descent.loss.kind == model::Loss::Kind::mean;
  const double largest = is_assumed ? 1 : *std::max_element(moments.begin(), moments.end());
  const double eta = config.descent.schedule.at(StepIndex{0});
  const double curvature = *of_loss * largest + config.descent.l2;
  if (eta * curvature < 2) return {};
  return fmt::format(
      "descent.step_size = {:g} steps beyond the minimum, further away each time ({:g} times a curvature of {:g}{} "
      "is "
      "2 or more): lower it, or scale the features down",
      eta, eta, curvature, is_assumed ? ", for features of size 1," : "");
}

}  // namespace nustream::config
