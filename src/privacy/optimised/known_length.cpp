// Writes down the Gram matrices of two encoders that look at the whole stream. Factored from below (gram.h), each
// gives a lower-triangular encoder of the same privacy and errors.
#include "nustream/privacy/known_length.h"

#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gram.h"
#include "nustream/base/error.h"

namespace nustream::privacy {
namespace {

constexpr unsigned greatest_height = 11;  // 2^12 steps would be one more than noise::Dense has room for

constexpr double pi = 3.14159265358979323846;

/// sin x for 0 < x ≤ π/2, by its series. The libraries' functions differ in their last bits from machine to machine,
/// and a correlation has to be the same everywhere.
double sine(double x) {
  constexpr int terms = 12;
  double sum = 0;
  for (int n = terms; n > 0; --n) sum = x * x / static_cast<double>(2 * n * (2 * n + 1)) * (1 - sum);
  return x * (1 - sum);
}

/// x_0 … x_{T−1} of the Toeplitz matrix X = CᵀC, X_st = x_|s−t|. X is a block of the circulant matrix whose
/// eigenvalues are the absolute values of those of the first column: T for k = 0, 1/sin(πk/2T) for odd k, and 0 for
/// other k. The sum over k gives x_j − x_{j+1} = 1/(T sin(π(2j+1)/2T)), and x_0 + x_T = 1.
std::vector<double> circulant_gram(std::size_t steps) {
  const auto length = static_cast<double>(steps);
  std::vector<double> falls(steps);
  // The sine is symmetric about the middle, so that only arguments up to π/2 are needed.
  for (std::size_t j = 0; 2 * j < steps; ++j) {
    falls[j] = 1 / (length * sine(pi * (2 * static_cast<double>(j) + 1) / (2 * length)));
    falls[steps - 1 - j] = falls[j];
  }
  double whole = 0;
  for (const double fall : falls) whole += fall;
  std::vector<double> x(steps);
  x[0] = 0.5 + whole / 2;
  for (std::size_t j = 1; j < steps; ++j) x[j] = x[j - 1] - falls[j - 1];
  return x;
}

/// The lower triangle of a symmetric matrix whose entry for steps s ≤ t is entry(s, t).
template <class Entry>
std::vector<double> lower_triangle(std::size_t steps, const Entry& entry) {
  std::vector<double> x(optimised::row_start(steps));
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t s = 0; s <= t; ++s) x[optimised::row_start(t) + s] = entry(s, t);
  }
  return x;
}

}  // namespace

noise::Correlation full_honaker(unsigned height) {
  if (height > greatest_height) throw InvalidParameter("height", std::to_string(height), "0 ... 11");
  const std::size_t steps = std::size_t{1} << height;
  // The number of nodes that hold both leaves: those from the node where their paths meet up to the root.
  // bit_width(s ^ t) is the level of that node. The leaves 4 and 7, for example, meet on level 2.
  const auto nodes_of_both = [height](std::size_t s, std::size_t t) {
    return static_cast<double>(height + 1 - static_cast<unsigned>(std::bit_width(s ^ t)));
  };
  return optimised::encoder_of(lower_triangle(steps, nodes_of_both), StepCount{steps});
}

noise::Correlation circulant(StepCount horizon) {
  // Refuses a matrix that is too large before it is computed.
  if (horizon.value() > 4095)
    throw InvalidParameter("horizon", std::to_string(horizon.value()), "at most 4095 steps");
  static_cast<void>(noise::Dense::entries(static_cast<std::size_t>(horizon.value()), horizon));
  const auto steps = static_cast<std::size_t>(horizon.value());
  const std::vector<double> first = circulant_gram(steps);
  return optimised::encoder_of(lower_triangle(steps, [&](std::size_t s, std::size_t t) { return first[t - s]; }),
                               horizon);
}

}  // namespace nustream::privacy
