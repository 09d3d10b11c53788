#include "solve/solve.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "nustream/moments/gap_noise.h"
#include "nustream/moments/normal_equations.h"
#include "publish/original_units.h"

namespace nustream::solve {
namespace {

using Features = std::vector<record::Feature>;

[[noreturn]] void refuse(const std::string& option, const std::string& name, const Features& features) {
  std::string names;
  for (const record::Feature& feature : features) names += (names.empty() ? "" : ", ") + feature.name;
  throw Failure(Exit::configuration, option + " " + name + ": allowed is one of " + names);
}

std::size_t number_of(const std::string& option, const std::string& name, const Features& features) {
  const auto found = std::ranges::find(features, name, &record::Feature::name);
  if (found == features.end()) refuse(option, name, features);
  return static_cast<std::size_t>(found - features.begin());
}

/// Indices of the features that are kept, rising and without repetition.
std::vector<std::size_t> kept(const config::Config& config, const Options& options) {
  const Features& features = config.schema.features;
  std::vector<std::size_t> numbers;
  for (const std::string& name : options.features) numbers.push_back(number_of("--features", name, features));
  if (numbers.empty()) {
    for (std::size_t j = 0; j < features.size(); ++j) numbers.push_back(j);
  }
  if (!options.target.empty()) {
    const std::size_t target = number_of("--target", options.target, features);
    if (!options.features.empty() && std::ranges::find(numbers, target) != numbers.end()) {
      refuse("--features", options.target + ", which is the target", features);
    }
    std::erase(numbers, target);
  }
  std::ranges::sort(numbers);
  const auto twice = std::ranges::unique(numbers);
  numbers.erase(twice.begin(), twice.end());
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

void require_sizes(const config::Config& config, const publish::ShownSums& sums) {
  if (!config.moments || config.descent.first_stage) {
    throw Failure(
        Exit::configuration,
        config.file +
            ": solve takes linear models with model.estimator = \"moments\" and without "
            "[[endogenous]] regressors: in other models the length of a row scales its sums; set model.estimator = "
            "\"moments\" for a run of its own");
  }
  const moments::NormalEquations& equations = sums.equations;
  if (equations.dimension == config.schema.dimension() && equations.columns() == 1) return;
  throw Failure(Exit::data, config.file + ": the release's sums are of " + std::to_string(equations.dimension) +
                                " inputs, the settings of " + std::to_string(config.schema.dimension()) +
                                "; name the configuration that the release was made with");
}

/// The covariance of the noise of gap − Hθ at the solution, over all inputs; those that are left out have coefficient
/// 0. Where a feature is explained, its own column of H is the right-hand side: the noise is that of H(e_feature −
/// θ), without the gap.
std::vector<double> noise_about(const publish::ShownSums& sums, const std::vector<std::size_t>& inputs,
                                const std::vector<double>& theta, std::optional<std::size_t> feature) {
  std::vector<double> away(sums.equations.dimension);
  for (std::size_t j = 0; j < inputs.size(); ++j) away[inputs[j]] = theta[j];
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
  const std::size_t first = config.schema.intercept ? 1 : 0;
  const std::vector<std::size_t> numbers = kept(config, options);
  std::vector<std::size_t> inputs(first);  // the intercept is input 0
  for (const std::size_t number : numbers) inputs.push_back(first + number);
  if (inputs.empty()) throw Failure(Exit::configuration, "--features: nothing is left to explain the target with");
  std::optional<std::size_t> feature;
  if (!options.target.empty()) feature = first + number_of("--target", options.target, config.schema.features);
  moments::NormalEquations equations =
      feature ? moments::for_feature(sums.equations, *feature, inputs) : moments::subset(sums.equations, inputs);
  if (options.ridge > 0) equations = moments::with_ridge(equations, options.ridge);
  // The noise of a smaller matrix has smaller eigenvalues, so the floor shrinks with the root of its size.
  const double share = static_cast<double>(inputs.size()) / static_cast<double>(sums.equations.dimension);
  const moments::FlooredSolution found = moments::solve(equations, sums.floor * std::sqrt(share));
  const record::Schema schema = schema_of(config, options, numbers);
  lane::Settings settings = config.descent;
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
