// The dual problem of prefix sums. PrefixRoot computes a matrix square root as a sum of inverses of tridiagonal
// matrices (Hale, Higham and Trefethen 2008); dual_weights() iterates with it until the diagonal is even (Denisov et
// al. 2022).
#include "prefix_root.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace nustream::privacy::optimised {
namespace {

// The nodes s_n grow by √2 from one to the next: h = ln 2/2. The rule's error is then e^{−28.5} = 4e-13.
constexpr double node_step = std::numbers::ln2 / 2;
/// How far the nodes reach past the spectrum, as a factor of s. What lies beyond is replaced by the first term of
/// its series. The relative error of that replacement is the cube of 1/margin.
constexpr double margin = 32768;
constexpr double quadrature_error = 1e-11;

/// The loss is off by the square of the relative error of v, so this is enough for 1e-16 in the loss.
constexpr double converged = 1e-8;
constexpr std::size_t most_iterations = 300;
constexpr std::size_t few_steps = 64;

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

/// The row weights for the largest error: v read backwards, scaled so that they sum to 1.
std::vector<double> reversed(const std::vector<double>& v) {
  std::vector<double> u(v.rbegin(), v.rend());
  const double total = sum(v);
  for (double& weight : u) weight /= total;
  return u;
}

/// Where the iteration starts. The weights hardly depend on T except for the scale of time, so those of half as
/// many steps, interpolated, are a good start.
std::vector<double> start(const PrefixSums& problem) {
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  if (steps <= few_steps) return std::vector<double>(steps, 1.0);
  const std::size_t half = steps / 2;
  const std::vector<double> coarse = dual_weights({StepCount{half}, problem.participation, problem.error}).v;
  std::vector<double> fine;
  for (std::size_t t = 0; t < steps; ++t) {
    const double place =
        (static_cast<double>(t) + 0.5) * static_cast<double>(half) / static_cast<double>(steps) - 0.5;
    const auto left = static_cast<std::size_t>(std::max(0.0, place));
    const std::size_t right = std::min(left + 1, half - 1);
    const double part = std::max(0.0, place - static_cast<double>(left));
    fine.push_back((1 - part) * coarse[left] + part * coarse[right]);
  }
  return fine;
}

}  // namespace

void PrefixRoot::choose_nodes(const std::vector<double>& u, const std::vector<double>& v) {
  // The spectrum is that of V^{−½}A⁻¹U⁻¹A⁻ᵀV^{−½}: its eigenvalues are at most 4/(min u · min v) and at least 1
  // over the trace of the inverse.
  const double highest = 4 / (*std::min_element(u.begin(), u.end()) * *std::min_element(v.begin(), v.end()));
  double trace = 0;
  double below = 0;
  for (std::size_t t = steps_; t-- > 0;) {
    below += u[t];
    trace += v[t] * below;
  }
  const double from = std::sqrt(1 / trace) / margin;
  const double to = std::sqrt(highest) * margin;
  constexpr double scale = 2 * node_step / std::numbers::pi;
  constexpr double ratio = std::numbers::sqrt2;
  // Σ_{n≥1} ratio^{−n}: the nodes that a geometric progression would add on one side.
  constexpr double others = 1 / (ratio - 1);
  shifts_ = {0};
  weights_ = {scale * from * others};
  double s = from;
  while (s < to) {
    shifts_.push_back(s * s);
    weights_.push_back(scale * s);
    s *= ratio;
  }
  // From s on, the terms s N⁻¹ of the nodes tend to V⁻¹/s.
  rest_ = scale / s * (1 + others);
}

