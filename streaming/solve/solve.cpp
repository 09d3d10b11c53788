// Solves a regression from released sums: H is the noisy mean of xxᵀ, and another model over the same features is a
// part of H and of its right-hand side. Everything is a function of public numbers, so that it costs no ρ.
#include "solve/solve.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "nustream/moments/gap_noise.h"
#include "nustream/moments/normal_equations.h"
#include "publish/original_units.h"
#include "solve/instruments.h"
#include "solve/names.h"

namespace nustream::solve {
namespace {

/// Indices of the features that are kept, rising and without repetition.
std::vector<std::size_t> kept(const config::Config& config, const Options& options) {
  const std::vector<record::Feature>& features = config.schema.features;
  std::vector<std::size_t> numbers = numbers_of(options.features, features);
  if (options.target.empty()) return numbers;
  const std::size_t target = number_of("--target", options.target, features);
  if (!options.features.empty() && std::ranges::find(numbers, target) != numbers.end()) {
    refuse_name("--features", options.target + ", which is the target", features);
  }
  // The feature that is to be explained is no regressor.
  std::erase(numbers, target);
  return numbers;
}

/// The schema of the model that is solved; its coefficients are shown in the units of this schema.
record::Schema schema_of(const config::Config& config, const Options& options,
                         const std::vector<std::size_t>& numbers) {
  record::Schema schema = config.schema;
  if (!options.target.empty()) {
    schema.target = config.schema.features[number_of("--target", options.target, config.schema.features)];
  }
  schema.features.clear();
  for (const std::size_t number : numbers) schema.features.push_back(config.schema.features[number]);
  return schema;
}

/// Refuses sums that are not of these settings, as far as their sizes tell.
void require_sizes(const config::Config& config, const publish::ShownSums& sums) {
  if (!config.moments) {
    throw Failure(Exit::configuration,
                  config.file +
                      ": solve takes linear models with model.estimator = \"moments\": a descent "
                      "releases no sums; set model.estimator = \"moments\" for a run of its own");
  }
  const auto& first_stage = config.descent.first_stage;
  const std::size_t inputs = first_stage ? first_stage->shape.instruments : config.schema.dimension();
  const std::size_t responses = first_stage ? first_stage->shape.endogenous + 1 : 1;
  const moments::NormalEquations& equations = sums.equations;
  if (equations.dimension == inputs && equations.columns() == responses) return;
  throw Failure(Exit::data, config.file + ": the release's sums are of " + std::to_string(equations.dimension) +
                                " inputs, the settings of " + std::to_string(inputs) +
                                "; name the configuration that the release was made with");
}

/// The covariance of the noise of gap − Hθ at the solution, over all inputs; those that are left out have coefficient
/// 0. Where a feature is explained, its own column of H is the right-hand side: the noise is that of H(e_feature −
/// θ), without the gap.
std::vector<double> noise_about(const publish::ShownSums& sums, const std::vector<std::size_t>& inputs,
                                const std::vector<double>& theta, std::optional<std::size_t> feature) {
  std::vector<double> away(sums.equations.dimension);
  for (std::size_t j = 0; j < inputs.size(); ++j) away[inputs[j]] = theta[j];
  // Signs do not matter to a covariance; e_feature − θ is what H is multiplied by.
  if (feature) {
    for (double& entry : away) entry = -entry;
    away[*feature] = 1;
    return moments::noise_covariance_of_second(*sums.noise, away);
  }
  for (std::size_t j = 0; j < away.size(); ++j) away[j] -= sums.equations.centre[j];
  return moments::noise_covariance(*sums.noise, away);
}

/// Intervals in original units. The map to them is linear, so the standard error of a coefficient is √(aᵀVa) for its
/// row a of the map.
std::vector<inference::Interval> intervals_of(const std::vector<double>& covariance, const Solution& solution,
                                              const publish::OriginalUnits& units, double level) {
  const std::vector<double> map = units.linear_part();
  const std::size_t all = solution.coefficients.size();
  const std::size_t d = map.size() / all;
  const double quantile = inference::normal_quantile(level);
  std::vector<inference::Interval> intervals;
  for (std::size_t row = 0; row < all; ++row) {
    double variance = 0;
    for (std::size_t i = 0; i < d; ++i) {
      for (std::size_t j = 0; j < d; ++j) variance += map[row * d + i] * map[row * d + j] * covariance[i * d + j];
    }
    intervals.push_back({solution.coefficients[row].second, quantile * std::sqrt(std::max(variance, 0.0))});
  }
  return intervals;
}

}  // namespace

Solution solve(const config::Config& config, const publish::ShownSums& sums, const Options& options) {
  require_sizes(config, sums);
  if (config.descent.first_stage) return solve_instruments(config, sums, options);
  const std::size_t first = config.schema.intercept ? 1 : 0;
  const std::vector<std::size_t> numbers = kept(config, options);
  // For example with an intercept and the features w, x, y, z, "--features x,z" keeps the inputs 0, 2 and 4.
  std::vector<std::size_t> inputs(first);  // the intercept is input 0
  for (const std::size_t number : numbers) inputs.push_back(first + number);
  if (inputs.empty()) throw Failure(Exit::configuration, "--features: nothing is left to explain the target with");
  std::optional<std::size_t> feature;
  if (!options.target.empty()) feature = first + number_of("--target", options.target, config.schema.features);
  moments::NormalEquations equations =
      feature ? moments::for_feature(sums.equations, *feature, inputs) : moments::subset(sums.equations, inputs);
  // Before the floor, so that an eigenvalue that the ridge has raised above it is left alone.
  if (options.ridge > 0) equations = moments::with_ridge(equations, options.ridge);
  // The noise of a smaller matrix has smaller eigenvalues, so the floor shrinks with the root of its size.
  const double share = static_cast<double>(inputs.size()) / static_cast<double>(sums.equations.dimension);
  const moments::FlooredSolution found = moments::solve(equations, sums.floor * std::sqrt(share));
  const record::Schema schema = schema_of(config, options, numbers);
  lane::Settings settings = config.descent;
  // The parameters are those of the smaller model.
  settings.dimension = inputs.size();
  const publish::OriginalUnits units(schema, settings);
  std::vector<double> values;
  units.convert(found.theta, values);
  Solution solution{schema.target->name, {}, found.floored};
  for (std::size_t j = 0; j < values.size(); ++j) solution.coefficients.emplace_back(units.names()[j], values[j]);
  // Where the floor moved an eigenvalue, the solution is not that of these sums, and no interval would cover it.
  if (!sums.noise || found.floored > 0) return solution;
  const std::vector<double> noise = noise_about(sums, inputs, found.theta, feature);
  solution.intervals =
      intervals_of(moments::solution_covariance(equations, noise, inputs), solution, units, config.intervals.level);
  return solution;
}

}  // namespace nustream::solve
