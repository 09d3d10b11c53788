// z by fast convolution, for a finite window; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "generator.h"

namespace nustream::noise {

/// The same z as make_direct(), W = beta.size(), to about 2e-15 of the seed noise's standard deviation and not to
/// the bit (FFTW picks its code by processor), at O(log W) per sample. Overlap-save by transforms of length
/// N ≥ 2048, about 4 W (2 T where the horizon T is as short), over stretches of N − W + 1 steps that begin at
/// absolute multiples of that: the seed noise of a stretch is read whole, ahead of the block that asks for it, and
/// the W − 1 steps before it are read again after restore(). Memory: N samples a coordinate.
[[nodiscard]] std::unique_ptr<Generator> make_fft(std::span<const double> beta, std::size_t dimension,
                                                  const std::optional<StepCount>& horizon);

}  // namespace nustream::noise
