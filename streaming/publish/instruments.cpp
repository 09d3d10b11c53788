// Instruments in a release: the solution of both stages as parameters, the figures that say how far to trust it, and
// the strength of a descent's first stage from its charged second moments. All of it is computed from noisy sums.
#include "publish/instruments.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"
#include "nustream/inference/average_noise.h"

namespace nustream::publish {
namespace {

/// The kind as releases spell it (docs/formats/releases.md).
std::string_view name(moments::AndersonRubinSet::Kind kind) {
  using Kind = moments::AndersonRubinSet::Kind;
  switch (kind) {
    case Kind::empty:
      return "empty";
    case Kind::interval:
      return "interval";
    case Kind::outside:
      return "outside";
    case Kind::everything:
      break;
  }
  return "everything";
}

}  // namespace

std::vector<double> parameters_of(const moments::Release& release, const SolvedInstruments& design) {
  if (!release.structural) return {};
  std::vector<double> parameters = release.structural->beta;
  // The solution of the sums has one column of coefficients for each endogenous regressor and then one for the
  // target. The target's own column is the reduced form, which is not shown.
  const auto first_stage = static_cast<std::ptrdiff_t>(design.inputs * design.regressors.size());
  parameters.insert(parameters.end(), release.theta.begin(), release.theta.begin() + first_stage);
  return parameters;
}

void append_instruments(const moments::Release& release, const SolvedInstruments& design, JsonWriter& json) {
  using Kind = moments::AndersonRubinSet::Kind;
  ShownInstruments shown;
  if (release.structural) {
    shown.is_bounded = release.structural->bounded;
    for (std::size_t k = 0; k < release.structural->effective_f.size(); ++k) {
      shown.effective_f.emplace_back(design.regressors[k], release.structural->effective_f[k]);
    }
  }
  if (const auto& set = release.set) {
    // F and the set each say whether they had to use the bound. One remark stands for both, so that it has to
    // be the more careful one.
    shown.is_bounded = shown.is_bounded || set->bounded;
    shown.set_kind = name(set->kind);
    shown.level = design.level;
    const bool has_bounds = set->kind == Kind::interval || set->kind == Kind::outside;
    // The set is in working units of the first regressor's effect; a release shows original units.
    if (has_bounds) shown.lower = set->lower * design.unit, shown.upper = set->upper * design.unit;
  }
  append_instruments(shown, json);
}

std::string set_in_words(const ShownInstruments& shown) {
  // "outside" is the complement of an interval. Weak instruments can give such a set: both far ends fit the sums.
  const std::string bounds = fmt::format("{:.6g} to {:.6g}", shown.lower, shown.upper);
  if (shown.set_kind == "interval") return bounds;
  if (shown.set_kind == "outside") return "every effect but those from " + bounds + ": both ends are open";
  if (shown.set_kind == "everything") return "every effect: the instruments tell nothing at this noise";
  if (shown.set_kind == "empty") return "no effect: the instruments contradict each other";
  return {};
}

void append_instruments(const ShownInstruments& shown, JsonWriter& json) {
  const auto object = json.object("instruments");
  // Neither figure is known, so that nothing can be said of the variance that they would use.
  if (shown.effective_f.empty() && shown.set_kind.empty()) {
    json.field("residual_variance", nullptr);
  } else {
    json.field("residual_variance", shown.is_bounded ? "bounded" : "estimated");
  }
  json.fields_or_null("effective_f", shown.effective_f);
  if (shown.set_kind.empty()) return json.field("anderson_rubin", nullptr);
  const auto set = json.object("anderson_rubin");
  json.field("level", shown.level);
  json.field("kind", shown.set_kind);
  if (shown.set_kind == "interval" || shown.set_kind == "outside") {
    json.field("lower", shown.lower);
    json.field("upper", shown.upper);
  }
}

std::optional<inference::FirstStageStrength> strength_of(const StrengthDesign& design, const lane::Release& release) {
  // The second moments have not begun.
  if (release.moment_steps == 0) return std::nullopt;
  const std::uint64_t steps = release.moment_steps;
  // The noise of the mean of z_1 … z_t: a descent with η = λ = 1 forgets all but the last z, so that its average is
  // that mean.
  double variance = 0;
  try {
    variance = inference::averaged_noise_variance(design.correlation, {1.0, 1.0, 0, steps});
  } catch (const Unsupported&) {
    return std::nullopt;
  }
  // The stage adds its noise to the sum over a minibatch, and the second moments are means over records.
  const double stddev = design.stddev.value() / static_cast<double>(design.minibatch) * std::sqrt(variance);
  // Where records come again in later passes, only different records make the sampling error smaller.
  const std::uint64_t taken = steps * design.minibatch;
  const std::uint64_t records = design.records ? std::min(taken, *design.records) : taken;
  return inference::first_stage_strength(descent::symmetric_matrix(release.bread, design.shape.row()), design.shape,
                                         records, stddev);
}

}  // namespace nustream::publish
