// Computes z by its definition, for a finite window; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "generator.h"

namespace nustream::noise {

/// z_t = Σ_{s < min(W, t+1)} β_s w_{t−s} with W = beta.size() ≥ 1. O(W) per sample. It remembers the last W − 1 steps
/// of seed noise, and reads them again after restore(). The order of the sum depends on neither block nor restart, so
/// z is the same to the bit.
[[nodiscard]] std::unique_ptr<Generator> make_direct(std::vector<double> beta, std::size_t dimension);

}  // namespace nustream::noise
