// Computes z by fast convolution, for a finite window; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "generator.h"

namespace nustream::noise {

/// The z of make_direct(), W = beta.size(), at O(log W) per sample. It agrees to about 2e-15 of the seed noise's
/// standard deviation, but not to the bit, because FFTW picks its code by processor.
///
/// The method is overlap-save with transforms of length N ≥ 2048, about 4 W (2 T where the horizon T is that short).
/// They cover stretches of N − W + 1 steps, which begin at absolute multiples of that length. The seed noise of a
/// whole stretch is read ahead of the block that asks for it, and the W − 1 steps before it are read again after
/// restore(). It takes memory for N samples per coordinate.
[[nodiscard]] std::unique_ptr<Generator> make_fft(std::span<const double> beta, std::size_t dimension,
                                                  const std::optional<StepCount>& horizon);

}  // namespace nustream::noise
