// Predicts the privacy noise of a descent by the formulas of nustream/privacy/plan.h and
// nustream/inference/average_plan.h, from settings and public guesses; no record is read. Then it puts them into
// words and JSON.
#include "cli/descent_prediction.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "config/estimator_choice.h"
#include "console/path_printer.h"
#include "nustream/base/error.h"
#include "nustream/noise/rational.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

using console::with_separators;

/// The eigenvalues of E[xxᵀ]. `prediction` is given where they come from.
std::vector<double> eigenvalues_of(const config::Config& config, DescentPrediction& prediction) {
  const std::size_t d = config.descent.dimension;
  // Of a mean, each parameter is its own coordinate, whose curvature is 1.
  if (is_mean(config)) return std::vector<double>(d, 1.0);
  if (!config.problem.eigenvalues.empty()) return config.problem.eigenvalues;
  config::PublicScale scale = config::public_scale(config.schema);
  prediction.unknown = std::move(scale.unknown);
  prediction.eigenvalues =
      prediction.unknown.size() == config.schema.features.size() ? Eigenvalues::assumed : Eigenvalues::ranges;
  if (prediction.eigenvalues == Eigenvalues::assumed) return std::vector<double>(d, 1.0);
  std::vector<double> all;  // once for each predictor of a multinomial model
  while (all.size() < d) all.insert(all.end(), scale.eigenvalues.begin(), scale.eigenvalues.end());
  return all;
}

/// Adds what is predicted of the average, or why nothing is. The last iterate's prediction has to be there before,
/// since its best ν is tried on the average as well.
void add_average(const config::Config& config, const config::Mechanism& mechanism, std::uint64_t steps,
                 const privacy::LocalProblem& problem, const privacy::Budget& budget, DescentPrediction& prediction) {
  if (config.descent.averaging.kind == descent::Averaging::Kind::last) return;
  prediction.span = inference::span_of(config.descent.averaging, steps);
  inference::AverageOver& over = prediction.span.over;
  if (const auto horizon = mechanism.horizon()) {
    // Noise with an end is made for that many steps: the stream stops there.
    over.steps = std::min(over.steps, horizon->value());
    prediction.span.every_length = false;
  }
  if (over.steps <= over.from) {
    prediction.why_no_average = "it does not begin in so many records";
    return;
  }
  const noise::Correlation& correlation = mechanism.main().correlation;
  try {
    prediction.average = inference::predict_average(correlation, problem, over, prediction.span.every_length, budget);
    const noise::Correlation last{noise::Rational::nu_ftrl(prediction.last.suggested)};
    // How the average fares under the ν that is best for the last iterate, for the table's second column.
    prediction.average_of_last =
        inference::average_excess(last, problem, over, privacy::calibrated_stddev(last, budget));
  } catch (const Unsupported& reason) {
    prediction.why_no_average = reason.what();
  } catch (const InvalidParameter& reason) {
    prediction.why_no_average = reason.what();
  }
}

/// A sentence where the deviation is so large that it would hide any answer; else "".
std::string absurd(const privacy::Prediction& last) {
  double largest = 0;
  bool is_number = std::isfinite(last.excess);
  for (const double stddev : last.iterate_stddevs) {
    is_number = is_number && std::isfinite(stddev);
    largest = std::max(largest, stddev);
  }
  if (!is_number) {
    return "the predicted error has no bound: descent.step_size is too long for these eigenvalues, and the iterates "
           "diverge";
  }
  // In working units coefficients are of size 1, so that a larger deviation hides them.
  if (largest <= 1) return {};
  return fmt::format(
      "the privacy noise alone leaves a deviation of {:.3g} in the last iterate, in working units, where features "
      "and "
      "coefficients of size 1 are meant: lower descent.step_size or clip_norm, or raise rho",
      largest);
}

/// Names up to three features whose size is unknown; "" where eigenvalues are set or all sizes are known.
std::string scale_advice(const DescentPrediction& prediction) {
  if (prediction.eigenvalues == Eigenvalues::set || prediction.unknown.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(prediction.unknown.size(), 3); ++i) {
    names += (i == 0 ? "" : ", ") + prediction.unknown[i];
  }
  if (prediction.unknown.size() > 3) names += ", …";
  return fmt::format(
      "nothing in the settings tells the size of {}: the prediction takes (value - center)/scale to be about 1. "
      "Where "
      "it is not, set scale, clamp or plan.second_moment_eigenvalues",
      names);
}

}  // namespace

