// The softmax of K − 1 predictions and a 0 for class 0, without overflow.
#include "nustream/model/multinomial.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nustream::model {
namespace {

/// The largest of all K predictions.
double largest_of(std::span<const double> predictions) {
  double largest = 0;  // p_0
  for (const double prediction : predictions) largest = std::max(largest, prediction);
  return largest;
}

}  // namespace

bool Multinomial::is_label(double target) const noexcept {
  return target >= 0 && target < static_cast<double>(classes) && target == std::floor(target);
}

double Multinomial::value(std::span<const double> predictions, double target) const noexcept {
  // All exponents are shifted by the largest, so that no exponential overflows.
  const double shift = largest_of(predictions);
  double sum = std::exp(-shift);
  for (const double prediction : predictions) sum += std::exp(prediction - shift);
  const auto label = static_cast<std::size_t>(target);
  return shift + std::log(sum) - (label == 0 ? 0.0 : predictions[label - 1]);
}

void Multinomial::slopes(std::span<const double> predictions, double target, std::span<double> out) const noexcept {
  // The NaN travels through the clip, which makes a zero gradient of it: the record takes its step and adds nothing.
  if (!is_label(target)) {
    std::ranges::fill(out, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  // The exponents are shifted as in value(). The shift cancels in the quotient.
  const double shift = largest_of(predictions);
  double sum = std::exp(-shift);
  for (std::size_t k = 0; k < out.size(); ++k) {
    // A prediction is read before its place is written, so `out` may be the predictions themselves.
    out[k] = std::exp(predictions[k] - shift);
    sum += out[k];
  }
  for (double& entry : out) entry /= sum;
  const auto label = static_cast<std::size_t>(target);
  // The slope of predictor k is p_k − [the record is of class k].
  if (label > 0) out[label - 1] -= 1;
}

}  // namespace nustream::model
