// Computes the curves of plan --report and plan --chart, which plan_page.cpp puts on a page. A grid of five budgets
// by five counts is predicted by the same functions as the plan itself; where a cell has no formula, it stays empty.
#include "cli/plan_curves.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "cli/estimator_comparison.h"
#include "console/path_printer.h"
#include "console/terminal.h"
#include "engine/sums_reach.h"
#include "error.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_plan.h"
#include "nustream/noise/rational.h"
#include "nustream/privacy/plan.h"
#include "nustream/users/sensitivity.h"

namespace nustream::cli {
namespace {

using inference::ExpectedError;
using noise::Correlation;

/// An expected error with its causes, each as a root mean square.
ErrorOf error_of(std::string name, const ExpectedError& error, std::string settings = {}) {
  return {std::move(name),          error.root(),       std::sqrt(error.start), std::sqrt(error.sampling),
          std::sqrt(error.privacy), std::move(settings)};
}

/// Errors expected from guesses: of every estimator under its best settings, and under the settings of the file.
std::vector<ErrorOf> expected(const config::Config& config, const config::Mechanism& mechanism) {
  std::vector<ErrorOf> errors;
  const auto comparison = compare_estimators(config, mechanism);
  if (!comparison) return errors;
  for (const config::Candidate& each : comparison->best.candidates) {
    std::string settings;
    for (const std::string& setting : each.settings) settings += (settings.empty() ? "" : " ") + setting;
    errors.push_back(error_of(each.name + ", at its best", each.error, std::move(settings)));
  }
  if (comparison->last) errors.push_back(error_of("the last iterate, as set", *comparison->last));
  if (comparison->average) errors.push_back(error_of("the average, as set", *comparison->average));
  if (comparison->sums) errors.push_back(error_of("running sums, as set", *comparison->sums));
  return errors;
}

/// Errors without guesses: what the noise alone leaves under the settings of the file.
std::vector<ErrorOf> of_noise(const config::Config& config, const config::Mechanism& mechanism,
                              std::uint64_t records) {
  const std::uint64_t steps = std::max<std::uint64_t>(1, records / config.descent.minibatch);
  if (config.moments) {
    const auto horizon = mechanism.horizon();
    const StepCount releases{horizon ? std::min(steps, horizon->value()) : steps};
    return {{"running sums", engine::sums_reach(config, mechanism, releases).stddev}};
  }
  const DescentPrediction prediction = predict_descent(config, mechanism, steps);
  const bool averages = config.descent.averaging.kind != descent::Averaging::Kind::last;
  // The loss carries 1/2, so that the error of a prediction is √(2 · excess).
  std::vector<ErrorOf> errors{{"the last iterate", std::sqrt(2 * prediction.last.excess)}};
  if (averages) {
    errors.push_back(
        {"the average", prediction.average ? std::sqrt(2 * prediction.average->excess) : ErrorOf::unknown});
  }
  errors.push_back({"the last iterate, independent noise", std::sqrt(2 * prediction.last.independent_excess)});
  return errors;
}

/// One cell of the grid; empty where the settings are refused at this ρ and count.
std::vector<ErrorOf> errors_at(config::Config config, const privacy::Participation& participation, double rho,
                               std::uint64_t records) {
  config.privacy.rho = Rho{rho};
  config.privacy.epsilon.reset();
  // The guesses are about these records, too: the best settings depend on their number.
  config.problem.records = records;
  try {
    const config::Mechanism mechanism = config::make_mechanism(config, participation);
    return config::has_guesses(config) ? expected(config, mechanism) : of_noise(config, mechanism, records);
  } catch (const Failure&) {
    return {};
  } catch (const InvalidParameter&) {
    return {};
  } catch (const Unsupported&) {
    return {};
  }
}

struct Named {
  std::string name;
  Correlation correlation;
};

/// The correlations that a plan compares: the one in the settings, and those that would otherwise be used.
std::vector<Named> compared(const config::Config& config, const config::Mechanism& mechanism,
                            const std::optional<DescentPrediction>& prediction, std::uint64_t steps) {
  const Correlation& own = mechanism.main().correlation;
  std::vector<Named> all{{"as set: " + config::correlation_name(config, own), own},
                         {"independent", Correlation{noise::Independent{}}}};
  const auto add_nu = [&](const char* what, Damping nu) {
    if (nu.value() <= 0 || nu.value() >= 0.95) return;
    all.push_back(
        {fmt::format("nu = {:.2g}, best for the {}", nu.value(), what), Correlation{noise::Rational::nu_ftrl(nu)}});
  };
  if (prediction) {
    add_nu("last iterate", prediction->last.suggested);
    // The best ν of an average is far below that of the last iterate.
    if (prediction->average) add_nu("average", prediction->average->suggested);
    const Damping nu = prediction->last.suggested;
    if (nu.value() > 0 && nu.value() < 1) {
      all.push_back({fmt::format("damped anti-PGD, nu = {:.2g}", nu.value()), Correlation{noise::DampedAntiPgd{nu}}});
    }
  }
  // The lowest tree that has room for all steps.
  const auto height =
      static_cast<unsigned>(std::ceil(std::log2(static_cast<double>(std::max<std::uint64_t>(2, steps)))));
  // A tree has at most 40 levels (noise::Tree).
  all.push_back({fmt::format("binary tree of 2^{} steps", height),
                 Correlation{noise::Tree{std::min(height, 40U), noise::Tree::Estimator::honaker, false}}});
  return all;
}

/// The spend after t steps, up to `steps`: of a record t steps after its own, or of a user with `limits` t steps into
/// the stream. Its limit is `rho`.
chart::Layer spend_of(const Named& named, const std::optional<users::Limits>& limits, Rho rho, std::uint64_t steps,
                      unsigned hue) {
  chart::Layer layer{named.name, chart::Mark::line, {}, hue};
  // Any σ does: the curve is scaled below so that it ends at `rho`.
  const NoiseMultiplier sigma{1};
  const privacy::Spend spend = limits ? users::spend(named.correlation, *limits, sigma)
                                      : privacy::Spend{named.correlation, privacy::Participation::once(), sigma};
  const double limit = spend.limit().value();
  std::uint64_t last = 0;
  // Ten ages to a decade: 1.2589… is the tenth root of 10. The small excess keeps the last age from being lost to
  // rounding.
  for (double age = 1; age <= static_cast<double>(steps) * 1.0001; age *= 1.2589254117941673) {
    const auto whole = static_cast<std::uint64_t>(age + 0.5);
    // The first ages round to the same number, and noise with an end has no later ones.
    if (whole == last || (spend.horizon() && whole > spend.horizon()->value())) continue;
    last = whole;
    const Rho after = limits ? spend.after(StepCount{whole}) : spend.of_age(StepCount{whole});
    const double spent = after.value() * rho.value() / limit;
    layer.points.push_back({static_cast<double>(whole), spent, 0});
  }
  return layer;
}

/// The number, or NaN where there is no formula for it, which a chart shows as a gap.
template <class Value>
double number_where_known(Value value) {
  try {
    return value();
  } catch (const Unsupported&) {
    return ErrorOf::unknown;
  } catch (const InvalidParameter&) {
    return ErrorOf::unknown;
  }
}

/// Adds what the noise of each correlation leaves in the last iterate and in the average, as rows side by side.
/// Correlations keep their place in `all` as hue, so that they have one colour in all charts.
void add_excess(const std::vector<Named>& all, const DescentPrediction& prediction, PlanCurves& curves) {
  chart::RowGroup last{"last iterate", {}};
  chart::RowGroup average{"average", {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Correlation& correlation = all[i].correlation;
    const auto hue = static_cast<unsigned>(i);
    const double of_last = number_where_known(
        [&] { return privacy::predicted_excess(correlation, prediction.problem, prediction.budget); });
    if (!std::isfinite(of_last)) {
      // A correlation whose error grows without bound has no place on the axis; the page names it below.
      curves.left_out += (curves.left_out.empty() ? "" : ", ") + all[i].name;
      continue;
    }
    last.rows.push_back({.label = all[i].name, .value = of_last, .hue = hue});
    if (!prediction.average) continue;
    const double of_average = number_where_known([&] {
      return inference::average_excess(correlation, prediction.problem, prediction.span.over,
                                       privacy::calibrated_stddev(correlation, prediction.budget));
    });
    average.rows.push_back({.label = all[i].name, .value = of_average, .hue = hue});
  }
  curves.excess.push_back(std::move(last));
  if (!average.rows.empty()) curves.excess.push_back(std::move(average));
}

/// Adds the predicted excess of rational ν-FTRL over ν, four points a decade, and that of independent noise beside
/// it.
void add_nus(const DescentPrediction& prediction, PlanCurves& curves) {
  chart::Layer last{"last iterate", chart::Mark::line, {}, 0};
  chart::Layer average{"average", chart::Mark::line, {}, 1};
  chart::Layer independent{"last iterate, independent noise", chart::Mark::line, {}, 5};
  // From 1e-8 to 10^-0.25, about 0.56.
  for (double power = -8; power < -0.1; power += 0.25) {
    const double nu = std::pow(10, power);
    last.points.push_back({nu, number_where_known([&] {
                             return privacy::predicted_excess(Correlation{noise::Rational::nu_ftrl(Damping{nu})},
                                                              prediction.problem, prediction.budget);
                           }),
                           0});
    independent.points.push_back({nu, prediction.last.independent_excess, 0});
    if (!prediction.average) continue;
    average.points.push_back({nu, number_where_known([&] {
                                const Correlation correlation{noise::Rational::nu_ftrl(Damping{nu})};
                                return inference::average_excess(
                                    correlation, prediction.problem, prediction.span.over,
                                    privacy::calibrated_stddev(correlation, prediction.budget));
                              }),
                              0});
  }
  curves.by_nu = {std::move(independent), std::move(last)};
  if (!average.points.empty()) curves.by_nu.push_back(std::move(average));
}

}  // namespace

double rho_set(config::Privacy privacy) {
  // The calibration of the IV paper's Proposition 3.1 would halve it.
  privacy.calibration = config::Calibration::exact;
  return config::rho_asked(privacy).value();
}

// For example with ρ = 0.1 and 10,000 records, ten times apart: budgets 0.01, 0.032, 0.1, 0.32 and 1, and records
// 100, 1,000, 10,000, 100,000 and a million.
void add_grid(double rho, std::uint64_t count, double apart, const ErrorsAt& errors_at, PlanCurves& curves) {
  constexpr double most = 9e15;  // whole numbers of that size are exact as doubles
  curves.count = std::clamp<std::uint64_t>(count, 1, static_cast<std::uint64_t>(most));
  for (int place = -2; place <= 2; ++place) {
    // Two budgets to a decade, the settings' own in the middle.
    curves.rhos.push_back(rho * std::pow(10, 0.5 * place));
    const double counted = std::max(1.0, static_cast<double>(count) * std::pow(apart, place));
    curves.counts.push_back(static_cast<std::uint64_t>(std::llround(std::min(counted, most))));
  }
  curves.counts.erase(std::unique(curves.counts.begin(), curves.counts.end()), curves.counts.end());
  std::vector<std::future<std::vector<std::vector<ErrorOf>>>> rows;
  for (const double at : curves.rhos) {
    // A thread for each budget. They share nothing that changes: each cell has a copy of the settings.
    rows.push_back(std::async(std::launch::async, [&, at] {
      std::vector<std::vector<ErrorOf>> row;
      for (const std::uint64_t counted : curves.counts) row.push_back(errors_at(at, counted));
      return row;
    }));
  }
  for (auto& row : rows) curves.errors.push_back(row.get());
}

PlanCurves plan_curves(const config::Config& config, const config::Mechanism& mechanism,
                       const std::optional<DescentPrediction>& prediction, const std::string& why_none,
                       std::uint64_t records) {
  PlanCurves curves;
  if (config.users) curves.users = users_plan(config);
  curves.why_none = why_none;
  const std::uint64_t all = records > 0 ? records : 1'000'000;
  const auto at = [&](double rho, std::uint64_t count) {
    // For users the errors stand in a table of limits (users_plan.h), not in this grid.
    return config.users ? std::vector<ErrorOf>() : errors_at(config, mechanism.participation, rho, count);
  };
  add_grid(rho_set(config.privacy), all, 10, at, curves);
  // Guesses make errors of predictions; without them only the noise can be told, in other units.
  curves.what = config::has_guesses(config)
                    ? "expected error of predictions, root mean square, working units of the target"
                : config.moments ? "what the noise leaves in a coefficient, standard deviation, working units"
                                 : "what the noise alone leaves in predictions, root mean square, working units";
  const std::uint64_t steps = std::max<std::uint64_t>(1, all / config.descent.minibatch);
  const std::vector<Named> correlations = compared(config, mechanism, prediction, steps);
  for (std::size_t i = 0; i < correlations.size(); ++i) {
    try {
      curves.spend.push_back(spend_of(correlations[i], config.descent.users, Rho{curves.rhos[curves.rho_as_set()]},
                                      steps, static_cast<unsigned>(i)));
    } catch (const Unsupported&) {
      curves.left_out += (curves.left_out.empty() ? "" : ", ") + correlations[i].name;
    }
  }
  if (prediction) {
    add_excess(correlations, *prediction, curves);
    add_nus(*prediction, curves);
  }
  return curves;
}

chart::Chart error_chart(const PlanCurves& curves, std::size_t rho) {
  std::vector<chart::Layer> layers;
  for (std::size_t j = 0; j < curves.counts.size(); ++j) {
    for (const ErrorOf& error : curves.errors[rho][j]) {
      auto layer = std::ranges::find(layers, error.name, &chart::Layer::name);
      if (layer == layers.end()) {
        const auto hue = static_cast<unsigned>(layers.size());
        // Estimators get a layer and a hue in the order in which they first occur.
        layers.push_back({error.name, chart::Mark::line, {}, hue});
        layer = layers.end() - 1;
      }
      layer->points.push_back({static_cast<double>(curves.counts[j]), error.all, 0});
    }
  }
  return {.title = "Predicted error over " + curves.counted,
          .summary = fmt::format("At rho {:.3g}: {}, from {} to {} {}.", curves.rhos[rho], curves.what,
                                 console::with_separators(curves.counts.front()),
                                 console::with_separators(curves.counts.back()), curves.counted),
          .x = {.title = curves.counted, .logarithmic = true},
          .y = {.title = curves.what, .logarithmic = true},
          .layers = std::move(layers),
          .width = 380,
          .height = 230};
}

// All correlations come to one ρ in the end. They differ in how early a record has spent most of it.
chart::Chart spend_chart(const PlanCurves& curves) {
  const bool of_users = curves.users.has_value();
  return {.title = of_users ? "What a user has spent, over the steps" : "What a record has spent, by its age",
          .summary = fmt::format("{} correlations, each of which comes to rho {:.3g} in the end.",
                                 curves.spend.size(), curves.rhos[curves.rho_as_set()]),
          .x = {.title = of_users ? "steps of the stream" : "steps since the record came", .logarithmic = true},
          .y = {.title = "rho", .from_zero = true},
          .layers = curves.spend,
          .width = 380,
          .height = 230};
}

chart::Chart nu_chart(const PlanCurves& curves) {
  return {.title = "Predicted excess of the loss over nu",
          .summary = "What the noise leaves, at one rho, from nu 1e-8 to 0.6.",
          .x = {.title = "nu", .logarithmic = true},
          .y = {.title = "excess of the loss from the noise", .logarithmic = true},
          .layers = curves.by_nu,
          .width = 380,
          .height = 230};
}

chart::Chart plan_chart(const PlanCurves& curves, double width) {
  // The cell of the settings decides: a chart around an empty middle would say nothing of them.
  const bool has_errors =
      !curves.errors.empty() && !curves.errors[curves.rho_as_set()][curves.count_as_set()].empty();
  chart::Chart chart = has_errors ? error_chart(curves, curves.rho_as_set()) : spend_chart(curves);
  chart.width = width;
  chart.height = width / 2;
  return chart;
}

void print_chart(const PlanCurves& curves) {
  fmt::print("\n{}", chart::text_of(plan_chart(curves, 720), console::style_of(stdout)));
}

}  // namespace nustream::cli
