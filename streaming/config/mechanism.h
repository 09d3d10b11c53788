// What the settings come to as a mechanism: the noise that is really generated and what it costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "nustream/noise/grid.h"
#include "nustream/privacy/participation.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::config {

/// The noise of one stage: one correlation with its own sensitivity and σ; nothing in here speaks of another B.
struct StageNoise {
  std::string_view name;  ///< lane::Stage::name
  noise::Correlation correlation;
  noise::GeneratorKind generator;
  std::size_t dimension;
  Displacement displacement;  ///< Δ
  Sensitivity sensitivity;    ///< the supremum over all steps, units of Δ
  Rho rho;                    ///< this stage's share of ρ
  NoiseMultiplier sigma;      ///< σ = sensitivity/√(2ρ)
  NoiseStddev stddev;         ///< σΔ
};

/// All stages of a lane, in the order of lane::stages(): each clips and noises on its own, ρ is their sum.
struct Mechanism {
  std::vector<StageNoise> stages;
  std::vector<noise::Grid> grids;  ///< one a stage
  privacy::Participation participation;
  privacy::Spend spend;  ///< of all stages together

  /// The descent's own stage.
  [[nodiscard]] const StageNoise& main() const noexcept { return stages.front(); }
  /// Steps that no stage may pass.
  [[nodiscard]] std::optional<StepCount> horizon() const { return spend.horizon(); }
};

/// What a stream may spend in the limit: the ρ that is set, or that ε comes to; half of it by proposition 3.1.
[[nodiscard]] Rho rho_asked(const Privacy& privacy);

/// Calibrates every stage's σ from its share of ρ or (ε, δ) for records that take part as `participation` says, over
/// at most `steps` steps where that is given, else over all that the correlation allows. Failure(configuration) where
/// a correlation cannot run or has no bounded sensitivity there.
[[nodiscard]] Mechanism make_mechanism(const Config& config, const privacy::Participation& participation,
                                       std::optional<StepCount> steps = {});

/// SHA-256, hexadecimal, of a canonical text of everything that can change an iterate or what it costs; not
/// of the input, the cadence, batches or places (docs/formats/releases.md).
[[nodiscard]] std::string settings_digest(const Config& config, const Mechanism& mechanism, bool is_private = true);

}  // namespace nustream::config
