// The model of `local collect` as JSON and as a table. Beside the slopes it says how far they can be relied on, in
// the terms of solve_local(): signal, noise, and the number of reports at which the two would be equal.
#include "local/model_text.h"

#include <cmath>
#include <functional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "publish/json_writer.h"

namespace nustream::local {
namespace {

using inference::LocalEstimate;
using inference::SignalToNoise;
using publish::JsonWriter;

/// The factor from a slope in the coordinates of the rows to one in the units of the fields: target scale over
/// feature scale.
double unit(const Settings& settings, std::size_t feature) {
  const std::optional<record::Feature>& target = settings.schema.target;
  return (target ? target->scale : 1) / settings.schema.features[feature].scale;
}

/// The number of reports n at which neither part's noise would be larger than its signal.
double reports_needed(const LocalEstimate& estimate) {
  return std::ceil(std::max(estimate.second_moment.reports_needed, estimate.cross_moment.reports_needed));
}

/// Whether the number of the part that needs more reports is itself only a lower bound.
bool is_lower_bound(const LocalEstimate& estimate) {
  const bool second = estimate.second_moment.reports_needed > estimate.cross_moment.reports_needed;
  return second ? estimate.second_moment.at_least : estimate.cross_moment.at_least;
}

// ---- JSON

void add_slopes(publish::MemberName key, const Settings& settings, std::span<const double> slopes, bool original,
                JsonWriter& json) {
  const auto object = json.object(key);
  for (std::size_t j = 0; j < slopes.size(); ++j) {
    json.field(settings.schema.features[j].name, slopes[j] * (original ? unit(settings, j) : 1));
  }
}

void add_signal(publish::MemberName key, const SignalToNoise& part, JsonWriter& json) {
  const auto object = json.object(key);
  json.field("signal", part.signal);
  json.field("noise", part.noise);
  json.field("noise_exceeds_signal", part.exceeded);
  json.field("reports_needed", std::ceil(part.reports_needed));
  json.field("at_least", part.at_least);
}

/// Whether the logistic scale c is a result. Φ''(0) c is about 1 where predictions are moderate; where it is far
/// larger, c is an accident of the few rows in the middle.
bool scale_is_determined(const Settings& settings, const LocalEstimate& estimate) {
  constexpr double far = 10;
  const inference::GlmFamily family = settings.solver.family;
  if (family != inference::GlmFamily::logistic || !estimate.scale || !estimate.scale->exists) return true;
  return estimate.scale->c * inference::cumulant_second_derivative(family, 0) <= far;
}

void add_scale(const Settings& settings, const LocalEstimate& estimate, JsonWriter& json) {
  if (!estimate.scale) return json.field("scale", nullptr);
  const auto object = json.object("scale");
  json.field("c", estimate.scale->c);
  json.field("exists", estimate.scale->exists);
  json.field("reached", estimate.scale->reached);
  json.field("determined", estimate.scale->exists && scale_is_determined(settings, estimate));
}

void add_spectrum(const inference::LocalSpectrum& spectrum, JsonWriter& json) {
  const auto object = json.object("spectrum");
  json.field("smallest", spectrum.smallest);
  json.field("largest", spectrum.largest);
  json.field("definite", spectrum.definite);
  json.field("condition", spectrum.condition);
  json.field("repair", name(spectrum.repair));
  json.field("ridge", spectrum.ridge);
  json.field("rank", spectrum.rank);
}

void add_estimate(const Collected& collected, JsonWriter& json) {
  if (!collected.estimate) return json.field("estimate", nullptr);
  const LocalEstimate& estimate = *collected.estimate;
  if (estimate.model) {
    add_slopes("estimate", collected.settings, *estimate.model, true, json);
    add_slopes("working", collected.settings, *estimate.model, false, json);
  } else {
    json.field("estimate", nullptr);
  }
  add_slopes("least_squares", collected.settings, estimate.ols, true, json);
  add_scale(collected.settings, estimate, json);
  add_spectrum(estimate.spectrum, json);
  json.field("noise_exceeds_signal", estimate.noise_exceeds_signal());
  json.field("reports_needed", reports_needed(estimate));
  json.field("at_least", is_lower_bound(estimate));
  add_signal("second_moment", estimate.second_moment, json);
  add_signal("cross_moment", estimate.cross_moment, json);
}

/// Reason 0 is Reject::none, which no rejected line has.
void add_counted(const Counted& counted, JsonWriter& json) {
  const auto run = json.object("this_run");
  json.field("added", counted.added);
  json.field("duplicates", counted.duplicates);
  const auto rejected = json.object("rejected");
  for (std::size_t reason = 1; reason < reject_kinds; ++reason) {
    if (counted.rejects[reason] == 0) continue;
    json.field(std::string_view(name(static_cast<Reject>(reason))), counted.rejects[reason]);
  }
}

void add_public_rows(const LoadedRows& rows, const std::optional<LocalEstimate>& estimate, JsonWriter& json) {
  const auto object = json.object("public_rows");
  json.field("rows", rows.rows);
  json.field("projected", rows.projected);
  json.field("unusable", rows.unusable);
  json.field("mean_shift", estimate ? estimate->public_mean_shift : std::nan(""));
}

void add_noise_stddevs(const inference::LocalMechanism& mechanism, JsonWriter& json) {
  const auto object = json.object("noise");
  json.field("second_moment", mechanism.noise().second_moment.value());
  json.field("cross_moment", mechanism.noise().cross_moment.value());
}

// ---- table

std::string rejected_text(const Counted& counted) {
  std::string text;
  for (std::size_t reason = 1; reason < reject_kinds; ++reason) {
    if (counted.rejects[reason] == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", counted.rejects[reason], name(static_cast<Reject>(reason)));
  }
  return text.empty() ? "0" : text;
}

void add_part(std::string_view what, const SignalToNoise& part, std::string& out) {
  out += fmt::format("{:<24}signal {:.4g}, noise {:.4g}{}\n", what, part.signal, part.noise,
                     part.exceeded ? ": the noise is larger" : "");
}

void add_slopes_table(const Collected& collected, const LocalEstimate& estimate, std::string& out) {
  out += fmt::format("{:<24}{:>16}{:>16}\n", "slope", "estimate", "least squares");
  for (std::size_t j = 0; j < estimate.ols.size(); ++j) {
    const std::string shown =
        estimate.model ? fmt::format("{:.6g}", (*estimate.model)[j] * unit(collected.settings, j)) : "none";
    out += fmt::format("{:<24}{:>16}{:>16.6g}\n", collected.settings.schema.features[j].name, shown,
                       estimate.ols[j] * unit(collected.settings, j));
  }
}

std::string scale_text(const LocalEstimate& estimate) {
  if (!estimate.scale) return "none: no public rows (local.public_rows)";
  if (estimate.scale->exists) return fmt::format("{:.6g}", estimate.scale->c);
  return fmt::format("none: f(c) reaches {:.4g} of 1 at c = {:.4g}; more reports, or more public rows",
                     estimate.scale->reached, estimate.scale->c);
}

std::string repair_text(const inference::LocalSpectrum& spectrum) {
  switch (spectrum.repair) {
    case inference::LocalRepair::ridge:
      return fmt::format("; ridge {:.4g} added", spectrum.ridge);
    case inference::LocalRepair::pseudo_inverse:
      return fmt::format("; pseudo-inverse of rank {}", spectrum.rank);
    case inference::LocalRepair::none:
      break;
  }
  return spectrum.ridge > 0 ? fmt::format("; ridge {:.4g} added (local.ridge)", spectrum.ridge) : "";
}

void add_reliability(const Collected& collected, std::string& out) {
  const LocalEstimate& estimate = *collected.estimate;
  const inference::LocalSpectrum& spectrum = estimate.spectrum;
  out += fmt::format("{:<24}{}\n", "scale c", scale_text(estimate));
  if (!scale_is_determined(collected.settings, estimate)) {
    out +=
        "Do not use this model: under this c nearly all predictions are near 0 or 1, where the public rows tell "
        "next to nothing of c. Collect more reports.\n";
  }
  out += fmt::format("{:<24}{:.4g} to {:.4g}, {}{}\n", "eigenvalues of x x'", spectrum.smallest, spectrum.largest,
                     spectrum.definite ? fmt::format("definite, condition {:.4g}", spectrum.condition) : "indefinite",
                     repair_text(spectrum));
  add_part("x x'", estimate.second_moment, out);
  add_part("x y", estimate.cross_moment, out);
  if (!estimate.noise_exceeds_signal()) return;
  // The least eigenvalue of the public rows is 0: there is no signal that more reports could bring out.
  if (std::isinf(reports_needed(estimate))) {
    out +=
        "Do not use this model: features determine one another in the public rows, and no number of reports changes "
        "that.\n";
    return;
  }
  out += fmt::format(
      "The noise is still larger than the signal: do not use this model. With {}{:.3g} reports the signal is as "
      "large as the noise.\n",
      is_lower_bound(estimate) ? "at least " : "about ", reports_needed(estimate));
}

void add_public_rows(const Collected& collected, std::string& out) {
  const LoadedRows& rows = collected.rows;
  if (rows.rows == 0) return;
  out += fmt::format("{:<24}{}, {} of them beyond the bounds and scaled, {} unusable left out\n", "public rows",
                     rows.rows, rows.projected, rows.unusable);
  if (collected.estimate && collected.estimate->public_mean_shift > 0.1) {
    out += fmt::format(
        "The public rows' mean is {:.2g} of their size: the model has no intercept and needs E x = 0; centre the "
        "features.\n",
        collected.estimate->public_mean_shift);
  }
}

}  // namespace

std::string model_json(const Collected& collected) {
  const std::string line = publish::object_text([&](JsonWriter& json) {
    json.field("format", 1);
    json.field("stream", collected.settings.stream);
    json.field("loss", name(collected.settings.solver.family));
    json.field("reports", collected.reports);
    add_counted(collected.counted, json);
    add_estimate(collected, json);
    add_public_rows(collected.rows, collected.estimate, json);
    add_noise_stddevs(collected.mechanism, json);
    json.field("epsilon", collected.mechanism.epsilon().value());
    json.field("delta", collected.settings.budget.delta.value());
    json.field("conversion", "gaussian");
    // Reports are private one by one, and so is all that is computed from them.
    json.field("private", true);
  });
  return line + '\n';
}

std::string model_table(const Collected& collected) {
  std::string out =
      fmt::format("{:<24}{} ({} new, {} duplicates; rejected {})\n", "reports", collected.reports,
                  collected.counted.added, collected.counted.duplicates, rejected_text(collected.counted));
  if (collected.estimate) {
    add_slopes_table(collected, *collected.estimate, out);
    add_reliability(collected, out);
  } else {
    out += "no report yet, no model\n";
  }
  add_public_rows(collected, out);
  out += fmt::format("{:<24}{:.6g} at delta {:.3g} for each report (gaussian: the exact curve)\n", "epsilon",
                     collected.mechanism.epsilon().value(), collected.settings.budget.delta.value());
  return out;
}

}  // namespace nustream::local
