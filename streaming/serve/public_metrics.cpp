// Names, help texts and labels of the public metrics (docs/metrics.md). What is shown in them is set by
// public_surface.cpp alone, from values that are committed.
#include "serve/public_metrics.h"

#include "nustream/privacy/epsilon.h"
#include "publish/json_text.h"
#include "version.h"

namespace nustream::serve {
namespace {

/// One gauge for each δ and each conversion, in the order in which publish::epsilons_of() gives the values.
PublicMetrics::Conversions conversions(PublicMetrics::Family<PublicMetrics::Gauge>& family,
                                       const publish::ReleaseHeader& header) {
  PublicMetrics::Conversions all;
  for (const Delta& delta : header.deltas()) {
    for (const privacy::Conversion conversion : privacy::conversions) {
      prometheus::Labels labels = lane_labels(header.stream, header.lane);
      // As releases write it, so that one δ has one spelling everywhere.
      publish::append_number(delta.value(), labels["delta"]);
      labels["conversion"] = privacy::name(conversion);
      // For example nustream_epsilon{conversion="gaussian",delta="1e-06",lane="0",stream="mine"}.
      all.emplace_back(family, labels);
    }
  }
  return all;
}

/// The unit of the promise and its limits; a label is empty where it says nothing.
prometheus::Labels promise_labels(const publish::ReleaseHeader& header) {
  const publish::Promise& promise = header.promise;
  prometheus::Labels labels = lane_labels(header.stream, header.lane);
  labels["adjacency"] = promise.adjacency;
  labels["protects"] = promise.user ? "user" : promise.target_only ? "target" : "record";
  // All series of a metric have the same labels, so that they can be joined and summed.
  for (const char* label : {"user", "participations", "separation", "mass", "period", "times"}) labels[label] = "";
  if (!promise.user) return labels;
  labels["user"] = promise.user->column;
  const users::Limits& limits = promise.user->limits;
  if (const auto& participation = limits.participation()) {
    labels["participations"] = std::to_string(participation->times());
    labels["separation"] = std::to_string(participation->separation());
  }
  if (limits.mass()) publish::append_number(limits.mass()->value(), labels["mass"]);
  if (const auto& windows = limits.windows()) {
    labels["period"] = users::text_of(windows->period);
    labels["times"] = windows->times_are_trusted ? "trusted" : "append";
  }
  return labels;
}

}  // namespace

// A family is there from the start, without a series, and its help text ends with the unit. docs/metrics.md has the
// same names.
PublicMetrics::PublicMetrics()
    : steps(
          counters(registry, "nustream_steps_total", "Steps of the lane's epoch whose state is committed (steps).")),
      releases(counters(registry, "nustream_releases_total",
                        "Releases published since this process took the lane (releases).")),
      rho_spent(gauges(registry, "nustream_zcdp_rho_spent",
                       "What the lane's epoch has spent by the committed steps, in the worst case (rho of zCDP).")),
      rho_limit(gauges(registry, "nustream_zcdp_rho_limit",
                       "What the lane's epoch can never spend more than, however long the stream (rho of zCDP).")),
      rho_ledger(gauges(registry, "nustream_zcdp_rho_ledger",
                        "What all epochs in the ledger have spent together, in the worst case (rho of zCDP).")),
      rho_budget(gauges(registry, "nustream_zcdp_rho_budget",
                        "Where the settings stop the lane: a cap on nustream_zcdp_rho_ledger (rho of zCDP).")),
      epsilon(gauges(registry, "nustream_epsilon",
                     "What nustream_zcdp_rho_spent comes to at delta under the named conversion (epsilon).")),
      epsilon_ledger(gauges(registry, "nustream_epsilon_ledger",
                            "What nustream_zcdp_rho_ledger comes to at delta under the named conversion (epsilon).")),
      estimate(gauges(registry, "nustream_estimate",
                      "The iterate of the last published release (original units of the feature).")),
      estimate_average(gauges(registry, "nustream_estimate_average",
                              "The average of the last published release (original units of the feature).")),
      interval_lower(gauges(registry, "nustream_interval_lower",
                            "Lower end of the last published interval (original units of the feature).")),
      interval_upper(gauges(registry, "nustream_interval_upper",
                            "Upper end of the last published interval (original units of the feature).")),
      noise_multiplier(gauges(registry, "nustream_noise_multiplier",
                              "Standard deviation of the seed noise per unit of displacement (ratio).")),
      sensitivity(gauges(registry, "nustream_sensitivity",
                         "How far one unit can move the encoded gradients over the epoch (units of displacement).")),
      step_size(gauges(registry, "nustream_step_size", "Step size of the next step (parameter per gradient unit).")),
      floored(gauges(registry, "nustream_floored_directions",
                     "Directions of the features that noise hides in the last published release (directions).")),
      epoch(gauges(registry, "nustream_epoch", "Which life of the lane's noise key this is (epochs).")),
      release_every(gauges(registry, "nustream_release_every_steps", "Steps from a release to the next (steps).")),
      budget_stop(gauges(registry, "nustream_budget_stop_steps",
                         "Steps of the epoch after which the budget stops the lane, where it does (steps).")),
      last_release(gauges(registry, "nustream_last_release_timestamp_seconds",
                          "When the last release was published, since 1970-01-01 UTC (seconds).")),
      last_release_steps(gauges(registry, "nustream_last_release_steps",
                                "Steps of the epoch that the last published release shows (steps).")),
      promise_info(gauges(registry, "nustream_promise_info",
                          "Always 1; labels say whom the promise is about, and within which limits (ratio).")),
      model{gauges(registry, "nustream_model_timestamp_seconds",
                   "When the combined model last changed, since 1970-01-01 UTC (seconds)."),
            gauges(registry, "nustream_model_lanes", "Lanes that the combined model is of (lanes).")} {
  // It is of the process, and the one series here without a stream.
  gauges(registry, "nustream_build_info", "Always 1; the version is a label (ratio).")
      .Add({{"version", version}})
      .Set(1);
}

// The series that every lane has. Those that not every lane has, such as that of a budget, are made with their first
// value.
PublicMetrics::Lane::Lane(PublicMetrics& metrics, const publish::ReleaseHeader& header)
    : steps(metrics.steps, lane_labels(header.stream, header.lane)),
      releases(metrics.releases, lane_labels(header.stream, header.lane)),
      rho_spent(metrics.rho_spent, lane_labels(header.stream, header.lane)),
      rho_limit(metrics.rho_limit, lane_labels(header.stream, header.lane)),
      rho_ledger(metrics.rho_ledger, lane_labels(header.stream, header.lane)),
      epsilon(conversions(metrics.epsilon, header)),
      epsilon_ledger(conversions(metrics.epsilon_ledger, header)),
      noise_multiplier(metrics.noise_multiplier, lane_labels(header.stream, header.lane)),
      sensitivity(metrics.sensitivity, lane_labels(header.stream, header.lane)),
      epoch(metrics.epoch, lane_labels(header.stream, header.lane)),
      release_every(metrics.release_every, lane_labels(header.stream, header.lane)),
      promise_info(metrics.promise_info, promise_labels(header)) {
  // An "info" metric: its value is always 1, and what it says is in its labels.
  promise_info->Set(1);
}

}  // namespace nustream::serve
