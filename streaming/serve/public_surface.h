// Everything that the public listener can say: a function of what was committed and published, of public settings and
// of which lanes this process has.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "nustream/base/units.h"
#include "publish/release_json.h"
#include "serve/committed.h"
#include "serve/event_text.h"
#include "serve/public_metrics.h"
#include "serve/shown_lane.h"
#include "serve/status_page.h"

namespace nustream::serve {

/// The public registry, and the state page beside it. Changed by update() alone (committed.h says why), apart from
/// lanes that come and go and the process's readiness, none of which depends on a record. Two runs that make the same
/// calls show the same bytes. One thread at a time; pages are rendered once a change.
class PublicSurface {
 public:
  /// Seconds since 1970.
  using Now = std::function<double()>;
  /// `now`: what a release that becomes public is dated by; without it none is.
  explicit PublicSurface(std::string stream, Now now = {});
  PublicSurface(const PublicSurface&) = delete;
  PublicSurface& operator=(const PublicSurface&) = delete;

  /// The lane's series appear, at no step and without an estimate; another epoch of the lane goes. A restored lane is
  /// then told its committed spend, and after that its last published release. One that is restored anew in the epoch
  /// that is shown stays as it is: why it had to be may be no business of the public's.
  void open_lane(PublicLane lane);
  /// The lane's series go, with lane 0 the combined model. Nothing happens where the lane is not open. Once none is,
  /// the status page goes on with what it last showed of them, and says so, until one opens again.
  void close_lane(LaneId lane);

  /// Shows what was committed. What is of a lane or epoch that is not open (for the combined model: lane 0), or not
  /// beyond what is shown, changes nothing: it comes late, or a second time. A release beyond the committed steps, or
  /// of another kind of noise key (private or not) than its lane, breaks a contract: the process ends.
  void update(const Committed& committed);

  /// True once every lane is restored, until draining begins: never a function of a record.
  void set_ready(bool ready) noexcept { ready_ = ready; }
  [[nodiscard]] bool ready() const noexcept { return ready_; }

  /// The registry in Prometheus' text format, ordered by name and labels.
  [[nodiscard]] const std::string& metrics() const;
  /// /api/v1/state: one JSON object (docs/metrics.md).
  [[nodiscard]] const std::string& state() const;

  /// The status page of that place; nothing where it asks for what is not open.
  /// `operators`: on the operator's listener alone.
  [[nodiscard]] std::optional<std::string> page(const PagePlace& place,
                                                const OperatorView* operators = nullptr) const;
  /// Whether no more of the lane's past is known than its last release.
  [[nodiscard]] bool lacks_past(LaneId lane) const;
  /// /api/v1/history: which lanes there are.
  [[nodiscard]] std::string histories() const;
  /// /api/v1/history/LANE: one lane's published past, thinned by step counts; nothing where it is not open.
  [[nodiscard]] std::optional<std::string> history(LaneId lane) const;
  /// /api/v1/events: one message of what `seen` does not know, and `seen` knows it; empty where it knows all. It says
  /// nothing that the state and the histories do not.
  [[nodiscard]] std::string since(Seen& seen) const;

  [[nodiscard]] const std::string& stream() const noexcept { return stream_; }

 private:
  struct OpenLane {
    ShownLane shown;
    PublicMetrics::Lane series;
  };

  void show(const CommittedSpend& spend);
  void show(const CommittedRelease& release);
  void show(const CommittedModel& model);
  void show(const CommittedPast& past);
  [[nodiscard]] OpenLane* find(LaneId lane, EpochId epoch);
  void changed();
  void show_interval(const publish::ShownRelease& release, OpenLane& lane);

  std::string stream_;
  Now now_;
  PublicMetrics metrics_;
  std::map<LaneId, OpenLane> lanes_;           // after metrics_: the lanes' series go first
  std::map<LaneId, ShownLane> former_;         // of closed lanes, for the status page alone, while none is open
  std::string model_;                          // JSON; empty before the first
  std::optional<publish::ShownRelease> mean_;  // the same, read
  std::optional<History> model_history_;       // of it
  std::optional<PublicMetrics::Model> model_series_;
  bool ready_ = false;
  mutable std::optional<std::string> metrics_page_;  // empty: changed since it was rendered
  mutable std::optional<std::string> state_page_;
};

}  // namespace nustream::serve
