// Two-stage least squares from released sums. H is the matrix of controls and instruments, and the right-hand sides
// are their moments with each endogenous regressor and with the target. So dropping an instrument takes a row and a
// column out of H.
#include "solve/instruments.h"

#include <cmath>
#include <span>

#include "nustream/moments/instruments.h"
#include "nustream/moments/normal_equations.h"
#include "publish/original_units.h"
#include "solve/names.h"

namespace nustream::solve {
namespace {

/// Refuses options that have no meaning here, with the reason.
void refuse_for_instruments(const Options& options) {
  if (!options.target.empty()) {
    throw Failure(Exit::configuration, "--target " + options.target +
                                           ": allowed is none beside [[endogenous]] regressors: the sums hold the "
                                           "instruments' moments with the target and the regressors alone");
  }
  if (options.ridge > 0) {
    throw Failure(
        Exit::configuration,
        "--ridge: allowed is none beside [[endogenous]] regressors: a ridge would shrink both stages alike, "
        "and so not the effect, which is the ratio of the two");
  }
}

/// The model of the controls and instruments that are kept.
struct Kept {
  std::vector<std::size_t> inputs;  ///< rising numbers of rows of H
  record::Schema schema;
  lane::Settings settings;
};

/// The controls and instruments that --features keeps, and the settings of a model of these alone.
Kept kept_of(const config::Config& config, const Options& options) {
  Kept kept{{}, config.schema, config.descent};
  descent::TwoStageShape& shape = kept.settings.first_stage->shape;
  const std::size_t first = config.schema.intercept ? 1 : 0;  // the intercept is input 0, and a control
  const std::span<const record::Feature> features(config.schema.features);
  const std::span<const record::Feature> exogenous = features.first(features.size() - shape.endogenous);
  // Controls stand in front of the instruments among the features, and the endogenous regressors behind both.
  const std::size_t controls = shape.controls - first;
  kept.schema.features.clear();
  kept.inputs.resize(first);
  shape.controls = first;
  for (const std::size_t number : numbers_of(options.features, exogenous)) {
    kept.inputs.push_back(first + number);
    kept.schema.features.push_back(exogenous[number]);
    if (number < controls) ++shape.controls;
  }
  shape.instruments = kept.inputs.size();
  // With fewer instruments than regressors the fitted regressors would be collinear.
  if (shape.instruments < shape.controls + shape.endogenous) {
    throw Failure(Exit::configuration,
                  "--features: at least as many [[instruments]] have to stay as there are [[endogenous]] regressors");
  }
  const auto endogenous = features.last(shape.endogenous);
  kept.schema.features.insert(kept.schema.features.end(), endogenous.begin(), endogenous.end());
  return kept;
}

}  // namespace

Solution solve_instruments(const config::Config& config, const publish::ShownSums& sums, const Options& options) {
  refuse_for_instruments(options);
  const Kept kept = kept_of(config, options);
  const descent::TwoStageShape& shape = kept.settings.first_stage->shape;
  const moments::NormalEquations equations = moments::subset(sums.equations, kept.inputs);
  // The noise of a smaller matrix has smaller eigenvalues, so the floor shrinks with the root of its size.
  const double share = static_cast<double>(kept.inputs.size()) / static_cast<double>(sums.equations.dimension);
  const moments::FlooredSolution reduced = moments::solve(equations, sums.floor * std::sqrt(share));
  Solution solution{config.schema.target->name, {}, reduced.floored, {}};
  auto parameters = moments::two_stage_least_squares(equations, reduced, shape.controls);
  if (!parameters) return solution;
  // OriginalUnits converts a lane's parameters, which are those of the second stage and behind them the first
  // stage's.
  const auto first_stage = static_cast<std::ptrdiff_t>(shape.instruments * shape.endogenous);
  parameters->insert(parameters->end(), reduced.theta.begin(), reduced.theta.begin() + first_stage);
  const publish::OriginalUnits units(kept.schema, kept.settings);
  std::vector<double> values;
  units.convert(*parameters, values);
  for (std::size_t j = 0; j < values.size(); ++j) solution.coefficients.emplace_back(units.names()[j], values[j]);
  return solution;
}

}  // namespace nustream::solve
