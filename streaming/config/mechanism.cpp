#include "config/mechanism.h"

#include "error.h"
#include "nustream/privacy/epsilon.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::config {
namespace {

Rho target_rho(const Privacy& privacy) {
  return privacy.rho ? *privacy.rho : privacy::rho_for(*privacy.epsilon, privacy.delta);
}

/// Throws what the generator's constructor throws, before anything is made or read.
void refuse_without_generator(const noise::Correlation& correlation, noise::GeneratorKind kind) {
  const noise::Checkpoint none = noise::first_checkpoint({}, {LaneId{0}, EpochId{0}, 0});
  static_cast<void>(noise::NoiseSource(correlation, kind, 1, none, StepIndex{0}));
}

Mechanism calibrated(const Config& config, const privacy::Participation& participation) {
  const noise::Correlation& correlation = config.noise.correlation;
  refuse_without_generator(correlation, config.noise.generator);
  const Displacement displacement = privacy::displacement(config.descent.clip, config.privacy.adjacency);
  const Sensitivity sensitivity = privacy::sensitivity_limit(correlation, participation);
  const NoiseMultiplier sigma = privacy::multiplier_for(sensitivity, target_rho(config.privacy));
  const NoiseStddev stddev = noise_stddev(sigma, displacement);
  return {correlation,
          config.noise.generator,
          config.descent.dimension,
          participation,
          displacement,
          sensitivity,
          sigma,
          stddev,
          noise::Grid{stddev, noise::largest_stddev(correlation), config.descent.clip},
          privacy::Spend{correlation, participation, sigma}};
}

}  // namespace

Mechanism make_mechanism(const Config& config, const privacy::Participation& participation) {
  try {
    return calibrated(config, participation);
  } catch (const InvalidParameter& error) {
    throw Failure(Exit::configuration, config.file + ": [noise] and [privacy]: " + error.what());
  } catch (const Unsupported& error) {
    throw Failure(Exit::configuration, config.file + ": [noise] and [privacy]: " + error.what());
  }
}

}  // namespace nustream::config
