// z by its definition, for a finite window; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "generator.h"

namespace nustream::noise {

/// z_t = Σ_{s < min(W, t+1)} β_s w_{t−s}, W = beta.size() ≥ 1. O(W) per sample; remembers the last W − 1 steps
/// of seed noise, which it reads again after restore(). The sum's order depends on neither block nor restart, so
/// z is the same to the bit.
[[nodiscard]] std::unique_ptr<Generator> make_direct(std::vector<double> beta, std::size_t dimension);

}  // namespace nustream::noise
