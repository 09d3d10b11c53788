// The default of noise.nu for a stream. It reads a few keys of [descent], [model] and [plan] on its own, since
// [noise] is read before the rest of the settings is known.
#include "config/read_sections.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "located.h"
#include "nustream/base/error.h"
#include "nustream/inference/average_plan.h"
#include "nustream/privacy/plan.h"

namespace nustream::config {
namespace {

/// The ν that a plan suggests for what the settings quote: the last iterate, or an average and its length.
Damping suggested(const Section& root) {
  const Section descent = root.section("descent");
  const Section plan = root.section("plan");
  const bool mean = root.section("model").text("loss") == "mean";
  std::vector<double> eigenvalues = plan.numbers("second_moment_eigenvalues");
  // For a mean every coordinate has the curvature 1, whatever [plan] says of features.
  if (eigenvalues.empty() || mean) eigenvalues = {1};
  const privacy::LocalProblem problem{std::move(eigenvalues), effective_step_size(descent),
                                      mean ? privacy::Curvature::fixed : privacy::Curvature::gaussian_features};
  const descent::Averaging averaging = read_averaging(descent);
  const auto once = privacy::Participation::once();
  if (averaging.kind == descent::Averaging::Kind::last) return privacy::suggested_nu(problem, once);
  // Without plan.records the number of steps is 0, which span_of() takes for "not known".
  const std::uint64_t steps =
      plan.count("records").value_or(0) / std::max<std::uint64_t>(1, descent.count("minibatch").value_or(1));
  const inference::AverageSpan span = inference::span_of(averaging, steps);
  return span.every_length ? inference::suggested_nu_of_every_average(problem, span.over.from, once)
                           : inference::suggested_nu_of_average(problem, span.over, once);
}

/// Refuses settings from which no ν follows, and says why none does.
Damping without_default(const Section& root, const std::string& why) {
  return with_advice(Exit::configuration, "no default follows from [descent] and [plan]: " + why,
                     [&]() -> Damping { root.section("noise").missing("nu"); });
}

}  // namespace

Damping default_nu(const Section& root) {
  // A table's file names no ν, since its noise is independent. Read as a stream's file, a default would change the
  // promise without being asked for.
  if (root.has("estimate")) {
    root.section("estimate")
        .refuse(
            "steps",
            "nothing for a stream: [estimate] is of a table, whose settings nustream estimate takes; leave it out, "
            "or set noise.nu, which has no default beside it");
  }
  try {
    // Two digits as text and back give the same double everywhere.
    return Damping{std::strtod(fmt::format("{:.1e}", suggested(root).value()).c_str(), nullptr)};
  } catch (const InvalidParameter& error) {
    return without_default(root, error.what());
  } catch (const Unsupported& error) {
    return without_default(root, error.what());
  }
}

}  // namespace nustream::config