bool diverges(const privacy::LocalProblem& problem) {
  const double largest = *std::ranges::max_element(problem.eigenvalues);
  const double most = problem.curvature == privacy::Curvature::fixed ? 2 : 1;
  // From here on the formula below is not defined, and the iterates diverge even along a single eigenvector.
  if (problem.step_size.value() * largest >= most) return true;
  const noise::Correlation independent{noise::Independent{}};
  return !std::isfinite(privacy::stationary_excess(independent, problem, NoiseStddev{1}));
}

DescentPrediction predict_descent(const config::Config& config, const config::Mechanism& mechanism,
                                  std::uint64_t steps) {
  // Each of these is what the plan then prints after "no prediction of the error:".
  if (config.descent.first_stage) throw Unsupported("the second stage moves with the first: there is no formula");
  if (config.descent.momentum > 0) throw Unsupported("the formula is of plain steps, and this descent has momentum");
  if (config.descent.schedule.cools_down()) {
    throw Unsupported("the formula is of one step size in the long run, and this descent cools down");
  }
  // The members without a value of their own get placeholders, which are all set below.
  DescentPrediction prediction{.last = {1, Damping{0}, 1, 1, NoiseStddev{1}, 1, {}},
                               .eigenvalues = Eigenvalues::set,
                               .unknown = {},
                               .average = {},
                               .problem = {{}, StepSize{1}, privacy::Curvature::fixed},
                               .budget = {Rho{1}, privacy::Participation::once(), Displacement{1}},
                               .why_no_average = {},
                               .advice = {}};
  const privacy::LocalProblem problem{
      eigenvalues_of(config, prediction), StepSize{config.descent.schedule.at(StepIndex{0})},
      is_mean(config) ? privacy::Curvature::fixed : privacy::Curvature::gaussian_features};
  // A step takes the mean gradient, so the budget is that of the mean gradient.
  const auto m = static_cast<double>(config.descent.minibatch);
  const privacy::Budget budget{mechanism.main().rho, mechanism.participation,
                               Displacement{mechanism.main().displacement.value() / m}};
  prediction.last = privacy::predict(mechanism.main().correlation, problem, budget);
  // Such a correlation has another error at each step, and the formula gives that of the last one.
  if (!mechanism.main().correlation.toeplitz()) prediction.only_at = mechanism.main().correlation.horizon();
  add_average(config, mechanism, steps, problem, budget, prediction);
  prediction.problem = problem;
  prediction.budget = budget;
  for (std::string sentence : {absurd(prediction.last), scale_advice(prediction)}) {
    if (!sentence.empty()) prediction.advice.push_back(std::move(sentence));
  }
  return prediction;
}

namespace {

const char* source_of(Eigenvalues eigenvalues) {
  switch (eigenvalues) {
    case Eigenvalues::set:
      return "as set";
    case Eigenvalues::ranges:
      return "guessed from clamps and transforms";
    default:
      return "assumed all 1";
  }
}

/// One row of the table: the excess of the last iterate, and of the average where there is one.
void print_row(const std::string& name, double last, std::optional<double> average) {
  fmt::print("  {:<44} {:>12.6g}{}\n", name, last, average ? fmt::format(" {:>12.6g}", *average) : "");
}

/// How many times smaller the deviation becomes: √(from/to).
double gain(double from, double to) {
  return std::sqrt(from / to);
}

/// Says over which steps the average is, and which ν would be better for it, with what that gains and costs.
void print_average(const DescentPrediction& prediction) {
  const inference::AveragePrediction& average = *prediction.average;
  const inference::AverageOver& over = prediction.span.over;
  fmt::print("the average is over steps {} to {}{}{}\n", with_separators(over.from + 1), with_separators(over.steps),
             over.decay < 1 ? fmt::format(", each step back counts {:g} times", over.decay) : std::string(),
             prediction.span.assumed ? ", twice average_from: --records says how many there are" : "");
  const double less = gain(average.excess, average.suggested_excess);
  // Steps that diverge have no error with any correlation, so that there is nothing to compare.
  if (!std::isfinite(less)) {
    fmt::print("no noise.nu is suggested: the error of such steps has no bound; take a smaller descent.step_size\n");
    return;
  }
  // A gain of 2% is within what such a prediction is good for.
  if (less < 1.02) {
    fmt::print("noise.nu suits the average, which is what to quote\n");
    return;
  }
  fmt::print(
      "suggested: noise.nu = {:.2g}, as the average is what to quote{}: {:.2f} times less noise in it than with this "
      "correlation, as with {:.3g} times the rho; {:.2f} times as much in the last iterate\n",
      average.suggested.value(), prediction.span.every_length ? ", at every length" : "", less, less * less,
      gain(average.suggested_last, prediction.last.excess));
}

void print_stddevs(const char* name, const std::vector<double>& stddevs) {
  fmt::print("noise left in the {} along each eigenvector:", name);
  // Eight are enough to see how they spread.
  for (std::size_t j = 0; j < std::min<std::size_t>(stddevs.size(), 8); ++j) fmt::print(" {:.4g}", stddevs[j]);
  fmt::print("{}\n", stddevs.size() > 8 ? " …" : "");
}

/// The deviations of the last iterate and of the average. They leave out what records multiply in, which is all that
/// counts where the iterates diverge: nothing is printed then.
void print_deviations(const DescentPrediction& prediction) {
  const privacy::Prediction& last = prediction.last;
  if (!std::isfinite(last.excess)) return;
  if (!last.iterate_stddevs.empty()) {
    print_stddevs(prediction.only_at ? "iterate of that step" : "iterate", last.iterate_stddevs);
  }
  if (prediction.average) print_stddevs("average", prediction.average->stddevs);
}

}  // namespace

