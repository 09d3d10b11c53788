// z by fast convolution, for a finite window; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "generator.h"

namespace nustream::noise {

/// The same z as make_direct(), to about 1e-15 of its standard deviation and not to the bit (FFTW picks its code
/// by processor), at O(log W) per sample. Overlap-save over stretches of L = max(bit_ceil(W), 512) steps that
/// begin at absolute multiples of L; the seed noise of a stretch is read whole, ahead of the block that asks for
/// it, and the last W − 1 steps of the stretch before are read again after restore(). Buffers: 3L samples a
/// coordinate.
[[nodiscard]] std::unique_ptr<Generator> make_fft(std::vector<double> beta, std::size_t dimension);

}  // namespace nustream::noise
