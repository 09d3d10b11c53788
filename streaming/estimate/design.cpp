#include "estimate/design.h"

#include <cmath>

#include "error.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_noise.h"
#include "nustream/privacy/epsilon.h"

namespace nustream::estimate {

privacy::Participation Design::participation() const {
  return {(steps + steps_of_a_pass - 1) / steps_of_a_pass, steps_of_a_pass};
}

replay::Window Design::window() const {
  return {0, rows, participation().times()};
}

Design settle_design(config::Config& config, std::uint64_t rows) {
  if (rows == 0) throw Failure(Exit::data, "the input holds no record; nothing was estimated");
  if (config.estimate.full_batch) config.descent.minibatch = rows;
  const std::uint64_t m = config.descent.minibatch;
  if (m > rows) {
    throw Failure(Exit::configuration,
                  config.file + ": descent.minibatch = " + std::to_string(m) +
                      ": allowed is at most the number of records; leave it out for full batches");
  }
  const bool by_runs = config.intervals.kind == config::Intervals::Kind::runs;
  const std::uint64_t runs = by_runs ? config.intervals.count : 1;
  config::Privacy& privacy = config.privacy;
  const Rho all = privacy.rho ? *privacy.rho : privacy::rho_for(*privacy.epsilon, privacy.delta);
  privacy.rho = Rho{all.value() / static_cast<double>(runs)};
  privacy.epsilon.reset();
  return {rows, m, (rows + m - 1) / m, config.estimate.steps, runs};
}

std::optional<double> predicted_stddev(const config::Config& config, const config::Mechanism& mechanism,
                                       const Design& design) {
  const auto* constant = std::get_if<descent::Constant>(&config.descent.schedule.family());
  if (constant == nullptr) return std::nullopt;
  try {
    const double variance = inference::averaged_noise_variance(
        mechanism.main().correlation, {constant->size.value(), 1.0, design.steps - 1, design.steps});
    return std::sqrt(variance) * mechanism.main().stddev.value() / static_cast<double>(design.minibatch);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace nustream::estimate
