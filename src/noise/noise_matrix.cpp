// Writes B out, and computes the size of z: the plain twins that the generators are tested against.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "generator.h"
#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"
#include "nustream/noise/elliptic.h"
#include "overload.h"

namespace nustream::noise {
namespace {

using Row = std::vector<double>;

void add(Row& row, double factor, const Row& other) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] += factor * other[i];
}

// The estimates of one tree as rows of weights on its nodes, straight from the definition.
class DenseTree {
 public:
  DenseTree(const Tree& tree, std::size_t steps)
      : estimator_(tree.estimator), height_(tree.height), levels_(tree.height + 1), nodes_(steps * levels_) {}

  // P_t: all whole trees before, and the fewest subtrees that cover this tree's leaves up to t.
  [[nodiscard]] Row prefix(std::size_t step) const {
    Row row(nodes_, 0.0);
    std::size_t first = 0;
    for (std::size_t remaining = step + 1; remaining > 0;) {
      // The largest subtree that fits into the leaves that are left, but no larger than one tree.
      const unsigned level = std::min<unsigned>(height_, static_cast<unsigned>(std::bit_width(remaining)) - 1);
      add(row, 1, subtree(first, level));
      first += std::size_t{1} << level;
      remaining -= std::size_t{1} << level;
    }
    return row;
  }

 private:
  // The estimate of the sum of the 2^level leaves from `first` on.
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

// z_t = P_t − P_{t−1} as rows of weights.
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
  // The sum goes from the small terms to the large ones, so that the small ones are not lost.
  for (std::size_t t = series.size(); t-- > 0;) sum += series[t] * series[t];
  return sum;
}

// For ν-FTRL, Σ_t β_t² = (1/2π) ∫ |1 − (1−ν) e^{iω}| dω = (2/π) (2 E(k) − (1 − k²) K(k)) with k = 1 − ν.
double squared_nu_norm(Damping nu) {
  const double complement = nu.value() * (2 - nu.value());  // 1 − k²
  if (complement == 0) return 4 / std::numbers::pi;
  return 2 / std::numbers::pi *
         (2 * complete_elliptic_integral_second(complement) -
          complement * complete_elliptic_integral_first(complement));
}

// Σ β_t² over as many terms as the horizon has, of a series with at most `terms` of them.
double squared_norm_within(const Correlation& correlation, std::size_t terms, StepCount horizon) {
  return squared_sum(noise_coefficients(correlation, std::min<std::uint64_t>(terms, horizon.value())));
}

double squared_nu_norm(const Correlation& correlation, const NuFtrl& family) {
  // Beyond this number of terms the rest of Σ β_t² is below 1/(8π t²), so the limit is as good as the sum.
  constexpr std::uint64_t few = 1'000'000;
  const std::optional<StepCount> horizon = correlation.horizon();
  if (!horizon || horizon->value() > few) return squared_nu_norm(family.nu);
  return squared_norm_within(correlation, few, *horizon);
}

// Σ β_t² of a rational correlation, by its closed forms.
double squared_rational_norm(const Correlation& correlation, const Rational& rational) {
  const std::optional<StepCount> horizon = correlation.horizon();
  return horizon ? rational.squared_noise_norm(*horizon) : rational.squared_noise_norm_limit();
}

// Computes the rows of B = C⁻¹ from the first one on: B_t = (e_t − Σ_{s<t} C_ts B_s)/C_tt. It keeps the rows of the
// last `bands` steps, and takes each one out of a whole block of later rows while it is in the cache.
class InverseRows {
 public:
  InverseRows(const Dense& encoder, std::size_t steps)
      : encoder_(encoder), steps_(steps), rows_(std::min(encoder.bands() + block, steps)) {}

  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t first = 0; first < steps_; first += block) {
      const std::size_t last = std::min(first + block, steps_);
      for (std::size_t t = first; t < last; ++t) {
        row(t).assign(t + 1, 0.0);
        row(t)[t] = 1;
      }
      // The first row of the block reads this far back, and no later row of it further.
      const std::size_t oldest = first + 1 - encoder_.row(first).size();
      for (std::size_t s = oldest; s < first; ++s) take_out(s, first, last);
      for (std::size_t t = first; t < last; ++t) {
        const double diagonal = encoder_.row(t).back();
        for (double& entry : row(t)) entry /= diagonal;
        visit(row(t));
        take_out(t, t + 1, last);
      }
    }
  }

 private:
  static constexpr std::size_t block = 16;

  Row& row(std::size_t t) { return rows_[t % rows_.size()]; }

  // Subtracts C_ts times row s from each of the rows [first, last) that the band of C connects with it.
  void take_out(std::size_t s, std::size_t first, std::size_t last) {
    const Row& earlier = row(s);
    for (std::size_t t = first; t < last && t - s < encoder_.bands(); ++t) {
      const std::span<const double> entries = encoder_.row(t);
      const double weight = entries[entries.size() - 1 - (t - s)];
      double* const later = row(t).data();
      for (std::size_t i = 0; i < earlier.size(); ++i) later[i] -= weight * earlier[i];
    }
  }

  const Dense& encoder_;
  std::size_t steps_;
  std::vector<Row> rows_;
};

