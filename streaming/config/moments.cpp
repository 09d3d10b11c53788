// The mechanism and the lane's settings for running sums. Both are made from settings_without_noise(), so that the
// design whose cost is computed is the one that runs.
#include "config/moments.h"

#include <algorithm>
#include <utility>

#include "nustream/moments/budget.h"
#include "nustream/moments/instruments.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/sensitivity.h"
#include "publish/original_units.h"

namespace nustream::config {
namespace {

/// Inputs of a row and endogenous regressors. With instruments the inputs are controls and instruments.
moments::Shape shape_of(const Config& config) {
  if (!config.descent.first_stage) return {config.schema.dimension(), 0};
  const descent::TwoStageShape& shape = config.descent.first_stage->shape;
  return {shape.instruments, shape.endogenous};
}

/// The participation in records instead of steps. Two participations of a record are whole steps apart, so no step
/// has two of them.
moments::BatchParticipation in_records(const privacy::Participation& participation, std::uint64_t batch) {
  std::uint64_t separation = 0;
  // A product that does not fit is replaced by one step, the smallest separation there is. A smaller separation never
  // makes the bound smaller.
  if (__builtin_mul_overflow(participation.separation(), batch, &separation)) separation = batch;
  return {participation.times(), separation, batch};
}

moments::Mechanism mechanism_of(const Config& config, const privacy::Participation& participation,
                                const noise::Correlation& correlation) {
  return {{shape_of(config), config.moments->spread, config.privacy.neighbours(), config.moments->solution},
          in_records(participation, config.descent.minibatch),
          correlation,
          config.descent.users};
}

/// The shares of the noised blocks, in their order. The shares of the spread and of the smallest eigenvalue are parts
/// of the whole. The share of the second moments is a part of the rest.
moments::Shares shares_of(const Config& config, const moments::Design& design) {
  // A design has a spread or an eigenvalue, never both.
  const double beside = design.solution == moments::Solution::adassp ? config.moments->eigenvalue_share
                        : design.spread == moments::Spread::none     ? 0
                                                                     : config.intervals.share;
  // Public rows have a public xxᵀ, which costs nothing.
  const double second = config.privacy.protects == Protects::target ? 0 : config.moments->second_moment_share;
  const bool has_regressors = design.shape.endogenous > 0 && config.privacy.protects != Protects::target;
  const double regressors = has_regressors ? (1 - second) * config.moments->regressor_share : 0;
  moments::Shares shares;
  for (const moments::Block block : moments::noised_blocks(design)) {
    const double of_rest = block == moments::Block::second       ? second
                           : block == moments::Block::regressors ? regressors
                                                                 : 1 - second - regressors;
    const bool is_beside = block == moments::Block::spread || block == moments::Block::eigenvalue;
    // What the spread or the eigenvalue takes is off before the others divide the rest.
    shares.push_back(is_beside ? beside : (1 - beside) * of_rest);
  }
  return shares;
}

/// The lane's settings without the noise multipliers.
moments::Settings settings_without_noise(const Config& config, moments::Mechanism mechanism) {
  const Moments& asked = *config.moments;
  const std::uint64_t every = config.descent.minibatch;
  moments::Settings settings{.mechanism = std::move(mechanism),
                             .sigmas = {},
                             .stages = {},
                             .repeat_every = asked.restage_every / every,
                             .memory = asked.memory,
                             .start = config.descent.start,
                             .weighting = {asked.residual_variance},
                             .constant = {},
                             .release_sums = asked.release_sums,
                             .directions = {}};
  // Stages are set in records and taken in steps.
  for (const Moments::Stage& stage : asked.stages) settings.stages.push_back({stage.from / every, stage.radii});
  settings.keeps_marks = asked.keeps_marks;
  settings.tells_status = asked.tells_status;
  settings.grows = asked.grows;
  // The intercept is the first number of a row.
  if (config.schema.intercept) settings.constant = 0;
  if (config.descent.first_stage) {
    settings.controls = config.descent.first_stage->shape.controls;
    settings.anderson_rubin = config.intervals.level;
  } else {
    // Variances are wanted for the coefficients as they are shown.
    settings.directions = publish::OriginalUnits(config.schema, config.descent).linear_part();
  }
  return settings;
}

}  // namespace

noise::Correlation correlation_of(const Moments& moments, std::uint64_t every) {
  // Sums that forget with the rate ν: the noise's encoder forgets at the same rate.
  if (moments.memory) {
    const double nu = static_cast<double>(every) / static_cast<double>(*moments.memory);
    const std::optional<StepCount> stop =
        moments.releases ? std::optional(StepCount{*moments.releases}) : std::nullopt;
    return noise::Correlation{noise::Rational::nu_ftrl(Damping{nu}), stop};
  }
  if (moments.releases) {
    constexpr std::size_t poles = 5;
    const double nu = 0.8 / static_cast<double>(*moments.releases);
    return noise::Correlation{noise::Rational::nu_ftrl(Damping{std::max(nu, 1e-10)}, poles),
                              StepCount{*moments.releases}};
  }
  return noise::Correlation{noise::Rational::nu_ftrl(Damping{1e-6})};
}

Mechanism moments_mechanism(const Config& config, const privacy::Participation& participation,
                            std::optional<StepCount> steps) {
  const noise::Correlation& asked = config.noise.correlation;
  const noise::Correlation correlation = steps ? noise::Correlation{asked.family(), steps} : asked;
  moments::Settings settings = settings_without_noise(config, mechanism_of(config, participation, correlation));
  const moments::Design& design = settings.mechanism.design;
  settings.sigmas = moments::calibrate(settings.mechanism, shares_of(config, design), rho_asked(config.privacy));
  // All blocks are correlated in the same way, so that they share one sensitivity, in units of each block's Δ.
  const Sensitivity sensitivity = moments::sensitivity_limit(settings.mechanism);
  std::vector<CalibratedStage> stages;
  const std::vector<moments::Block> blocks = moments::noised_blocks(design);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Displacement displacement = moments::displacement(design, blocks[i]);
    stages.push_back({moments::name(blocks[i]), correlation, config.noise.generator,
                      moments::entries(design, blocks[i]), displacement, sensitivity,
                      privacy::rho(sensitivity, settings.sigmas[i]), settings.sigmas[i],
                      noise_stddev(settings.sigmas[i], displacement)});
  }
  // A record moves all blocks at once. The joint multiplier accounts for that move as one, instead
  // of adding up blocks.
  const NoiseMultiplier joint = moments::joint_multiplier(design, settings.sigmas);
  const auto& limits = config.descent.users;
  return {std::move(stages), moments::grids(settings), participation_of(config, participation),
          limits ? users::spend(correlation, *limits, joint) : privacy::Spend{correlation, participation, joint}};
}

std::size_t centre_size(const Config& config) {
  return config.moments ? shape_of(config).coefficients() : config.descent.dimension;
}

std::vector<double> centre_of(const Config& config, std::vector<double> parameters) {
  if (!config.moments || !config.descent.first_stage) return parameters;
  return moments::reduced_form(shape_of(config), config.descent.first_stage->shape.controls, parameters);
}

moments::Settings moments_settings(const Config& config, const Mechanism& mechanism) {
  // The noise is taken over from the mechanism and not calibrated again, so that what runs is what was charged.
  moments::Settings settings =
      settings_without_noise(config, mechanism_of(config, mechanism.participation, mechanism.main().correlation));
  for (const CalibratedStage& stage : mechanism.stages) settings.sigmas.push_back(stage.sigma);
  return settings;
}

}  // namespace nustream::config
