// Computes the filter that whitens noise of a given spectrum: the coefficients of the spectrum by a transform that is
// written out here, since the bits of FFTW differ between processors, and from them the prediction-error filter by
// the recursion of Levinson and Durbin.
#include "whitening.h"

#include <cmath>
#include <utility>

namespace nustream::privacy::optimised {
namespace {

/// Complex numbers with real and imaginary parts in separate arrays. Compilers have been seen to contract a
/// product of interleaved ones for some processors, although they were told not to, and that would change the
/// bits.
struct Complex {
  std::vector<double> real;
  std::vector<double> imaginary;

  explicit Complex(std::size_t size) : real(size, 0.0), imaginary(size, 0.0) {}
  [[nodiscard]] std::size_t size() const { return real.size(); }
};

/// The roots of unity e^{iπk/half} for k < half, by half angles from e^{iπ/2}. No library function is used, so the
/// bits are the same everywhere.
Complex roots_of_unity(std::size_t half) {
  Complex roots(1);
  roots.real[0] = 1;
  double cosine = -1;  // cosine of π/size; `sine` likewise
  double sine = 0;
  // Each round puts a root between any two neighbours: the new ones are the old ones, turned by half of the angle
  // between two.
  while (roots.size() < half) {
    const double halved = std::sqrt((1 + cosine) / 2);
    sine = roots.size() == 1 ? 1 : sine / (2 * halved);
    cosine = roots.size() == 1 ? 0 : halved;
    Complex finer(2 * roots.size());
    for (std::size_t k = 0; k < roots.size(); ++k) {
      finer.real[2 * k] = roots.real[k];
      finer.imaginary[2 * k] = roots.imaginary[k];
      finer.real[2 * k + 1] = roots.real[k] * cosine - roots.imaginary[k] * sine;
      finer.imaginary[2 * k + 1] = roots.real[k] * sine + roots.imaginary[k] * cosine;
    }
    roots = std::move(finer);
  }
  return roots;
}

/// Moves entry k to the place whose number has the bits of k in reverse order.
void reverse_bits(std::vector<double>& values) {
  for (std::size_t i = 1, j = 0; i < values.size(); ++i) {
    std::size_t bit = values.size() / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
}

/// Transforms in place, by decimation in time. The size of `values` must be twice that of `roots`.
void transform(Complex& values, const Complex& roots) {
  reverse_bits(values.real);
  reverse_bits(values.imaginary);
  double* const real = values.real.data();
  double* const imaginary = values.imaginary.data();
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    const std::size_t stride = roots.size() / half;
    for (std::size_t first = 0; first < values.size(); first += 2 * half) {
      for (std::size_t k = first; k < first + half; ++k) {
        const double cosine = roots.real[(k - first) * stride];
        const double sine = roots.imaginary[(k - first) * stride];
        const double odd_real = real[k + half] * cosine - imaginary[k + half] * sine;
        const double odd_imaginary = real[k + half] * sine + imaginary[k + half] * cosine;
        real[k + half] = real[k] - odd_real;
        imaginary[k + half] = imaginary[k] - odd_imaginary;
        real[k] += odd_real;
        imaginary[k] += odd_imaginary;
      }
    }
  }
}

}  // namespace

std::vector<double> cosine_coefficients(const std::function<double(const Frequency&)>& spectrum, std::size_t count,
                                        std::size_t points) {
  const Complex roots = roots_of_unity(points / 2);
  Complex values(points);
  for (std::size_t k = 0; k <= points / 2; ++k) {
    const double cosine = k < points / 2 ? roots.real[k] : -1;
    const double sine = k < points / 2 ? roots.imaginary[k] : 0;
    Frequency at{(1 + cosine) / 2, (1 - cosine) / 2, 1.0 / static_cast<double>(points)};
    // One of the two squares would cancel in 1 ± cos ω; it follows from the sine and the other square instead.
    if (cosine > 0) at.sine_squared = sine * sine / (4 * at.cosine_squared);
    if (cosine < 0) at.cosine_squared = sine * sine / (4 * at.sine_squared);
    values.real[k] = spectrum(at) * at.weight;
    // The spectrum is even in ω, so its second half mirrors the first.
    if (k > 0 && k < points / 2) values.real[points - k] = values.real[k];
  }
  transform(values, roots);
  values.real.resize(count);
  return values.real;
}

std::vector<double> whitening_filter(const std::vector<double>& autocovariances) {
  std::vector<double> filter{1};
  double left = autocovariances.front();  // variance of what the filter does not predict
  for (std::size_t order = 1; order < autocovariances.size(); ++order) {
    double correlation = 0;
    for (std::size_t i = 0; i < order; ++i) correlation += filter[i] * autocovariances[order - i];
    // The best filter of one more term is the old one plus a multiple of itself read backwards.
    const double reflection = -correlation / left;
    std::vector<double> longer = filter;
    longer.push_back(0);
    for (std::size_t i = 1; i <= order; ++i) longer[i] += reflection * filter[order - i];
    filter = std::move(longer);
    left *= 1 - reflection * reflection;
  }
  return filter;
}

}  // namespace nustream::privacy::optimised
