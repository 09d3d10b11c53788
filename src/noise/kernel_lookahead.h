// The recurrent filter of one coordinate alone, eight steps at a time. Each file that is compiled for one instruction
// set includes this once (kernels.h). With one coordinate the lanes of a vector would be empty, and every step would
// wait for the one before. So the lanes are steps here. With s the states before step t,
//
//     z_{t+k}     = w_{t+k} + Σ_{j<k} β_{k−j} w_{t+j} − Σ_i a_i p_i^k s_i       k = 0 … 7
//     s_i         ← p_i^8 s_i + Σ_{j<8} p_i^{7−j} w_{t+j}
//
// This is the recurrence written out for eight steps. Its last bits differ from those of kernel_recurrent.h, but they
// are the same on every instruction set.
#pragma once

#include <cstddef>

#include "kernel_vectors.h"
#include "kernels.h"

namespace nustream::noise {
namespace {

using StepLanes = Lanes<native_width>::Vector;
constexpr std::size_t vectors_per_stride = lookahead_steps / native_width;

/// One stride of eight steps: reads w from `z` and writes z in its place. The sums run in two halves, even and odd
/// terms, so that the additions need not wait for each other; the order decides the last bits.
template <std::size_t Poles>
inline void lookahead_stride(const LookaheadTable& table, StepLanes* states, double* z) {
  constexpr std::size_t pole_vectors = (Poles + native_width - 1) / native_width;
  const double* const w = z;
  StepLanes out[vectors_per_stride];
  for (std::size_t v = 0; v < vectors_per_stride; ++v) {
    const std::size_t row = v * native_width;
    StepLanes earlier[2] = {};
    for (std::size_t j = 0; j + 1 < lookahead_steps; ++j) {
      const StepLanes term = load<StepLanes>(table.beta[j] + row) * w[j];
      earlier[j % 2] = j < 2 ? term : earlier[j % 2] + term;
    }
    StepLanes remembered[2] = {};
    for (std::size_t i = 0; i < Poles; ++i) {
      const double s = states[i / native_width][i % native_width];
      const StepLanes term = load<StepLanes>(table.decay[i] + row) * s;
      remembered[i % 2] = i < 2 ? term : remembered[i % 2] + term;
    }
    out[v] = load<StepLanes>(w + row) + (earlier[0] + earlier[1]) - (remembered[0] + remembered[1]);
  }
  for (std::size_t v = 0; v < pole_vectors; ++v) {
    const std::size_t pole = v * native_width;
    StepLanes arriving[2] = {};
    for (std::size_t j = 0; j < lookahead_steps; ++j) {
      const StepLanes term = load<StepLanes>(table.arrival[j] + pole) * w[j];
      arriving[j % 2] = j < 2 ? term : arriving[j % 2] + term;
    }
    states[v] = load<StepLanes>(table.survival + pole) * states[v] + (arriving[0] + arriving[1]);
  }
  for (std::size_t v = 0; v < vectors_per_stride; ++v) store(z + v * native_width, out[v]);
}

/// Filters as many whole strides as `steps` has, and returns how many steps that was.
template <std::size_t Poles>
std::size_t lookahead(const LookaheadTable& __restrict table, double* states, double* __restrict z,
                      std::size_t steps) {
  constexpr std::size_t pole_vectors = (Poles + native_width - 1) / native_width;
  alignas(64) double padded[pole_vectors * native_width] = {};
  for (std::size_t i = 0; i < Poles; ++i) padded[i] = states[i];
  StepLanes s[pole_vectors];
  for (std::size_t v = 0; v < pole_vectors; ++v) s[v] = load<StepLanes>(padded + v * native_width);
  std::size_t done = 0;
  for (; done + lookahead_steps <= steps; done += lookahead_steps) lookahead_stride<Poles>(table, s, z + done);
  for (std::size_t v = 0; v < pole_vectors; ++v) store(padded + v * native_width, s[v]);
  for (std::size_t i = 0; i < Poles; ++i) states[i] = padded[i];
  return done;
}

}  // namespace
}  // namespace nustream::noise
