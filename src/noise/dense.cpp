// B written out, and the size of z: plain twins that the generators are held against.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"
#include "nustream/noise/elliptic.h"
#include "overload.h"
#include "tree.h"

namespace nustream::noise {
namespace {

using Row = std::vector<double>;

void add(Row& row, double factor, const Row& other) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] += factor * other[i];
}

// The noise of one tree's estimates as rows of weights on the nodes, straight from the definition.
class DenseTree {
 public:
  DenseTree(const Tree& tree, std::size_t steps)
      : estimator_(tree.estimator), height_(tree.height), levels_(tree.height + 1), nodes_(steps * levels_) {}

  // P_t: all whole trees before, and the fewest subtrees that cover this one's leaves up to t.
  [[nodiscard]] Row prefix(std::size_t step) const {
    Row row(nodes_, 0.0);
    std::size_t first = 0;
    for (std::size_t remaining = step + 1; remaining > 0;) {
      const unsigned level = std::min<unsigned>(height_, static_cast<unsigned>(std::bit_width(remaining)) - 1);
      add(row, 1, subtree(first, level));
      first += std::size_t{1} << level;
      remaining -= std::size_t{1} << level;
    }
    return row;
  }

 private:
  // The estimate of the 2^level leaves from `first` on.
  [[nodiscard]] Row subtree(std::size_t first, unsigned level) const {
    Row row(nodes_, 0.0);
    const std::size_t completed_at = first + (std::size_t{1} << level) - 1;
    row[completed_at * levels_ + level] = own_weight(level, estimator_);
    const double rest = 1 - own_weight(level, estimator_);
    if (rest > 0) {
      add(row, rest, subtree(first, level - 1));
      add(row, rest, subtree(first + (std::size_t{1} << (level - 1)), level - 1));
    }
    return row;
  }

  Tree::Estimator estimator_;
  unsigned height_;
  std::size_t levels_;
  std::size_t nodes_;
};

std::vector<double> dense_tree(const Tree& tree, std::size_t steps) {
  const DenseTree dense(tree, steps);
  std::vector<double> matrix;
  Row before(steps * (tree.height + 1), 0.0);
  for (std::size_t step = 0; step < steps; ++step) {
    const Row prefix = dense.prefix(step);
    for (std::size_t node = 0; node < prefix.size(); ++node) matrix.push_back(prefix[node] - before[node]);
    before = prefix;
  }
  return matrix;
}

double squared_sum(const std::vector<double>& series) {
  double sum = 0;
  // From the small terms to the large ones.
  for (std::size_t t = series.size(); t-- > 0;) sum += series[t] * series[t];
  return sum;
}

// Σ_t β_t² of ν-FTRL = (1/2π) ∫ |1 − (1−ν) e^{iω}| dω = (2/π) (2 E(k) − (1 − k²) K(k)), k = 1 − ν.
double squared_nu_norm(Damping nu) {
  const double complement = nu.value() * (2 - nu.value());  // 1 − k²
  if (complement == 0) return 4 / std::numbers::pi;
  return 2 / std::numbers::pi *
         (2 * complete_elliptic_integral_second(complement) -
          complement * complete_elliptic_integral_first(complement));
}

double squared_norm_within(const Correlation& correlation, std::size_t terms, StepCount horizon) {
  return squared_sum(noise_coefficients(correlation, std::min<std::uint64_t>(terms, horizon.value())));
}

double squared_nu_norm(const Correlation& correlation, const NuFtrl& family) {
  // Beyond it, what is left of Σ β_t² is below 1/(8π t²): the limit is as good.
  constexpr std::uint64_t few = 1'000'000;
  if (!family.horizon || family.horizon->value() > few) return squared_nu_norm(family.nu);
  return squared_norm_within(correlation, few, *family.horizon);
}

}  // namespace

double largest_stddev(const Correlation& correlation) {
  // Σ_{s≤t} β_s² never falls in t: the last step has the largest, but for trees.
  return std::sqrt(
      std::visit(Overload{[](const Independent&) { return 1.0; },
                          [&](const NuFtrl& family) { return squared_nu_norm(correlation, family); },
                          [](const Rational& rational) { return rational.squared_noise_norm_limit(); },
                          [&](const DampedAntiPgd&) { return squared_sum(noise_coefficients(correlation, 2)); },
                          [&](const AntiPgd& family) { return squared_norm_within(correlation, 2, family.horizon); },
                          [&](const Windowed& family) {
                            const StepCount horizon = family.horizon.value_or(StepCount{family.beta.size()});
                            return squared_norm_within(correlation, family.beta.size(), horizon);
                          },
                          [&](const Strategy& family) {
                            return squared_sum(noise_coefficients(correlation, family.horizon.value()));
                          },
                          [](const Tree& tree) { return std::pow(largest_tree_stddev(tree), 2); }},
                 correlation.family()));
}

std::vector<double> dense_noise_matrix(const Correlation& correlation, std::size_t steps) {
  if (const auto* tree = std::get_if<Tree>(&correlation.family())) return dense_tree(*tree, steps);
  const std::vector<double> beta = noise_coefficients(correlation, steps);
  std::vector<double> matrix(steps * steps, 0.0);
  for (std::size_t row = 0; row < steps; ++row) {
    for (std::size_t column = 0; column <= row; ++column) matrix[row * steps + column] = beta[row - column];
  }
  return matrix;
}

}  // namespace nustream::noise
