// The losses by name, and value and gradient of a single record. The loops do not call these: they take the slope of
// a formula directly (visit.h). Each formula has a header of its own.
#include "nustream/model/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "nustream/base/error.h"
#include "nustream/model/multinomial.h"
#include "nustream/model/visit.h"

namespace nustream::model {
namespace {

/// The one kind with several predictors comes last, because single_predictor_kinds() takes all but the last.
constexpr std::array kinds = {Loss::Kind::mean,    Loss::Kind::linear,   Loss::Kind::huber,      Loss::Kind::logistic,
                              Loss::Kind::poisson, Loss::Kind::quantile, Loss::Kind::multinomial};

bool positive(double value) {
  return std::isfinite(value) && value > 0;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The predictions θ_kᵀx, one for each column of θ.
std::vector<double> predictions(const Loss& loss, std::span<const double> theta, std::span<const double> x) {
  std::vector<double> result;
  for (std::size_t k = 0; k < predictors(loss); ++k) result.push_back(dot(theta.subspan(k * x.size(), x.size()), x));
  return result;
}

}  // namespace

void check(const Loss& loss) {
  if (loss.kind == Loss::Kind::huber && !positive(loss.threshold)) {
    throw InvalidParameter("threshold", std::to_string(loss.threshold), "a finite number > 0");
  }
  if (loss.kind == Loss::Kind::quantile) {
    if (!(loss.level > 0 && loss.level < 1)) {
      throw InvalidParameter("level", std::to_string(loss.level), "a number between 0 and 1");
    }
    if (!positive(loss.bandwidth)) {
      throw InvalidParameter("bandwidth", std::to_string(loss.bandwidth), "a finite number > 0");
    }
  }
  if (loss.kind == Loss::Kind::multinomial && loss.classes < 2) {
    throw InvalidParameter("classes", std::to_string(loss.classes), "a whole number >= 2");
  }
}

// A multinomial model of K classes has K − 1 predictors: class 0 has the prediction 0.
std::size_t predictors(const Loss& loss) noexcept {
  return loss.kind == Loss::Kind::multinomial ? loss.classes - 1 : 1;
}

// A mean is the mean of the rows themselves.
bool needs_target(Loss::Kind kind) noexcept {
  return kind != Loss::Kind::mean;
}

// The loss of the mean is ½‖x‖² − ⟨x, θ⟩ with ½‖θ‖² as its regulariser. So only x is clipped, whatever θ is, and
// what is estimated is the mean of clip(x, G).
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
    case Loss::Kind::quantile:
      return "quantile";
    case Loss::Kind::multinomial:
      return "multinomial";
  }
  __builtin_unreachable();
}

Loss::Kind loss_kind(std::string_view text) {
  const auto* const found = std::ranges::find(kinds, text, [](Loss::Kind kind) { return name(kind); });
  if (found == kinds.end()) {
    throw InvalidParameter("loss", "\"" + std::string(text) + "\"",
                           "mean, linear, huber, logistic, poisson, quantile or multinomial");
  }
  return *found;
}

std::span<const Loss::Kind> loss_kinds() noexcept {
  return kinds;
}

std::span<const Loss::Kind> single_predictor_kinds() noexcept {
  return std::span(kinds).first(kinds.size() - 1);
}

double value(const Loss& loss, std::span<const double> theta, std::span<const double> x, double y) {
  if (loss.kind == Loss::Kind::multinomial) return Multinomial{loss.classes}.value(predictions(loss, theta, x), y);
  return visit(loss, [&](const auto& formula) { return formula.value(dot(theta, x), y); });
}

std::vector<double> gradient(const Loss& loss, std::span<const double> theta, std::span<const double> x, double y) {
  std::vector<double> slopes = predictions(loss, theta, x);
  if (loss.kind == Loss::Kind::multinomial) {
    Multinomial{loss.classes}.slopes(slopes, y, slopes);
  } else {
    slopes[0] = visit(loss, [&](const auto& formula) { return formula.slope(slopes[0], y); });
  }
  // slopes ⊗ x, column by column, as an iterate of several predictors is laid out.
  std::vector<double> result;
  for (const double slope : slopes) {
    for (const double entry : x) result.push_back(slope * entry);
  }
  return result;
}

}  // namespace nustream::model
