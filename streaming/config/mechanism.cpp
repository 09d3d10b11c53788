// Settings become noise and cost: ρ is divided among the stages, each share gives a σ, each σ a grid and a spend, and
// the spends are added up. Spend and noise are made of one and the same correlation. Running sums have a mechanism of
// their own (moments.cpp).
#include "config/mechanism.h"

#include "config/moments.h"
#include "error.h"
#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/users/sensitivity.h"

namespace nustream::config {
namespace {

// A share that is multiplied by this is smaller by 16 units in the last place than its part of ρ. So the spends of
// all stages, each rounded up, add up to no more than what was asked for.
constexpr double below = 1 - 0x1p-48;  // because composing rounds up

/// What each stage but the count of clipped gradients may spend, in the order of lane::stages(). The sum is at most
/// `all`, rounding included.
std::vector<Rho> shares_without_count(const Config& config, Rho all) {
  const auto& moments = config.descent.moments;
  const auto& first_stage = config.descent.first_stage;
  const double charged = !moments ? 0 : moments->meat ? config.intervals.share : config.shares.strength;
  const double first = first_stage && first_stage->clip ? config.shares.first_stage : 0;
  if (charged == 0 && first == 0) return {all};
  const double descent = (1 - charged) * all.value() * below;
  std::vector<Rho> parts{Rho{descent * (1 - first)}};
  if (first > 0) parts.emplace_back(descent * first);
  if (moments) {
    const std::size_t count = moments->meat ? 2 : 1;
    parts.resize(parts.size() + count, Rho{charged * all.value() * below / static_cast<double>(count)});
  }
  return parts;
}

/// What each stage may spend, the count included. Without a count, the others get exactly what shares_without_count()
/// says.
std::vector<Rho> shares(const Config& config, Rho all) {
  if (!config.descent.counts_clipped) return shares_without_count(config, all);
  // The count is paid first, and the other stages divide the rest among them.
  const double counted = config.shares.clipped * all.value() * below;
  std::vector<Rho> parts = shares_without_count(config, Rho{(1 - config.shares.clipped) * all.value() * below});
  parts.emplace_back(counted);
  return parts;
}

/// Throws what the generator's constructor would throw, before anything is made or read.
void refuse_without_generator(const noise::Correlation& correlation, noise::GeneratorKind kind) {
  // The source is made with a key of zeros and thrown away at once. Its constructor alone knows which
  // generators a correlation has.
  const noise::Checkpoint none = noise::first_checkpoint({}, {LaneId{0}, EpochId{0}, 0});
  static_cast<void>(noise::NoiseSource(correlation, kind, 1, none, StepIndex{0}));
}

CalibratedStage calibrated(const Config& config, const noise::Correlation& correlation, const lane::Stage& stage,
                           Sensitivity sensitivity, Rho rho) {
  // A record that adds between 0 and G moves the sum by at most G, whatever replaces the record. The contributions of
  // two users under replace-one may be at different steps. Then they add up.
  const bool one_sided = stage.is_one_sided && !config.descent.users;
  const Displacement displacement =
      privacy::displacement(stage.clip, one_sided ? privacy::Adjacency::zero_out : config.privacy.adjacency);
  // σ is in units of Δ, so that one sensitivity of B serves stages of any clip norm. The noise that is
  // drawn has the deviation σΔ.
  const NoiseMultiplier sigma = privacy::multiplier_for(sensitivity, rho);
  return {stage.name,
          correlation,
          config.noise.generator,
          stage.dimension,
          displacement,
          sensitivity,
          rho,
          sigma,
          noise_stddev(sigma, displacement),
          one_sided};
}

/// The mechanism of a descent. Where `steps` is given, the correlation ends there, so that its sensitivity is that of
/// these steps and not of an endless stream.
Mechanism calibrated(const Config& config, const privacy::Participation& participation,
                     std::optional<StepCount> steps) {
  const std::optional<StepCount> horizon = config.noise.correlation.horizon();
  if (steps && horizon && *horizon < *steps) {
    throw InvalidParameter("steps", std::to_string(steps->value()),
                           "at most the correlation's horizon, " + std::to_string(horizon->value()));
  }
  const noise::Correlation correlation =
      steps ? noise::Correlation{config.noise.correlation.family(), steps} : config.noise.correlation;
  refuse_without_generator(correlation, config.noise.generator);
  const auto& limits = config.descent.users;
  const Sensitivity sensitivity = limits ? users::sensitivity_limit(correlation, *limits)
                                         : privacy::sensitivity_limit(correlation, participation);
  const std::vector<lane::Stage> stages = lane::stages(config.descent);
  const std::vector<Rho> rhos = shares(config, rho_asked(config.privacy));
  std::vector<CalibratedStage> noises;
  std::vector<noise::Grid> grids;
  std::optional<privacy::Spend> spend;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    noises.push_back(calibrated(config, correlation, stages[i], sensitivity, rhos[i]));
    grids.emplace_back(noises.back().stddev, noise::largest_stddev(correlation), stages[i].clip);
    const privacy::Spend own = limits ? users::spend(correlation, *limits, noises.back().sigma)
                                      : privacy::Spend{correlation, participation, noises.back().sigma};
    spend = spend ? spend->beside(own) : own;
  }
  return {std::move(noises), std::move(grids), participation_of(config, participation), *spend};
}

}  // namespace

Rho rho_asked(const Privacy& privacy) {
  // ε is turned into ρ by the exact curve, once. From here on everything is accounted in ρ.
  const Rho asked = privacy.rho ? *privacy.rho : privacy::rho_for(*privacy.epsilon, privacy.delta);
  // The paper's λ is (2γ/n)√(T/ρ) instead of √(2T)γ/(n√ρ), which makes σ √2 larger. The charge is what that σ really
  // costs, which is half.
  return privacy.calibration == Calibration::exact ? asked : Rho{asked.value() / 2};
}

privacy::Participation participation_of(const Config& config, const privacy::Participation& of_record) {
  const auto& limits = config.descent.users;
  if (!limits) return of_record;
  // A user with a mass alone may contribute in any step, with norms that add up to W. The noise is calibrated for the
  // limits themselves (users::sensitivity_limit()).
  return limits->participation().value_or(privacy::Participation::once());
}

namespace {

/// Refuses release.spend_by_age where the age of a record's participation does not determine what it cost.
void check_ages(const Config& config, const Mechanism& mechanism) try {
  // The spend itself knows whether an age tells a cost, so it is asked for one and the answer is thrown away.
  if (config.publishing.tells_ages) static_cast<void>(mechanism.spend.of_age(StepCount{1}));
} catch (const Unsupported& error) {
  throw Failure(Exit::configuration,
                config.file + ": release.spend_by_age = true: " + error.what() + "; leave the setting out");
}

}  // namespace

std::string correlation_name(const Config& config, const noise::Correlation& correlation) {
  // A dense correlation is a matrix, which has no name of its own.
  return config.noise.dense_name.empty() ? correlation.name() : config.noise.dense_name;
}

Mechanism make_mechanism(const Config& config, const privacy::Participation& participation,
                         std::optional<StepCount> steps) {
  try {
    Mechanism mechanism =
        config.moments ? moments_mechanism(config, participation, steps) : calibrated(config, participation, steps);
    check_ages(config, mechanism);
    return mechanism;
  } catch (const InvalidParameter& error) {
    throw Failure(Exit::configuration, config.file + ": [noise] and [privacy]: " + error.what());
  } catch (const Unsupported& error) {
    throw Failure(Exit::configuration, config.file + ": [noise] and [privacy]: " + error.what());
  }
}

}  // namespace nustream::config
