// All that the public listener can say: a function of what was committed and published, of public settings, and of
// which lanes this process has.
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

/// The public registry and the state page. They change by update() alone (committed.h says why), apart from lanes
/// that come and go and the process's readiness, neither of which depends on a record. Two runs that make the same
/// calls show the same bytes. To be used by one thread at a time; pages are rendered once for each change.
class PublicSurface {
 public:
  /// The time in seconds since 1970.
  using Now = std::function<double()>;
  /// `now` dates a release when it becomes public; without it no release is dated.
  explicit PublicSurface(std::string stream, Now now = {});
  PublicSurface(const PublicSurface&) = delete;
  PublicSurface& operator=(const PublicSurface&) = delete;

  /// Makes the lane's series, at no step and without an estimate, and removes those of another epoch of the lane. A
  /// restored lane is then told its committed spend, and after that its last published release. A lane that is
  /// restored again in the epoch that is shown stays as it is: why it is restored may not be for the public to know.
  void open_lane(PublicLane lane);
  /// Removes the lane's series, and with lane 0 the combined model. Does nothing where the lane is not open. Once no
  /// lane is open, the status page keeps what it last showed, and says so, until a lane opens again.
  void close_lane(LaneId lane);

  /// Shows what was committed. It changes nothing where the lane or epoch is not open (for the combined model: lane
  /// 0), or where `committed` is not beyond what is shown, because it came late or a second time. A release beyond
  /// the committed steps, or of another kind of noise key (private or not) than its lane, breaks a contract and ends
  /// the process.
  void update(const CommittedFact& committed);

  /// True once every lane is restored, until draining begins. It is never a function of a record.
  void set_ready(bool ready) noexcept { ready_ = ready; }
  [[nodiscard]] bool ready() const noexcept { return ready_; }

  /// The registry in Prometheus' text format, ordered by name and labels.
  [[nodiscard]] const std::string& metrics() const;
  /// /api/v1/state: one JSON object (docs/metrics.md).
  [[nodiscard]] const std::string& state() const;
  /// Appends the members of that object, so that the operator's page can have more of them.
  void append_state(publish::JsonWriter& json) const;

  /// The status page of that place; empty where the place names what is not open. `operators` is given on the
  /// operator's listener alone.
  [[nodiscard]] std::optional<std::string> page(const PagePlace& place,
                                                const OperatorView* operators = nullptr) const;
  /// Whether nothing of the lane's past is known but its last release.
  [[nodiscard]] bool lacks_past(LaneId lane) const;
  /// /api/v1/history: the lanes that have one.
  [[nodiscard]] std::string histories() const;
  /// /api/v1/history/LANE: one lane's published past, thinned by step counts; empty where the lane is not open.
  [[nodiscard]] std::optional<std::string> history(LaneId lane) const;
  /// /api/v1/events: one message with what `seen` does not know, which it knows afterwards; empty where it knows all.
  /// The message says nothing that the state and the histories do not say.
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
  std::map<LaneId, OpenLane> lanes_;           // declared after metrics_, so that the lanes' series go first
  std::map<LaneId, ShownLane> former_;         // closed lanes, for the status page while no lane is open
  std::string model_;                          // as JSON; empty before the first
  std::optional<publish::ShownRelease> mean_;  // the same model, parsed
  std::optional<History> model_history_;       // of the combined model
  std::optional<PublicMetrics::Model> model_series_;
  bool ready_ = false;
  mutable std::optional<std::string> metrics_page_;  // empty where something changed since it was rendered
  mutable std::optional<std::string> state_page_;
};

}  // namespace nustream::serve
