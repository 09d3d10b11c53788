// Reads noise.correlation = "optimised": first the problem that the correlation is to be best for, then the shape
// that it may have, then the fit itself.
#include "config/read_sections.h"

#include <algorithm>

#include "nustream/privacy/optimised.h"
#include "nustream/privacy/optimised_descent.h"

namespace nustream::config {
namespace {

using noise::Correlation;

std::optional<std::size_t> size(const Section& section, std::string_view key) {
  const std::optional<std::uint64_t> count = section.count(key);
  return count ? std::optional<std::size_t>(static_cast<std::size_t>(*count)) : std::nullopt;
}

/// Reads noise.poles. The result is empty for 0, the default of the rational correlation, which has the same key.
std::optional<std::size_t> poles(const Section& section) {
  const std::optional<std::size_t> count = size(section, "poles");
  return count && *count > 0 ? count : std::nullopt;
}

/// Reads the problem "prefix-sum": the error of all partial sums up to a horizon, the largest or their mean.
privacy::PrefixSums read_prefix_sums(const Section& section) {
  const auto horizon = section.count("horizon");
  if (!horizon) section.missing("horizon");
  const std::uint64_t times = section.count("participations").value_or(1);
  if (times == 0) section.refuse("participations", "a whole number > 0");
  const auto separation = section.count("separation");
  // What several participations cost depends on how far apart they are.
  if (times > 1 && !separation) section.missing("separation");
  if (separation && *separation == 0) section.refuse("separation", "a whole number of steps > 0");
  return {StepCount{*horizon}, privacy::Participation{times, separation.value_or(1)},
          section.choice<privacy::PrefixError>(
              "error", privacy::PrefixError::largest,
              {{"max", privacy::PrefixError::largest}, {"mean", privacy::PrefixError::mean}})};
}

/// Fits the shape that the settings ask for: a recurrence with so many poles, a dense matrix, or a Toeplitz one.
OptimisedNoise fit_prefix_sums(const Section& section) {
  const privacy::PrefixSums problem = read_prefix_sums(section);
  const auto bands = size(section, "bands");
  const bool dense = section.flag("dense").value_or(false);
  if (const auto count = poles(section)) {
    if (dense) section.refuse("dense", "false together with poles");
    if (bands) section.refuse("bands", "bands or poles, not both");
    return {privacy::optimised_rational(problem, *count), problem};
  }
  return {dense ? privacy::optimised_dense(problem, bands) : privacy::optimised_toeplitz(problem, bands), problem};
}

/// Reads the problem "descent": a local one with known eigenvalues, or all strongly convex ones with these constants.
privacy::DescentProblem read_descent(const Section& section, const FittedDescent& descent) {
  const std::vector<double> eigenvalues = section.number_or_numbers("eigenvalues");
  if (!eigenvalues.empty()) return privacy::LocalProblem{eigenvalues, descent.step_size, descent.curvature};
  const auto strong_convexity = section.number("strong_convexity");
  const auto smoothness = section.number("smoothness");
  if (!strong_convexity) section.missing("strong_convexity");
  if (!smoothness) section.missing("smoothness");
  privacy::StronglyConvex problem{descent.step_size, *strong_convexity, *smoothness};
  problem.taps = size(section, "taps").value_or(problem.taps);
  return problem;
}

/// Fits to the error of a descent's last iterate in the long run, as a recurrence or as a window of coefficients.
OptimisedNoise fit_descent(const Section& section, const FittedDescent& descent) {
  if (section.flag("dense").value_or(false)) section.refuse("dense", "false for the objective \"descent\"");
  const privacy::DescentProblem problem = read_descent(section, descent);
  // The problem is kept beside the correlation: a report says what it was fitted to.
  const FitObjective objective = std::visit([](const auto& given) { return FitObjective{given}; }, problem);
  const auto bands = size(section, "bands");
  const auto horizon = section.count("horizon");
  const std::optional<StepCount> stop = horizon ? std::optional(StepCount{*horizon}) : std::nullopt;
  if (const auto count = poles(section)) {
    if (bands) section.refuse("bands", "bands or poles, not both");
    return {Correlation{privacy::optimised_rational(problem, *count).family(), stop}, objective};
  }
  if (bands && (*bands == 0 || *bands > 32768)) section.refuse("bands", "1 ... 32768");
  return {privacy::optimised_window(problem, bands, stop), objective};
}

}  // namespace

OptimisedNoise read_optimised(const Section& section, const FittedDescent& descent) {
  enum class Objective { prefix_sum, stationary };
  const auto objective =
      section.choice<Objective>("objective", Objective::prefix_sum,
                                {{"prefix-sum", Objective::prefix_sum}, {"descent", Objective::stationary}});
  return objective == Objective::prefix_sum ? fit_prefix_sums(section) : fit_descent(section, descent);
}

}  // namespace nustream::config
