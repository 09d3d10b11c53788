// What the settings come to as a mechanism: the noise that is really generated and what it costs.
#pragma once

#include <string>

#include "config/config.h"
#include "nustream/noise/grid.h"
#include "nustream/privacy/participation.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::config {

/// One correlation with its own sensitivity, σ, grid and spend; nothing in here speaks of another B.
struct Mechanism {
  noise::Correlation correlation;
  noise::GeneratorKind generator;
  std::size_t dimension;
  privacy::Participation participation;
  Displacement displacement;  ///< Δ
  Sensitivity sensitivity;    ///< the supremum over all steps, units of Δ
  NoiseMultiplier sigma;      ///< σ = sensitivity/√(2ρ)
  NoiseStddev stddev;         ///< σΔ
  noise::Grid grid;
  privacy::Spend spend;
};

/// Calibrates σ from ρ or (ε, δ) for records that take part as `participation` says.
/// Failure(configuration) where the correlation cannot run or has no bounded sensitivity there.
[[nodiscard]] Mechanism make_mechanism(const Config& config, const privacy::Participation& participation);

/// SHA-256, hexadecimal, of a canonical text of everything that can change an iterate or what it costs; not
/// of the input, the cadence, batches or places (docs/formats/releases.md).
[[nodiscard]] std::string settings_digest(const Config& config, const Mechanism& mechanism);

}  // namespace nustream::config
