// What the settings come to as a mechanism: the noise that is really generated and what it costs.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  Displacement displacement;  ///< Δ: privacy::displacement() of the clip norm, or less where the stage is one-sided
  Sensitivity sensitivity;    ///< the supremum over all steps, units of Δ
  Rho rho;                    ///< this stage's share of ρ
  NoiseMultiplier sigma;      ///< σ = sensitivity/√(2ρ)
  NoiseStddev stddev;         ///< σΔ
  bool is_one_sided = false;  ///< Δ is that of a record against nothing, under either adjacency
};

/// All stages of a lane, in the order of lane::stages(): each clips and noises on its own, ρ is their sum.
struct Mechanism {
  std::vector<StageNoise> stages;
  std::vector<noise::Grid> grids;  ///< one a stage
  privacy::Participation
      participation;     ///< of a record; of a user under config.descent.users, which may hold a mass too
  privacy::Spend spend;  ///< of all stages together

  /// The descent's own stage.
  [[nodiscard]] const StageNoise& main() const noexcept { return stages.front(); }
  /// Steps that no stage may pass.
  [[nodiscard]] std::optional<StepCount> horizon() const { return spend.horizon(); }
};

/// What a stream may spend in the limit: the ρ that is set, or that ε comes to; half of it by proposition 3.1.
[[nodiscard]] Rho rho_asked(const Privacy& privacy);

/// Of the unit: of a user as its limits say, where there is a count among them; else, and of a mass, of a record.
[[nodiscard]] privacy::Participation participation_of(const Config& config, const privacy::Participation& of_record);

/// Calibrates every stage's σ from its share of ρ or (ε, δ) for records that take part as `participation` says, or,
/// where the unit is the user, for users that do what config.descent.users allows, whatever passes there are; over at
/// most `steps` steps where that is given, else over all that the correlation allows. Failure(configuration) where
/// a correlation cannot run or has no bounded sensitivity there.
[[nodiscard]] Mechanism make_mechanism(const Config& config, const privacy::Participation& participation,
                                       std::optional<StepCount> steps = {});

/// Where an epoch begins: at the last release of the one before it where there is any, or always at descent.start.
enum class EpochStart { last_release, settings };

/// SHA-256, hexadecimal, of a canonical text of everything that can change an iterate or what it costs, the rule of
/// where the epoch begins among it; not of the input, the cadence, batches or places (docs/formats/releases.md).
[[nodiscard]] std::string settings_digest(const Config& config, const Mechanism& mechanism, bool is_private = true,
                                          EpochStart start = EpochStart::last_release);

/// The text that it is the digest of: one key=length:value a line.
[[nodiscard]] std::string settings_text(const Config& config, const Mechanism& mechanism, bool is_private,
                                        EpochStart start);

/// What settings come to by either rule. An epoch keeps the one that it began by: whoever resumes it need not say it.
struct EpochDigests {
  EpochDigests(const Config& config, const Mechanism& mechanism, bool is_private);

  [[nodiscard]] const std::string& of(EpochStart start) const noexcept {
    return both_[start == EpochStart::settings ? 1 : 0];
  }
  [[nodiscard]] std::span<const std::string> both() const noexcept { return both_; }
  /// What `digest` is of; empty where it is neither.
  [[nodiscard]] std::string text_of(std::string_view digest) const {
    return digest == both_[0] ? texts_[0] : digest == both_[1] ? texts_[1] : std::string();
  }
  [[nodiscard]] bool has(std::string_view digest) const noexcept { return digest == both_[0] || digest == both_[1]; }
  /// `digest` where it is one of the two; else the usual one, which it then differs from.
  [[nodiscard]] const std::string& like(std::string_view digest) const noexcept {
    return both_[digest == both_[1] ? 1 : 0];
  }

 private:
  std::array<std::string, 2> texts_;
  std::array<std::string, 2> both_;
};

/// 16 hexadecimal digits of the SHA-256 of what the coefficients are of: features and target with their transforms,
/// and the loss. Centres and scales are not in it, since coefficients are shown in original units.
[[nodiscard]] std::string model_digest(const Config& config);

}  // namespace nustream::config