void PrefixRoot::factor(const std::vector<double>& u, const std::vector<double>& v) {
  choose_nodes(u, v);
  const std::size_t nodes = shifts_.size();
  forward_.resize(steps_ * nodes);
  backward_.resize(steps_ * nodes);
  // N has 1/u_t + 1/u_{t−1} + s²v_t on its diagonal and −1/u_{t−1} beside it. Pivots from above are 1/u_t + g_t
  // with g_t = s²v_t + g_{t−1}/(1 + u_{t−1}g_{t−1}). Pivots from below are 1/u_{t−1} + f_t with f_t = s²v_t +
  // f_{t+1}/(1 + u_t f_{t+1}) and f_{T−1} = s²v_{T−1} + 1/u_{T−1}.
  for (std::size_t t = 0; t < steps_; ++t) {
    double* const g = forward_.data() + t * nodes;
    for (std::size_t n = 0; n < nodes; ++n) g[n] = shifts_[n] * v[t];
    if (t == 0) continue;
    const double* const before = g - nodes;
    for (std::size_t n = 0; n < nodes; ++n) g[n] += before[n] / (1 + u[t - 1] * before[n]);
  }
  for (std::size_t t = steps_; t-- > 0;) {
    double* const f = backward_.data() + t * nodes;
    for (std::size_t n = 0; n < nodes; ++n) f[n] = shifts_[n] * v[t];
    if (t + 1 == steps_) {
      for (std::size_t n = 0; n < nodes; ++n) f[n] += 1 / u[t];
      continue;
    }
    const double* const after = f + nodes;
    for (std::size_t n = 0; n < nodes; ++n) f[n] += after[n] / (1 + u[t] * after[n]);
  }
}

std::vector<double> PrefixRoot::diagonal(const std::vector<double>& u, const std::vector<double>& v) {
  factor(u, v);
  const std::size_t nodes = shifts_.size();
  std::vector<double> diagonal(steps_);
  for (std::size_t t = 0; t < steps_; ++t) {
    double sum = rest_ / v[t];
    for (std::size_t n = 0; n < nodes; ++n) {
      const double above =
          t == 0 ? 0 : forward_[(t - 1) * nodes + n] / (1 + u[t - 1] * forward_[(t - 1) * nodes + n]);
      sum += weights_[n] / (above + backward_[t * nodes + n]);
    }
    diagonal[t] = sum;
  }
  return diagonal;
}

std::vector<double> PrefixRoot::lower_triangle(const std::vector<double>& u, const std::vector<double>& v) {
  factor(u, v);
  const std::size_t nodes = shifts_.size();
  std::vector<double> triangle(steps_ * (steps_ + 1) / 2);
  std::vector<double> column(nodes);
  for (std::size_t s = 0; s < steps_; ++s) {
    for (std::size_t n = 0; n < nodes; ++n) {
      const double above =
          s == 0 ? 0 : forward_[(s - 1) * nodes + n] / (1 + u[s - 1] * forward_[(s - 1) * nodes + n]);
      column[n] = weights_[n] / (above + backward_[s * nodes + n]);
    }
    for (std::size_t t = s; t < steps_; ++t) {
      double sum = t == s ? rest_ / v[t] : 0;
      for (std::size_t n = 0; n < nodes; ++n) sum += column[n];
      triangle[t * (t + 1) / 2 + s] = sum;
      if (t + 1 == steps_) break;
      // Down a column, N⁻¹_{t+1,s} = N⁻¹_{t,s} (1/u_t)/(1/u_t + f_{t+1}).
      const double* const f = backward_.data() + (t + 1) * nodes;
      for (std::size_t n = 0; n < nodes; ++n) column[n] /= 1 + u[t] * f[n];
    }
  }
  return triangle;
}

DualWeights dual_weights(const PrefixSums& problem) {
  const auto steps = static_cast<std::size_t>(problem.horizon.value());
  const bool largest = problem.error == PrefixError::largest;
  PrefixRoot root(steps);
  std::vector<double> v = start(problem);
  std::vector<double> u(steps, 1 / static_cast<double>(steps));
  if (largest) u = reversed(v);
  for (std::size_t iteration = 0;; ++iteration) {
    // One iteration is v ← v·diag X. At the fixed point all entries of the diagonal are equal, so the columns of C
    // have one length.
    const std::vector<double> diagonal = root.diagonal(u, v);
    std::vector<double> next = v;
    for (std::size_t t = 0; t < steps; ++t) next[t] *= diagonal[t];
    // tr (V^½AᵀUAV^½)^½ = Σ_t v_t X_tt. The dual's value at the best multiple of v is the square of that trace
    // over Σ v.
    const double trace = sum(next);
    // The value has to stay a lower bound, so it is lowered by what the quadrature may be off by.
    const double value = trace * trace / sum(v) * (1 - quadrature_error);
    const double spread = *std::max_element(diagonal.begin(), diagonal.end()) * sum(v) / trace;
    if (spread < 1 + converged || iteration == most_iterations) return {std::move(u), std::move(v), value};
    v = std::move(next);
    if (largest) u = reversed(v);
  }
}

}  // namespace nustream::privacy::optimised
