// Fits windows and rational correlations to a descent without end. Both kinds of problem become one function ψ(ω)
// (CDP+ Theorem 3.1 and Theorem E.1, or the stationary excess of known eigenvalues); what follows needs ψ alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../noise/overload.h"
#include "../transfer.h"
#include "multipliers.h"
#include "nustream/base/error.h"
#include "nustream/privacy/optimised_descent.h"
#include "nustream/privacy/sensitivity.h"
#include "poles.h"
#include "whitening.h"

namespace nustream::privacy {
namespace {

using Spectrum = std::function<double(const Frequency&)>;

// Both bounds are those of the public header. A window of most_terms entries takes O(most_terms²) to be fitted.
constexpr std::size_t most_taps = 64;
constexpr std::size_t most_terms = std::size_t{1} << 15;

[[noreturn]] void refuse(const char* name, double value, const char* allowed) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  throw InvalidParameter(name, text.str(), allowed);
}

void check(const StronglyConvex& problem) {
  const double mu = problem.strong_convexity;
  const double smooth = problem.smoothness;
  const bool convex = std::isfinite(mu) && mu > 0;
  if (!convex) refuse("strong_convexity", mu, "a finite number > 0");
  const bool ordered = std::isfinite(smooth) && smooth >= mu;
  if (!ordered) refuse("smoothness", smooth, "a finite number >= strong_convexity");
  if (!(problem.step_size.value() * (mu + smooth) < 2)) {
    refuse("step_size", problem.step_size.value(), "step_size (strong_convexity + smoothness) < 2");
  }
  if (problem.taps > most_taps) refuse("taps", static_cast<double>(problem.taps), "0 ... 64");
}

void check(const LocalProblem& problem) {
  if (problem.eigenvalues.empty()) throw InvalidParameter("eigenvalues", "none", "one for each coordinate");
  const double most = problem.curvature == Curvature::gaussian_features ? 1 : 2;
  for (const double eigenvalue : problem.eigenvalues) {
    const double contraction = problem.step_size.value() * eigenvalue;
    const bool stable = contraction > 0 && contraction < most;
    if (!stable) {
      refuse("eigenvalues", eigenvalue,
             most == 1 ? "0 < step size times eigenvalue < 1" : "0 < step size times eigenvalue < 2");
    }
  }
}

/// The slowest contraction of a step, ημ: the width of the narrowest feature of ψ.
double width(const StronglyConvex& problem) {
  return problem.step_size.value() * problem.strong_convexity;
}

double width(const LocalProblem& problem) {
  return problem.step_size.value() * *std::min_element(problem.eigenvalues.begin(), problem.eigenvalues.end());
}

/// ψ with the factor η² included, so that γ² (1/2π)∫|B|²ψ is the loss itself.
Spectrum psi_of(const StronglyConvex& problem) {
  const double step = problem.step_size.value();
  const double mu = step * problem.strong_convexity;
  if (problem.strong_convexity == problem.smoothness) {
    // For μ = L, ψ falls to this value as λ_0 grows without end, so there is nothing to search.
    return [=](const Frequency& at) { return step * step / squared_factor(mu, at); };
  }
  const std::vector<double> multipliers = optimised::Multipliers(problem, optimised::frequencies(mu)).best();
  // The multipliers are found once, on a fixed set of frequencies. From them ψ follows at any other frequency.
  return [=](const Frequency& at) {
    return step * step * optimised::Multipliers(problem, {at}).psi(multipliers).front();
  };
}

/// ψ of Σ_j weight_j P_j, the sum that stationary_excess() computes, with the factor that multiplies all its
/// terms.
Spectrum psi_of(const LocalProblem& problem) {
  const bool gaussian = problem.curvature == Curvature::gaussian_features;
  const double step = problem.step_size.value();
  // The weights and the factor are those of the excess in stationary.cpp.
  double fed_back = 0;
  std::vector<std::pair<double, double>> terms;  // ηλ_j and weight
  for (const double eigenvalue : problem.eigenvalues) {
    const double contraction = step * eigenvalue;
    const double weight = gaussian ? (2 - contraction) * eigenvalue / (2 * (1 - contraction)) : eigenvalue;
    terms.emplace_back(contraction, weight / 2);
    if (gaussian) fed_back += contraction / (2 * (1 - contraction));
  }
  // Where the second moment diverges, it does so for every B and by the same factor, so that factor is left out.
  const double factor = step * step / (fed_back < 1 ? 1 - fed_back : 1);
  return [=](const Frequency& at) {
    double sum = 0;
    for (const auto& [contraction, weight] : terms) sum += weight / squared_factor(contraction, at);
    return factor * sum;
  };
}

/// All that the fits need of a problem: ψ, and how narrow its narrowest feature is.
struct Loss {
  Spectrum psi;
  double width;
};

Loss loss_of(const DescentProblem& problem) {
  return std::visit(
      [](const auto& given) {
        check(given);
        return Loss{psi_of(given), width(given)};
      },
      problem);
}

/// The loss γ_∞² (1/2π)∫|B|²ψ of a correlation with given poles.
/// It is written for any Number, so that one text gives the value and its derivatives (slope.h).
class RationalDescentLoss {
 public:
  explicit RationalDescentLoss(const Loss& loss) : frequencies_(optimised::frequencies(loss.width)) {
    weights_.reserve(frequencies_.size());
    for (const Frequency& at : frequencies_) weights_.push_back(at.weight * loss.psi(at));
  }

