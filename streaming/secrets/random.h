// Random bits from the kernel, and from nowhere else.
#pragma once

#include <cstdint>
#include <span>

#include "nustream/noise/source.h"

namespace nustream::secrets {

/// Fills `out` by getrandom(2), waiting until the kernel's pool is ready. Never another source: Failure(permission)
/// where the system gives none.
void fill_random(std::span<std::uint8_t> out);

/// 256 fresh bits, such as an epoch's noise key. Whoever holds them wipes them (noise::wipe).
[[nodiscard]] noise::KeyBytes random_key();

}  // namespace nustream::secrets