// B is not Toeplitz, so any of its rows may be the longest.
double largest_squared_row(const Dense& encoder, StepCount horizon) {
  double largest = 0;
  InverseRows(encoder, static_cast<std::size_t>(horizon.value())).for_each([&](const Row& row) {
    largest = std::max(largest, squared_sum(row));
  });
  return largest;
}

// B as a full matrix, with zeros above the diagonal.
std::vector<double> dense_inverse(const Dense& encoder, std::size_t steps) {
  std::vector<double> matrix;
  matrix.reserve(steps * steps);
  InverseRows(encoder, steps).for_each([&](const Row& row) {
    matrix.insert(matrix.end(), row.begin(), row.end());
    matrix.insert(matrix.end(), steps - row.size(), 0.0);
  });
  return matrix;
}

}  // namespace

double largest_stddev(const Correlation& correlation) {
  // Σ_{s≤t} β_s² never falls in t, so the last step has the largest deviation where B is Toeplitz.
  return std::sqrt(
      std::visit(Overload{[](const Independent&) { return 1.0; },
                          [&](const NuFtrl& family) { return squared_nu_norm(correlation, family); },
                          [&](const Rational& rational) { return squared_rational_norm(correlation, rational); },
                          [&](const DampedAntiPgd&) { return squared_sum(noise_coefficients(correlation, 2)); },
                          [&](const AntiPgd&) { return squared_norm_within(correlation, 2, *correlation.horizon()); },
                          [&](const Windowed& family) {
                            const StepCount horizon = correlation.horizon().value_or(StepCount{family.beta.size()});
                            return squared_norm_within(correlation, family.beta.size(), horizon);
                          },
                          [&](const Strategy&) {
                            return squared_sum(noise_coefficients(correlation, correlation.horizon()->value()));
                          },
                          [](const Tree& tree) { return std::pow(largest_tree_stddev(tree), 2); },
                          [&](const Dense& encoder) { return largest_squared_row(encoder, *correlation.horizon()); },
                          [](const Restarted& restarted) { return std::pow(largest_stddev(restarted.block()), 2); }},
                 correlation.family()));
}

namespace {

/// The matrix of a restarted correlation: block diagonal, where the last block may be cut.
std::vector<double> dense_restarted(const Restarted& restarted, std::size_t steps) {
  const std::size_t every = std::min<std::uint64_t>(restarted.every().value(), steps);
  const std::vector<double> block = dense_noise_matrix(restarted.block(), every);
  std::vector<double> matrix(steps * steps, 0.0);
  for (std::size_t row = 0; row < steps; ++row) {
    const std::size_t base = row / every * every;
    for (std::size_t column = base; column <= row; ++column) {
      matrix[row * steps + column] = block[(row - base) * every + (column - base)];
    }
  }
  return matrix;
}

}  // namespace

std::vector<double> dense_noise_matrix(const Correlation& correlation, std::size_t steps) {
  if (const auto* restarted = std::get_if<Restarted>(&correlation.family()))
    return dense_restarted(*restarted, steps);
  if (const auto* tree = std::get_if<Tree>(&correlation.family())) return dense_tree(*tree, steps);
  if (const auto* dense = std::get_if<Dense>(&correlation.family())) {
    if (steps > dense->horizon().value()) throw Unsupported("a dense correlation ends at its horizon");
    return dense_inverse(*dense, steps);
  }
  // B is Toeplitz: row t is β_t … β_0.
  const std::vector<double> beta = noise_coefficients(correlation, steps);
  std::vector<double> matrix(steps * steps, 0.0);
  for (std::size_t row = 0; row < steps; ++row) {
    for (std::size_t column = 0; column <= row; ++column) matrix[row * steps + column] = beta[row - column];
  }
  return matrix;
}

}  // namespace nustream::noise
