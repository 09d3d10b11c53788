// Everything that the operator listener can say: what the public one says, and what depends on data.
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

/// The operator's registry, every lane's state with its reason, and readiness. One thread at a time.
class OperatorSurface {
 public:
  /// Keeps `shown`'s readiness, which has to live longer.
  explicit OperatorSurface(PublicSurface& shown);
  OperatorSurface(const OperatorSurface&) = delete;
  OperatorSurface& operator=(const OperatorSurface&) = delete;

  /// The lane's series appear, in state waiting. What is returned is valid until close_lane(). The lane must not be
  /// open (contract).
  OperatorMetrics::Lane& open_lane(LaneId lane);
  /// The lane's series go.
  void close_lane(LaneId lane);
  /// The lane is open. `reason`: one line for the operator, empty where there is nothing to say; never a field's
  /// value.
  void set_state(LaneId lane, LaneStatus state, std::string reason = {});
  /// `reason`: as of a lane's state.
  void set_phase(Phase phase, std::string reason = {});
  /// The group gave partitions to this instance, or took some.
  void rebalanced() { process_.rebalances->Increment(); }
  /// So many lanes hold the combined model up.
  void set_model_waits(std::size_t lanes) { process_.model_waits->Set(static_cast<double>(lanes)); }

  /// Serving, and every open lane restored: those that were restored once and are not again, without having failed,
  /// count, since why may be no business of the public's.
  [[nodiscard]] bool ready() const;
  /// "ready", or what stands in its way: a line each.
  [[nodiscard]] std::string readiness() const;
  /// The operator's registry and the process's own metrics in Prometheus' text format; the public registry is scraped
  /// from the public listener.
  [[nodiscard]] std::string metrics() const;
  /// /api/v1/state: the public object with one field more, "operator" (docs/metrics.md).
  [[nodiscard]] std::string state() const;
  /// The status page with what the operator alone may see.
  [[nodiscard]] std::optional<std::string> page(const PagePlace& place) const;
  /// /api/v1/events: the public message, and an event "operator" with the state's field of that name where it
  /// changed.
  [[nodiscard]] std::string since(Seen& seen) const;

  [[nodiscard]] const PublicSurface& shown() const noexcept { return shown_; }

 private:
  struct OpenLane {
    OperatorMetrics::Lane series;
    LaneStatus state = LaneStatus::waiting;
    std::string reason{};
    bool served = false;  // was restored once
    [[nodiscard]] bool ready() const noexcept { return served && state != LaneStatus::failed; }
  };

  void readiness_may_have_changed();
  void append_figures(std::string& out) const;
  static void append_lane(LaneId id, const OpenLane& lane, std::string& out);

  /// Records that all lanes had taken at a moment, to tell a rate by.
  struct Taken {
    std::chrono::steady_clock::time_point at;
    double records;
  };
  [[nodiscard]] OperatorView view() const;
  [[nodiscard]] std::optional<double> records_per_second() const;

  PublicSurface& shown_;
  OperatorMetrics metrics_;
  OperatorMetrics::Process process_;
  std::map<LaneId, OpenLane> lanes_;  // after metrics_: the lanes' series go first
  Phase phase_ = Phase::starting;
  std::string phase_reason_;
  mutable std::deque<Taken> taken_;  // of the last half minute, one a second at most, whenever somebody looked
};

}  // namespace nustream::serve
