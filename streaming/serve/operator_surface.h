// All that the operator's listener can say: what the public one says, and what depends on data.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "nustream/base/units.h"
#include "serve/lane_status.h"
#include "serve/operator_metrics.h"
#include "serve/public_surface.h"

namespace nustream::serve {

/// The operator's registry, every lane's state with its reason, and readiness. To be used by one thread at a time.
class OperatorSurface {
 public:
  /// Keeps the readiness of `shown` up to date; `shown` has to outlive it.
  explicit OperatorSurface(PublicSurface& shown);
  OperatorSurface(const OperatorSurface&) = delete;
  OperatorSurface& operator=(const OperatorSurface&) = delete;

  /// Makes the lane's series, in state waiting. What is returned is valid until close_lane(). Contract: the lane is
  /// not open.
  OperatorMetrics::Lane& open_lane(LaneId lane);
  /// Removes the lane's series.
  void close_lane(LaneId lane);
  /// Sets the state of an open lane. `reason` is one line for the operator, or empty where there is nothing to say;
  /// it never holds the value of a field.
  void set_state(LaneId lane, LaneStatus state, std::string reason = {});
  /// Sets the phase of the process; `reason` is as in set_state().
  void set_phase(Phase phase, std::string reason = {});
  /// Counts that the group gave partitions to this instance, or took some from it.
  void rebalanced() { process_.rebalances->Increment(); }
  /// Sets how many lanes hold the combined model up.
  void set_model_waits(std::size_t lanes) { process_.model_waits->Set(static_cast<double>(lanes)); }

  /// Whether the process serves and every open lane is restored. A lane that was restored once and is being restored
  /// again counts as restored unless it has failed: why it is restored again may not be for the public to know.
  [[nodiscard]] bool ready() const;
  /// "ready", or what stands in its way, each thing on a line of its own.
  [[nodiscard]] std::string readiness() const;
  /// The operator's registry and the process's own metrics in Prometheus' text format. The public registry is scraped
  /// from the public listener.
  [[nodiscard]] std::string metrics() const;
  /// /api/v1/state: the public object with one more field, "operator" (docs/metrics.md).
  [[nodiscard]] std::string state() const;
  /// The status page with what only the operator may see.
  [[nodiscard]] std::optional<std::string> page(const PagePlace& place) const;
  /// /api/v1/events: the public message, and an event "operator" with the field of that name of the state, where it
  /// changed.
  [[nodiscard]] std::string since(Seen& seen) const;

  [[nodiscard]] const PublicSurface& shown() const noexcept { return shown_; }

 private:
  struct OpenLane {
    OperatorMetrics::Lane series;
    LaneStatus state = LaneStatus::waiting;
    std::string reason{};
    bool served = false;  // it was restored once
    [[nodiscard]] bool ready() const noexcept { return served && state != LaneStatus::failed; }
  };

  void readiness_may_have_changed();
  [[nodiscard]] std::string figures() const;
  static void append_lane(LaneId id, const OpenLane& lane, publish::JsonWriter& json);

  /// How many records all lanes had taken at a moment; a rate is computed from two of them.
  struct Taken {
    std::chrono::steady_clock::time_point at;
    double records;
  };
  [[nodiscard]] OperatorView view() const;
  [[nodiscard]] std::optional<double> records_per_second() const;

  PublicSurface& shown_;
  OperatorMetrics metrics_;
  OperatorMetrics::Process process_;
  std::map<LaneId, OpenLane> lanes_;  // declared after metrics_, so that the lanes' series go first
  Phase phase_ = Phase::starting;
  std::string phase_reason_;
  mutable std::deque<Taken> taken_;  // looks of the last half minute, at most one a second
};

}  // namespace nustream::serve
