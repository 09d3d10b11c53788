// The mechanism that the settings describe: the noise that is really generated, and what it costs.
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

/// The noise of one stage: one correlation with its own sensitivity and σ. All members belong to the same B.
struct CalibratedStage {
  std::string_view name;  ///< lane::Stage::name
  noise::Correlation correlation;
  noise::GeneratorKind generator;
  std::size_t dimension;
  Displacement displacement;  ///< Δ: privacy::displacement() of the clip norm, or less where the stage is one-sided
  Sensitivity sensitivity;    ///< the supremum over all steps, in units of Δ
  Rho rho;                    ///< this stage's share of ρ
  NoiseMultiplier sigma;      ///< σ = sensitivity/√(2ρ)
  NoiseStddev stddev;         ///< σΔ
  bool is_one_sided = false;  ///< Δ is that of a record against nothing, under either adjacency
};

/// All stages of a lane, in the order of lane::stages(). Each clips and noises on its own, and their ρ add up.
struct Mechanism {
  std::vector<CalibratedStage> stages;
  std::vector<noise::Grid> grids;  ///< one for each stage
  privacy::Participation
      participation;     ///< of a record; of a user under config.descent.users, which may hold a mass too
  privacy::Spend spend;  ///< of all stages together

  /// The stage of the descent itself.
  [[nodiscard]] const CalibratedStage& main() const noexcept { return stages.front(); }
  /// The number of steps that no stage may exceed; empty: there is none.
  [[nodiscard]] std::optional<StepCount> horizon() const { return spend.horizon(); }
};

/// What a stream may spend in the limit: the ρ that is set or that ε means, or half of it by proposition 3.1.
[[nodiscard]] Rho rho_asked(const Privacy& privacy);

/// How often the unit takes part. A user takes part as its limits say where they count contributions, and once where
/// they only have a mass. A record takes part as `of_record` says.
[[nodiscard]] privacy::Participation participation_of(const Config& config, const privacy::Participation& of_record);

/// The name of the correlation, as a file with these settings has it.
[[nodiscard]] std::string correlation_name(const Config& config, const noise::Correlation& correlation);

/// Calibrates every stage's σ from its share of ρ or (ε, δ). Records take part as `participation` says. Where the
/// unit is the user, users do what config.descent.users allows, in any number of passes. The noise is for at most
/// `steps` steps where that is given, else for all that the correlation allows. Throws Failure(configuration) where a
/// correlation cannot run for that number of steps, or has no bounded sensitivity.
[[nodiscard]] Mechanism make_mechanism(const Config& config, const privacy::Participation& participation,
                                       std::optional<StepCount> steps = {});

/// Where an epoch begins: at the last release of the epoch before, if there is one; or always at descent.start.
enum class EpochStart { last_release, settings };

/// SHA-256 in hexadecimal of settings_text(): of everything that can change an iterate or what it costs, including
/// the rule of where the epoch begins. Input, cadence, batches and places are not in it (docs/formats/releases.md).
[[nodiscard]] std::string settings_digest(const Config& config, const Mechanism& mechanism, bool is_private = true,
                                          EpochStart start = EpochStart::last_release);

/// The canonical text that settings_digest() hashes: one key=length:value on each line.
[[nodiscard]] std::string settings_text(const Config& config, const Mechanism& mechanism, bool is_private,
                                        EpochStart start);

/// The digests of the settings by either rule of where an epoch begins. An epoch keeps the rule that it began by, so
/// that a resume need not repeat the option.
struct EpochDigests {
  EpochDigests(const Config& config, const Mechanism& mechanism, bool is_private);

  [[nodiscard]] const std::string& of(EpochStart start) const noexcept {
    return both_[start == EpochStart::settings ? 1 : 0];
  }
  [[nodiscard]] std::span<const std::string> both() const noexcept { return both_; }
  /// The text whose digest is `digest`; empty where it is neither of the two digests.
  [[nodiscard]] std::string text_of(std::string_view digest) const {
    return digest == both_[0] ? texts_[0] : digest == both_[1] ? texts_[1] : std::string();
  }
  [[nodiscard]] bool has(std::string_view digest) const noexcept { return digest == both_[0] || digest == both_[1]; }
  /// Returns `digest` where it is one of the two; else the usual digest, which then differs from `digest`.
  [[nodiscard]] const std::string& like(std::string_view digest) const noexcept {
    return both_[digest == both_[1] ? 1 : 0];
  }

 private:
  std::array<std::string, 2> texts_;
  std::array<std::string, 2> both_;
};

/// 16 hexadecimal digits of the SHA-256 of what the coefficients mean: features and target with their transforms, and
/// the loss. Centres and scales are not in it, because coefficients are shown in original units.
[[nodiscard]] std::string model_digest(const Config& config);

}  // namespace nustream::config
