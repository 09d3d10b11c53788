// Compares a fitted correlation with others under the objective that it was fitted to. There is one report_of() for
// each kind of objective. All losses include γ², so that they compare at one ρ.
#include "cli/fit_report.h"

#include <fmt/format.h>

#include "console/path_printer.h"
#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/plan.h"
#include "publish/json_writer.h"

namespace nustream::cli {
namespace {

using noise::Correlation;

/// The loss; nothing where there is no formula for that correlation.
template <class Loss>
std::optional<double> where_known(Loss loss) {
  try {
    return loss();
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

/// Adds another correlation to the comparison, unless its loss is not known.
void add(std::string name, std::optional<double> loss, FitReport& report) {
  if (loss) report.others.emplace_back(std::move(name), *loss);
}

/// The fitted correlation without an end. Its γ is then γ_∞, as is the γ of the correlations that it is compared
/// with.
Correlation endless(const Correlation& correlation) {
  if (const auto* window = std::get_if<noise::Windowed>(&correlation.family())) {
    try {
      return Correlation{noise::Windowed{window->beta, {}}};
    } catch (const InvalidParameter&) {
      return correlation;
    }
  }
  return Correlation{correlation.family()};
}

FitReport report_of(const Correlation& correlation, const privacy::PrefixSums& problem) {
  const auto loss = [&](const Correlation& of) {
    return where_known([&] { return privacy::prefix_sum_loss(of, problem); });
  };
  FitReport report;
  report.objective = fmt::format("{} squared error of the prefix sums over {} steps",
                                 problem.error == privacy::PrefixError::mean ? "mean" : "largest",
                                 console::with_separators(problem.horizon.value()));
  if (problem.participation.times() > 1) {
    report.objective += fmt::format(", {} participations {} steps apart", problem.participation.times(),
                                    console::with_separators(problem.participation.separation()));
  }
  report.loss = loss(correlation);
  constexpr std::uint64_t quick = 5'000;  // up to this size it takes seconds
  if (problem.horizon.value() <= quick) {
    report.least = where_known([&] { return privacy::prefix_sum_loss_bound(problem); });
  }
  add("exact nu = 0", loss(Correlation{noise::NuFtrl{Damping{0}, problem.horizon}}), report);
  add("independent noise", loss(Correlation{noise::Independent{}}), report);
  return report;
}

FitReport report_of(const Correlation& correlation, const privacy::StronglyConvex& problem) {
  const auto loss = [&](const Correlation& of) {
    return where_known([&] { return privacy::descent_bound(of, problem); });
  };
  FitReport report;
  report.objective = fmt::format("bound of the iterate's variance for strong convexity {:g} and smoothness {:g}",
                                 problem.strong_convexity, problem.smoothness);
  report.loss = loss(endless(correlation));
  const double contraction = problem.step_size.value() * problem.strong_convexity;
  if (contraction < 1) {
    add("exact nu = step size times strong convexity", loss(Correlation{noise::NuFtrl{Damping{contraction}, {}}}),
        report);
  }
  add("independent noise", loss(Correlation{noise::Independent{}}), report);
  return report;
}

FitReport report_of(const Correlation& correlation, const privacy::LocalProblem& problem) {
  // At ρ = ½ and Δ = 1 the noise's variance is γ². So these losses compare at one ρ.
  const privacy::Budget unit{Rho{0.5}, privacy::Participation::once(), Displacement{1}};
  const auto loss = [&](const Correlation& of) {
    return where_known([&] { return privacy::predicted_excess(of, problem, unit); });
  };
  FitReport report;
  report.objective = fmt::format("stationary excess for {} eigenvalues", problem.eigenvalues.size());
  report.loss = loss(endless(correlation));
  report.least = privacy::least_descent_loss(problem);
  const Damping suggested = privacy::suggested_nu(problem, unit.participation);
  add(fmt::format("exact nu = {:.4g}", suggested.value()), loss(Correlation{noise::NuFtrl{suggested, {}}}), report);
  add("independent noise", loss(Correlation{noise::Independent{}}), report);
  return report;
}

}  // namespace

FitReport fit_report(const Correlation& correlation, const config::Fit& fit) {
  FitReport report = std::visit([&](const auto& problem) { return report_of(correlation, problem); }, fit.objective);
  report.seconds = fit.seconds;
  return report;
}

void print(const FitReport& report) {
  fmt::print("optimised in {:.2g} s for the {} (gamma^2 times error: comparable at one rho)\n", report.seconds,
             report.objective);
  if (report.loss) fmt::print("  {:<44} {:>12.6g}\n", "this correlation", *report.loss);
  for (const auto& [name, loss] : report.others) fmt::print("  {:<44} {:>12.6g}\n", name, loss);
  if (report.least) fmt::print("  {:<44} {:>12.6g}\n", "no correlation is below", *report.least);
}

void append_json(const FitReport& report, publish::JsonWriter& json) {
  const auto object = json.object("fit");
  json.field("objective", report.objective);
  json.field("seconds", report.seconds);
  if (report.loss) json.field("loss", *report.loss);
  if (report.least) json.field("least", *report.least);
  const auto others = json.array("others");
  for (const auto& [name, loss] : report.others) {
    const auto other = json.object();
    json.field("name", name);
    json.field("loss", loss);
  }
}

}  // namespace nustream::cli