void print(const config::Config& config, const DescentPrediction& prediction) {
  fmt::print("predicted error from the privacy noise (excess of the loss, which carries 1/2; eigenvalues {})\n",
             source_of(prediction.eigenvalues));
  const model::Loss::Kind loss = config.descent.loss.kind;
  if (loss != model::Loss::Kind::mean && loss != model::Loss::Kind::linear) {
    fmt::print("  (the formula holds for the squared loss; for this loss it gives the order of magnitude)\n");
  }
  const privacy::Prediction& last = prediction.last;
  const auto& average = prediction.average;
  // The same figure of the average, in the second column; nothing where no average is predicted.
  const auto of = [&](auto member) -> std::optional<double> {
    return average ? std::optional(member(*average)) : std::nullopt;
  };
  fmt::print("  {:<44} {:>12}{}\n", "", "last iterate", average ? fmt::format(" {:>12}", "average") : "");
  const std::string at = prediction.only_at
                             ? fmt::format(", at step {} alone", with_separators(prediction.only_at->value()))
                             : std::string();
  print_row("this correlation" + at, last.excess, of([](const auto& a) { return a.excess; }));
  if (average) {
    print_row(fmt::format("best nu for the average, {:.3g}", average->suggested.value()), average->suggested_last,
              average->suggested_excess);
  }
  print_row(fmt::format("best nu for the last iterate, {:.4g}", last.suggested.value()), last.suggested_excess,
            of([&](const auto&) { return prediction.average_of_last; }));
  print_row("independent noise", last.independent_excess, of([](const auto& a) { return a.independent_excess; }));
  if (average) print_average(prediction);
  if (!prediction.why_no_average.empty()) fmt::print("no prediction of the average: {}\n", prediction.why_no_average);
  fmt::print("noise of one step and coordinate: seed {:.6g}, correlated {:.6g} (gradient units)\n", last.seed.value(),
             last.noise_stddev);
  print_deviations(prediction);
  for (const std::string& sentence : prediction.advice) fmt::print("{}\n", sentence);
}

void append_json(const config::Config& config, const DescentPrediction& prediction, publish::JsonWriter& json) {
  const privacy::Prediction& last = prediction.last;
  json.field("eigenvalues_assumed", prediction.eigenvalues == Eigenvalues::assumed);
  json.field("eigenvalues", source_of(prediction.eigenvalues));
  json.field("predicted_excess", last.excess);
  if (prediction.only_at) json.field("predicted_at_step", prediction.only_at->value());
  json.field("suggested_nu", last.suggested.value());
  json.field("suggested_excess", last.suggested_excess);
  json.field("independent_excess", last.independent_excess);
  json.field("seed_stddev", last.seed.value());
  json.field("noise_stddev", last.noise_stddev);
  if (config.descent.averaging.kind == descent::Averaging::Kind::last) return;
  // An average was asked for and cannot be predicted: null says so, where an absent member would say that none was
  // asked for.
  if (!prediction.average) return json.field("average", nullptr);
  const inference::AveragePrediction& average = *prediction.average;
  const auto object = json.object("average");
  json.field("from", prediction.span.over.from);
  json.field("steps", prediction.span.over.steps);
  json.field("every_length", prediction.span.every_length);
  json.field("predicted_excess", average.excess);
  json.field("suggested_nu", average.suggested.value());
  json.field("suggested_excess", average.suggested_excess);
  json.field("suggested_last_excess", average.suggested_last);
  json.field("independent_excess", average.independent_excess);
}

}  // namespace nustream::cli
