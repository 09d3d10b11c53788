// The code of two_stage_kernel.h, compiled once for each instruction set. NUSTREAM_TWO_STAGE_KERNEL names the
// function to define. What kernel_body.h says about inline functions holds here too.
#include "descent/pack.h"
#include "descent/private_step.h"
#include "descent/two_stage_kernel.h"

namespace nustream::descent::kernel {
namespace {

// Calls body(offset, Whole or First) for the packs of n entries.
template <class Body>
[[gnu::always_inline]] inline void each_pack(std::size_t n, const Body& body) {
  std::size_t at = 0;
  for (; at + pack_size <= n; at += pack_size) body(at, Whole{});
  if (at < n) body(at, First{n - at});
}

inline double dot(const double* a, const double* b, std::size_t n) {
  Reals total = {};
  each_pack(n, [&](std::size_t at, auto entries) { total = total + get(a + at, entries) * get(b + at, entries); });
  return sum(total);
}

// The dot product of vectors that were just written number by number. Wide loads would have to wait for those stores.
inline double short_dot(const double* a, const double* b, std::size_t n) {
  double even = 0;
  double odd = 0;
  std::size_t j = 0;
  for (; j + 2 <= n; j += 2) {
    even += a[j] * b[j];
    odd += a[j + 1] * b[j + 1];
  }
  if (j < n) even += a[j] * b[j];
  return even + odd;
}

// Adds trunc(clip(slopes ⊗ x)/s) column by column, as GradientSum::add() does. Returns whether the gradient was
// longer than G.
inline bool add_outer(const OuterTarget& to, const double* slopes, std::size_t columns, const double* x,
                      double x_squares, std::size_t inputs) {
  const double slope_squares = short_dot(slopes, slopes, columns);
  if (__builtin_expect(!squares_in_range<2>(slope_squares) || !squares_in_range<2>(x_squares), 0)) {
    return add_out_of_range(*to.sum, slopes, columns, x, inputs);
  }
  const ClippedGradient clipped =
      clip_gradient(1, __builtin_sqrt(slope_squares * x_squares), {to.units_per_gradient, to.radius});
  std::int64_t* sums = to.units;
  for (std::size_t k = 0; k < columns; ++k, sums += padded(inputs)) {
    const double factor = clipped.factor * slopes[k];
    // Inlined by force: gcc would otherwise call it once for each pack.
    each_pack(
        inputs, [&](std::size_t at, auto entries) __attribute__((always_inline)) {
          store(sums + at, saturating_add(load(sums + at), on_grid(factor, get(x + at, entries))));
        });
  }
  return clipped.is_long;
}

// The first stage of public rows: plain sums, as there is nothing to clip or to hide.
inline void add_public(double* column, const double* slopes, std::size_t columns, const double* x,
                       std::size_t inputs) {
  for (std::size_t k = 0; k < columns; ++k, column += padded(inputs)) {
    const Reals slope = broadcast(slopes[k]);
    each_pack(inputs, [&](std::size_t at, auto entries) {
      store(column + at, load(column + at) + slope * get(x + at, entries));
    });
  }
}

}  // namespace

void NUSTREAM_TWO_STAGE_KERNEL(TwoStageJob& job) {
  const std::size_t q = job.instruments;
  const std::size_t p = job.controls + job.endogenous;
  for (std::size_t i = 0; i < job.records; ++i) {
    const double* const z = job.rows + i * (q + job.endogenous);
    for (std::size_t j = 0; j < job.controls; ++j) job.fitted[j] = z[j];
    for (std::size_t e = 0; e < job.endogenous; ++e) {
      const double fitted = dot(job.first + e * q, z, q);
      job.fitted[job.controls + e] = fitted;
      job.residuals[e] = fitted - z[q + e];
    }
    double slope = short_dot(job.beta, job.fitted, p) - job.y[i];
    if (job.weights != nullptr) {
      slope *= job.weights[i];
      for (std::size_t e = 0; e < job.endogenous; ++e) job.residuals[e] *= job.weights[i];
    }
    if (job.public_sum != nullptr) {
      add_public(job.public_sum, job.residuals, job.endogenous, z, q);
    } else if (add_outer(job.first_stage, job.residuals, job.endogenous, z, dot(z, z, q), q)) {
      ++job.clipped;
    }
    if (add_outer(job.second_stage, &slope, 1, job.fitted, short_dot(job.fitted, job.fitted, p), p)) ++job.clipped;
  }
}

}  // namespace nustream::descent::kernel
