// The past of the public surface: histories, and what is new since then.
#include <algorithm>
#include <iterator>
#include <utility>

#include "publish/json_writer.h"
#include "serve/public_surface.h"

namespace nustream::serve {
namespace {

using publish::JsonWriter;

/// What a client knows of the lane once it has been told all.
SeenLane seen_of(const ShownLane& lane) {
  return {lane.settings.header.epoch.value(), lane.steps.value(), lane.release ? lane.release->step : 0};
}

/// The step up to which a client has the lane's points. A client that has not seen the lane is given the last release
/// alone, and reads the history for what is older.
std::uint64_t known_step(const ShownLane& lane, const SeenLane* seen) {
  if (seen != nullptr && seen->epoch == lane.settings.header.epoch.value()) return seen->released;
  return lane.release && lane.release->step > 0 ? lane.release->step - 1 : 0;
}

}  // namespace

bool PublicSurface::lacks_past(LaneId lane) const {
  const auto found = lanes_.find(lane);
  return found == lanes_.end() || found->second.shown.history.points().size() < 2;
}

// An index of what can be read: a lane's history may be large, and is a page of its own.
std::string PublicSurface::histories() const {
  const std::string page = publish::object_text([this](JsonWriter& json) {
    json.field("stream", stream_);
    const auto lanes = json.array("lanes");
    for (const auto& [id, lane] : lanes_) {
      const auto object = json.object();
      json.field("lane", id.value());
      json.field("epoch", lane.shown.settings.header.epoch.value());
      json.field("points", lane.shown.history.points().size());
      json.field("path", "/api/v1/history/" + std::to_string(id.value()));
    }
  });
  return page + '\n';
}

std::optional<std::string> PublicSurface::history(LaneId lane) const {
  const auto found = lanes_.find(lane);
  if (found == lanes_.end()) return std::nullopt;
  const ShownLane& shown = found->second.shown;
  const std::string page = publish::object_text([&](JsonWriter& json) {
    json.field("stream", stream_);
    json.field("lane", lane.value());
    json.field("epoch", shown.settings.header.epoch.value());
    // How wide the spans are of which the last release is kept, and how many spans there can be.
    json.field("span_steps", shown.history.width());
    json.field("points_max", shown.history.points_max());
    json.elements("features", shown.history.features());
    append_points(shown, 0, json);
  });
  return page + '\n';
}

std::optional<std::string> PublicSurface::page(const PagePlace& place, const OperatorView* operators) const {
  PageView view{.stream = stream_, .ready = ready_, .operators = operators};
  if (mean_) {
    view.model = &*mean_;
    view.model_history = &*model_history_;
  }
  SeenLanes seen;
  for (const auto& [id, lane] : lanes_) {
    view.lanes.push_back(&lane.shown);
    seen[id] = seen_of(lane.shown);
  }
  view.seen = text_of(seen);
  view.is_open = !lanes_.empty();
  if (!view.is_open) {
    for (const auto& [id, lane] : former_) view.lanes.push_back(&lane);
  }
  if (!view.lanes.empty()) view.lane = view.lanes.front()->settings.header.lane;
  // Without a place in the path, the first lane is drawn.
  view.lane = place.lane.value_or(view.lane);
  const ShownLane* const lane = lane_of(view);
  if (place.lane && lane == nullptr) return std::nullopt;
  view.first_coefficient = place.first_coefficient;
  const std::size_t drawn = lane != nullptr ? lane->history.features().size() : 0;
  // A path beyond the last coefficient is not found. The first page is always there, also before the first release.
  if (view.first_coefficient > 0 && view.first_coefficient >= drawn) return std::nullopt;
  return status_page(view);
}

std::string PublicSurface::since(Seen& seen) const {
  // Lanes that were closed are forgotten, and that they were is news as well: the message has the open lanes.
  bool news = std::erase_if(seen.lanes, [this](const auto& entry) { return !lanes_.contains(entry.first); }) > 0;
  // Such as {"stream":"mine","open":[0,1],"lanes":[…]}, where only lane 1 is in "lanes" if nothing changed in lane 0.
  const std::string data = publish::object_text([&](JsonWriter& json) {
    json.field("stream", stream_);
    {
      const auto open = json.array("open");
      for (const auto& [id, lane] : lanes_) json.element(id.value());
    }
    const auto changed = json.array("lanes");
    for (const auto& [id, lane] : lanes_) {
      const auto found = seen.lanes.find(id);
      const SeenLane now = seen_of(lane.shown);
      // A lane that the client knows as it is now is left out. A client that knows all lanes gets no message.
      if (found != seen.lanes.end() && found->second == now) continue;
      const auto object = json.object();
      append_members(lane.shown, json);
      append_points(lane.shown, known_step(lane.shown, found == seen.lanes.end() ? nullptr : &found->second), json);
      seen.lanes.insert_or_assign(id, now);
      news = true;
    }
  });
  return news ? event_text(text_of(seen.lanes), "update", data) : std::string();
}

}  // namespace nustream::serve
