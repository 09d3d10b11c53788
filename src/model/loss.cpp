#include "nustream/model/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "nustream/base/error.h"
#include "nustream/model/visit.h"

namespace nustream::model {
namespace {

constexpr std::array kinds = {Loss::Kind::mean, Loss::Kind::linear, Loss::Kind::huber, Loss::Kind::logistic,
                              Loss::Kind::poisson};

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

void check(const Loss& loss) {
  const bool valid = std::isfinite(loss.threshold) && loss.threshold > 0;
  if (loss.kind == Loss::Kind::huber && !valid) {
    throw InvalidParameter("threshold", std::to_string(loss.threshold), "a finite number > 0");
  }
}

bool needs_target(Loss::Kind kind) noexcept {
  return visit(Loss{kind, 1.0}, [](const auto& formula) { return formula.uses_target; });
}

double own_regularisation(Loss::Kind kind) noexcept {
  return kind == Loss::Kind::mean ? 1.0 : 0.0;
}

std::string_view name(Loss::Kind kind) noexcept {
  switch (kind) {
    case Loss::Kind::mean:
      return "mean";
    case Loss::Kind::linear:
      return "linear";
    case Loss::Kind::huber:
      return "huber";
    case Loss::Kind::logistic:
      return "logistic";
    case Loss::Kind::poisson:
      return "poisson";
  }
  __builtin_unreachable();
}

Loss::Kind loss_kind(std::string_view text) {
  const auto* const found = std::ranges::find(kinds, text, [](Loss::Kind kind) { return name(kind); });
  if (found == kinds.end()) {
    throw InvalidParameter("loss", "\"" + std::string(text) + "\"", "mean, linear, huber, logistic or poisson");
  }
  return *found;
}

std::span<const Loss::Kind> loss_kinds() noexcept {
  return kinds;
}

double value(const Loss& loss, std::span<const double> theta, std::span<const double> x, double y) {
  return visit(loss, [&](const auto& formula) { return formula.value(dot(theta, x), y); });
}

std::vector<double> gradient(const Loss& loss, std::span<const double> theta, std::span<const double> x, double y) {
  const double slope = visit(loss, [&](const auto& formula) { return formula.slope(dot(theta, x), y); });
  std::vector<double> result(x.begin(), x.end());
  for (double& entry : result) entry *= slope;
  return result;
}

}  // namespace nustream::model
