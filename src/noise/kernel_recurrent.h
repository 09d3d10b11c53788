// The recurrent filter of a rational correlation. Each file that is compiled for one instruction set includes this
// once (kernels.h). A vector holds neighbouring coordinates of one step. So the arithmetic of a coordinate, and its
// rounding, depend neither on the width of the vector, nor on the dimension (from 2 on), nor on how the steps are
// sliced.
#pragma once

#include <cstddef>
#include <utility>

#include "kernel_lookahead.h"
#include "kernel_vectors.h"
#include "kernels.h"

namespace nustream::noise {
namespace {

/// Filters the coordinates [0, Width) of `z` and of `states`, whose rows are `dimension` apart. The sum over the
/// poles runs in two halves, even and odd poles, so that the additions need not wait for each other; z = w − (even +
/// odd). The order decides the last bits and is part of the format (docs/formats/noise.md).
template <std::size_t Poles, std::size_t Width>
inline void filter_columns(const RecurrentCoefficients& coefficients, double* states, double* z,
                           std::size_t dimension, std::size_t steps) {
  using Vector = typename Lanes<Width>::Vector;
  Vector s[Poles];
  Vector p[Poles];
  Vector a[Poles];
  for (std::size_t i = 0; i < Poles; ++i) {
    s[i] = load<Vector>(states + i * dimension);
    p[i] = broadcast<Vector>(coefficients.p[i]);
    a[i] = broadcast<Vector>(coefficients.a[i]);
  }
  for (std::size_t t = 0; t < steps; ++t) {
    const Vector w = load<Vector>(z + t * dimension);
    Vector sum[2] = {};
    for (std::size_t i = 0; i < Poles; ++i) {
      sum[i % 2] = i < 2 ? a[i] * s[i] : sum[i % 2] + a[i] * s[i];
      s[i] = p[i] * s[i] + w;
    }
    store(z + t * dimension, Vector(w - (Poles < 2 ? sum[0] : sum[0] + sum[1])));
  }
  for (std::size_t i = 0; i < Poles; ++i) store(states + i * dimension, s[i]);
}

/// The same filter for any number of poles, with its states in memory.
template <std::size_t Width>
inline void filter_columns_any(const RecurrentCoefficients& coefficients, double* states, double* z,
                               std::size_t dimension, std::size_t steps) {
  using Vector = typename Lanes<Width>::Vector;
  for (std::size_t t = 0; t < steps; ++t) {
    const Vector w = load<Vector>(z + t * dimension);
    Vector sum[2] = {};
    for (std::size_t i = 0; i < coefficients.poles; ++i) {
      const Vector s = load<Vector>(states + i * dimension);
      const Vector term = coefficients.a[i] * s;
      sum[i % 2] = i < 2 ? term : sum[i % 2] + term;
      store(states + i * dimension, Vector(coefficients.p[i] * s + w));
    }
    store(z + t * dimension, Vector(w - (sum[0] + sum[1])));
  }
}

template <std::size_t Poles, std::size_t Width>
inline void filter_width(const RecurrentCoefficients& coefficients, double* states, double* z, std::size_t dimension,
                         std::size_t steps, std::size_t& first) {
  for (; first + Width <= dimension; first += Width) {
    if constexpr (Poles == 0) {
      filter_columns_any<Width>(coefficients, states + first, z + first, dimension, steps);
    } else {
      filter_columns<Poles, Width>(coefficients, states + first, z + first, dimension, steps);
    }
  }
}

/// Filters all coordinates, in vectors of the native width and then of its halves. Poles = 0 stands for any number.
template <std::size_t Poles>
void filter_all(const RecurrentCoefficients& coefficients, double* states, double* z, std::size_t dimension,
                std::size_t steps) {
  std::size_t first = 0;
  if constexpr (native_width >= 8) filter_width<Poles, 8>(coefficients, states, z, dimension, steps, first);
  if constexpr (native_width >= 4) filter_width<Poles, 4>(coefficients, states, z, dimension, steps, first);
  filter_width<Poles, 2>(coefficients, states, z, dimension, steps, first);
  filter_width<Poles, 1>(coefficients, states, z, dimension, steps, first);
}

/// Filters one coordinate: in strides of several steps, and the steps that are left over one by one.
template <std::size_t Poles>
void filter_single(const RecurrentCoefficients& coefficients, double* states, double* z, std::size_t /*dimension*/,
                   std::size_t steps) {
  const std::size_t done = lookahead<Poles>(*coefficients.lookahead, states, z, steps);
  filter_columns<Poles, 1>(coefficients, states, z + done, 1, steps - done);
}

using Filter = void (*)(const RecurrentCoefficients&, double*, double*, std::size_t, std::size_t);

template <std::size_t... Poles>
Filter unrolled_filter(std::size_t poles, std::size_t dimension, std::index_sequence<Poles...>) {
  static constexpr Filter single[] = {filter_single<Poles + 1>...};
  static constexpr Filter several[] = {filter_all<Poles + 1>...};
  return dimension == 1 ? single[poles - 1] : several[poles - 1];
}

inline Filter filter_of(std::size_t poles, std::size_t dimension) {
  if (poles > most_unrolled_poles) return filter_all<0>;
  return unrolled_filter(poles, dimension, std::make_index_sequence<most_unrolled_poles>{});
}

/// Filters in tiles of steps that stay in the first-level cache while the vectors walk over the coordinates.
inline void recurrent_kernel(const RecurrentCoefficients& coefficients, double* states, double* z,
                             std::size_t dimension, std::size_t steps) {
  if (coefficients.poles == 0) return;
  constexpr std::size_t tile_samples = 2048;
  constexpr std::size_t tile_steps_min = 64;
  const std::size_t fitting = tile_samples / dimension;
  const std::size_t tile = fitting > tile_steps_min ? fitting : tile_steps_min;
  const Filter filter = filter_of(coefficients.poles, dimension);
  for (std::size_t t = 0; t < steps; t += tile) {
    filter(coefficients, states, z + t * dimension, dimension, steps - t < tile ? steps - t : tile);
  }
}

}  // namespace
}  // namespace nustream::noise
