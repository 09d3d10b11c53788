// The public metrics, by name. Only public_surface.cpp changes them.
#pragma once

#include <optional>
#include <vector>

#include "publish/release_json.h"
#include "serve/series.h"

namespace nustream::serve {

/// The public registry. No operator metric can be in it, because those have a registry of their own. docs/metrics.md
/// says what each metric means.
struct PublicMetrics {
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  template <class Metric>
  using Family = prometheus::Family<Metric>;

  PublicMetrics();

  prometheus::Registry registry;  // stands before the families, which it owns
  Family<Counter>& steps;
  Family<Counter>& releases;
  Family<Gauge>& rho_spent;
  Family<Gauge>& rho_limit;
  Family<Gauge>& rho_ledger;
  Family<Gauge>& rho_budget;
  Family<Gauge>& epsilon;
  Family<Gauge>& epsilon_ledger;
  Family<Gauge>& estimate;
  Family<Gauge>& estimate_average;
  Family<Gauge>& interval_lower;
  Family<Gauge>& interval_upper;
  Family<Gauge>& noise_multiplier;
  Family<Gauge>& sensitivity;
  Family<Gauge>& step_size;
  Family<Gauge>& floored;
  Family<Gauge>& epoch;
  Family<Gauge>& release_every;
  Family<Gauge>& budget_stop;
  Family<Gauge>& last_release;
  Family<Gauge>& last_release_steps;
  Family<Gauge>& promise_info;
  /// Those of the combined model.
  struct ModelFamilies {
    Family<Gauge>& last;
    Family<Gauge>& lanes;
  } model;

  /// One gauge for each feature, made at the first release.
  using Features = std::vector<Series<Gauge>>;
  /// One gauge for each δ and conversion, the δ in the header's order.
  using Conversions = std::vector<Series<Gauge>>;

  /// The series {stream, lane} of one epoch of a lane. A lane that has no estimate or budget has no series of it.
  struct Lane {
    Lane(PublicMetrics& metrics, const publish::ReleaseHeader& header);

    Series<Counter> steps;
    Series<Counter> releases;
    Series<Gauge> rho_spent;
    Series<Gauge> rho_limit;
    Series<Gauge> rho_ledger;
    Conversions epsilon;
    Conversions epsilon_ledger;
    Series<Gauge> noise_multiplier;
    Series<Gauge> sensitivity;
    Series<Gauge> epoch;
    Series<Gauge> release_every;
    Series<Gauge> promise_info;
    std::optional<Series<Gauge>> step_size;
    std::optional<Series<Gauge>> floored;
    std::optional<Series<Gauge>> rho_budget;
    std::optional<Series<Gauge>> budget_stop;
    std::optional<Series<Gauge>> last_release;
    std::optional<Series<Gauge>> last_release_steps;
    Features estimate;
    Features estimate_average;
    Features interval_lower;
    Features interval_upper;
  };

  /// The series {stream} of the combined model, which last as long as this process publishes it.
  struct Model {
    Model(PublicMetrics& metrics, const std::string& stream)
        : last(metrics.model.last, {{"stream", stream}}), lanes(metrics.model.lanes, {{"stream", stream}}) {}

    Series<Gauge> last;
    Series<Gauge> lanes;
  };
};

}  // namespace nustream::serve
