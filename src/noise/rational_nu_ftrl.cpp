// Computes the rational correlation closest to ν-FTRL, and how much worse it is.
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/shown.h"
#include "nustream/noise/elliptic.h"
#include "nustream/noise/rational.h"

namespace nustream::noise {
namespace {

// For smaller ν the doubles next to 1 are too coarse for a pole at 1 − ν.
constexpr double smallest_damping = 1e-10;
constexpr std::size_t most_poles = 64;
constexpr double allowed_excess = 2.5e-4;

// Poles a/(1 + s²) are represented by their s², which resolves 1 − ν even where 1 − ν is rounded.
struct Nodes {
  std::vector<double> p;  // s² of p_i
  std::vector<double> q;  // s² of q_i; q_1 has s² = 0
};

// Zolotarev's nodes for the square root on [lo, hi], hi = 1: s²(u) = lo·(sn/cn)² at parameter 1 − lo/hi, with u = (i
// − ½)K/m for p_i and u = (i − 1)K/m for q_i.
Nodes zolotarev_nodes(double nu, std::size_t poles) {
  const double lo = nu < 0.25 ? 2 * nu : nu;
  const auto count = static_cast<double>(poles);
  Nodes nodes;
  for (std::size_t i = 0; i < poles; ++i) {
    const double at_q = jacobi_sc(static_cast<double>(i) / count, lo);
    const double at_p = jacobi_sc((static_cast<double>(i) + 0.5) / count, lo);
    nodes.q.push_back(lo * at_q * at_q);
    nodes.p.push_back(lo * at_p * at_p);
  }
  return nodes;
}

// (x_i − y_i) Π_{j≠i} (x_i − y_j)/(x_i − x_j), up to its sign, for poles x = a/(1 + s) and y = a/(1 + r). It is
// computed from the s and r, whose differences do not cancel. Each factor is taken together with its neighbour, so
// that none overflows.
double residue(double a, const std::vector<double>& s, const std::vector<double>& r, std::size_t i) {
  double product = a * std::abs(r[i] - s[i]) / ((1 + s[i]) * (1 + r[i]));
  for (std::size_t j = 0; j < s.size(); ++j) {
    if (j == i) continue;
    product *= (r[j] - s[i]) / (s[j] - s[i]) * ((1 + s[j]) / (1 + r[j]));
  }
  return product;
}

}  // namespace

Rational Rational::nu_ftrl(Damping nu, std::size_t poles) {
  if (!(nu.value() >= smallest_damping)) refuse("nu", nu.value(), "1e-10 <= nu < 1 for a rational correlation");
  if (poles > most_poles) refuse("poles", poles, "1 ... 64, or 0 for the default");
  // The fewest poles whose mean-estimation excess is small enough. At ν = 1e-4 these are 6.
  if (poles == 0) {
    for (std::size_t count = 1;; ++count) {
      Rational candidate = nu_ftrl(nu, count);
      if (count == most_poles || mean_estimation_excess(candidate, nu) <= allowed_excess) return candidate;
    }
  }
  const double a = 1 - nu.value();
  const Nodes nodes = zolotarev_nodes(nu.value(), poles);
  std::vector<double> p(poles);
  std::vector<double> noise_weight(poles);
  std::vector<double> q(poles);
  std::vector<double> strategy_weight(poles);
  for (std::size_t i = 0; i < poles; ++i) {
    p[i] = a / (1 + nodes.p[i]);
    q[i] = a / (1 + nodes.q[i]);
    noise_weight[i] = residue(a, nodes.p, nodes.q, i);
    strategy_weight[i] = residue(a, nodes.q, nodes.p, i);
  }
  return {std::move(p), std::move(noise_weight), std::move(q), std::move(strategy_weight)};
}

double mean_estimation_excess(const Rational& rational, Damping nu) {
  if (!(nu.value() > 0)) refuse("nu", nu.value(), "0 < nu < 1");
  const std::vector<double>& p = rational.p();
  const std::vector<double>& a = rational.a();
  const double memory = 1 - nu.value();
  // The excess follows from stationary covariances, in units of the seed noise. They belong to the states s_i of the
  // filter (s_i ← p_i s_i + w) and the error θ ← (1 − ν)θ − z with z = w − Σ a_i s_i: E s_i s_j = 1/(1 − p_i p_j),
  // and the others solve the fixed point below.
  double noise_times_error = 0;  // E zθ
  for (std::size_t j = 0; j < p.size(); ++j) {
    double filtered = 0;
    for (std::size_t i = 0; i < p.size(); ++i) filtered += a[i] / ((1 - p[i]) + p[i] * (1 - p[j]));
    const double covariance = (p[j] * filtered - 1) / (nu.value() + memory * (1 - p[j]));  // E θs_j
    noise_times_error -= a[j] * covariance;
  }
  const double own_error =
      (rational.squared_noise_norm_limit() - 2 * memory * noise_times_error) / (nu.value() * (1 + memory));
  // For exact ν with η = ν the coefficients of the error are those of c, so both factors are γ_∞².
  const double exact = 1 / arithmetic_geometric_mean(1, std::sqrt(nu.value() * (1 + memory)));
  return rational.squared_column_norm_limit() / exact * (own_error / exact) - 1;
}

}  // namespace nustream::noise