  template <class Number>
  Number operator()(const optimised::Poles<Number>& poles) const {
    const std::size_t count = poles.b.size();
    Number square = 1.0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        // 1 − q_i q_j from 1 − q_i and 1 − q_j, without cancellation near 1.
        const Number gap = poles.below_q[i] + poles.below_q[j] - poles.below_q[i] * poles.below_q[j];
        square += poles.b[i] * poles.b[j] / gap;
      }
    }
    Number error = 0.0;
    for (std::size_t k = 0; k < frequencies_.size(); ++k) {
      // |B|² as Π |1 − q_i e^{iω}|²/|1 − p_i e^{iω}|².
      Number transfer = weights_[k];
      for (std::size_t i = 0; i < count; ++i) {
        transfer = transfer * squared_factor(poles.below_q[i], frequencies_[k]) /
                   squared_factor(poles.below_p[i], frequencies_[k]);
      }
      error += transfer;
    }
    return square * error;
  }

 private:
  std::vector<Frequency> frequencies_;
  std::vector<double> weights_;
};

}  // namespace

double descent_bound(const noise::Correlation& correlation, const StronglyConvex& problem) {
  check(problem);
  const Spectrum transfer = squared_transfer(correlation);
  const std::vector<Frequency> nodes = optimised::frequencies(width(problem));
  std::vector<double> squared;
  squared.reserve(nodes.size());
  for (const Frequency& at : nodes) squared.push_back(transfer(at));
  std::vector<double> psi;
  // For μ = L the best multipliers are infinite, and ψ is its limit.
  if (problem.strong_convexity == problem.smoothness) {
    for (const Frequency& at : nodes) psi.push_back(1 / squared_factor(width(problem), at));
  } else {
    const optimised::Multipliers multipliers(problem, nodes);
    psi = multipliers.psi(multipliers.best_for(squared));
  }
  double integral = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) integral += nodes[k].weight * squared[k] * psi[k];
  const double sensitivity = sensitivity_limit(correlation, Participation::once()).value();
  const double step = problem.step_size.value();
  return sensitivity * sensitivity * step * step * integral;
}

double least_descent_loss(const DescentProblem& problem) {
  const Loss loss = loss_of(problem);
  double integral = 0;
  for (const Frequency& at : optimised::frequencies(loss.width)) integral += at.weight * std::sqrt(loss.psi(at));
  return integral * integral;
}

noise::Correlation optimised_window(const DescentProblem& problem, std::optional<std::size_t> terms,
                                    std::optional<StepCount> horizon) {
  const Loss loss = loss_of(problem);
  if (terms && (*terms == 0 || *terms > most_terms)) {
    throw InvalidParameter("terms", std::to_string(*terms), "1 ... 32768");
  }
  // The filter's entries fall like e^{−ωt} with ω the narrowest width, so 12 of its time constants leave 6e-6 of
  // an entry.
  const double reach = 12 / loss.width;
  const std::size_t enough = reach < 16384 ? std::max<std::size_t>(16, static_cast<std::size_t>(reach)) : 16384;
  const std::size_t count = terms.value_or(enough);
  // Four points for each coefficient, since the rule adds the coefficients from points − count on to the result; and
  // more where the narrowest feature of ψ asks for them.
  std::size_t points = std::size_t{1} << 12;
  while (points < 4 * count || (static_cast<double>(points) < 64 / loss.width && points < (std::size_t{1} << 18))) {
    points *= 2;
  }
  const Spectrum root = [&](const Frequency& at) { return std::sqrt(loss.psi(at)); };
  std::vector<double> beta = optimised::whitening_filter(optimised::cosine_coefficients(root, count, points));
  return noise::Correlation{noise::Windowed{std::move(beta), horizon}};
}

noise::Correlation optimised_rational(const DescentProblem& problem, std::size_t poles) {
  const Loss loss = loss_of(problem);
  if (poles == 0 || poles > optimised::most_poles) {
    throw InvalidParameter("poles", std::to_string(poles), "1 ... " + std::to_string(optimised::most_poles));
  }
  // Starts with the slowest pole below, at and above the narrowest feature: the search can end in different
  // valleys.
  std::vector<std::vector<double>> starts;
  for (const double factor : {0.5, 2.0, 10.0}) {
    starts.push_back(optimised::geometric_gaps(poles, std::min(0.3, factor * loss.width)));
  }
  return noise::Correlation{optimised::best_poles(RationalDescentLoss(loss), poles, starts)};
}

}  // namespace nustream::privacy
