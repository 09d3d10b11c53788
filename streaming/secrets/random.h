// Random bits from the kernel, and from no other source.
#pragma once

#include <cstdint>
#include <span>

#include "nustream/noise/source.h"

namespace nustream::secrets {

/// Fills `out` by getrandom(2), waiting until the kernel's pool is ready. It never falls back to another source; it
/// throws Failure(permission) where the system gives no bits.
void fill_random(std::span<std::uint8_t> out);

/// 256 fresh bits, such as an epoch's noise key. The caller wipes them (noise::wipe).
[[nodiscard]] noise::KeyBytes random_key();

}  // namespace nustream::secrets
