// The past of the public surface: histories, and what is new since then.
#include <algorithm>
#include <iterator>
#include <utility>

#include "publish/json_text.h"
#include "serve/public_surface.h"

namespace nustream::serve {
namespace {

using publish::append_field;
using publish::append_number;
using publish::append_string;

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

std::string PublicSurface::histories() const {
  std::string page = "{\"stream\":";
  append_string(stream_, page);
  page += ",\"lanes\":[";
  for (const auto& [id, lane] : lanes_) {
    if (page.back() != '[') page += ',';
    page += "{\"lane\":";
    append_number(std::uint64_t{id.value()}, page);
    append_field("epoch", std::uint64_t{lane.shown.settings.header.epoch.value()}, page);
    append_field("points", std::uint64_t{lane.shown.history.points().size()}, page);
    append_field("path", "/api/v1/history/" + std::to_string(id.value()), page);
    page += '}';
  }
  return page + "]}\n";
}

std::optional<std::string> PublicSurface::history(LaneId lane) const {
  const auto found = lanes_.find(lane);
  if (found == lanes_.end()) return std::nullopt;
  const ShownLane& shown = found->second.shown;
  std::string page = "{\"stream\":";
  append_string(stream_, page);
  append_field("lane", std::uint64_t{lane.value()}, page);
  append_field("epoch", std::uint64_t{shown.settings.header.epoch.value()}, page);
  append_field("span_steps", shown.history.width(), page);
  append_field("points_max", std::uint64_t{shown.history.points_max()}, page);
  page += ",\"features\":[";
  for (const std::string& feature : shown.history.features()) {
    if (page.back() != '[') page += ',';
    append_string(feature, page);
  }
  page += "],\"points\":";
  append_points(shown, 0, page);
  return page + "}\n";
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
  view.lane = place.lane.value_or(view.lane);
  const ShownLane* const lane = lane_of(view);
  if (place.lane && lane == nullptr) return std::nullopt;
  view.first_coefficient = place.first_coefficient;
  const std::size_t drawn = lane != nullptr ? lane->history.features().size() : 0;
  if (view.first_coefficient > 0 && view.first_coefficient >= drawn) return std::nullopt;
  return status_page(view);
}

std::string PublicSurface::since(Seen& seen) const {
  bool news = std::erase_if(seen.lanes, [this](const auto& entry) { return !lanes_.contains(entry.first); }) > 0;
  std::string open = "[";
  std::string changed = "[";
  for (const auto& [id, lane] : lanes_) {
    if (open.back() != '[') open += ',';
    append_number(std::uint64_t{id.value()}, open);
    const auto found = seen.lanes.find(id);
    const SeenLane now = seen_of(lane.shown);
    if (found != seen.lanes.end() && found->second == now) continue;
    if (changed.back() != '[') changed += ',';
    append_lane(lane.shown, changed);
    changed.back() = ',';
    changed += "\"points\":";
    append_points(lane.shown, known_step(lane.shown, found == seen.lanes.end() ? nullptr : &found->second), changed);
    changed += '}';
    seen.lanes.insert_or_assign(id, now);
    news = true;
  }
  if (!news) return {};
  std::string data = "{\"stream\":";
  append_string(stream_, data);
  data += ",\"open\":" + open + "],\"lanes\":" + changed + "]}";
  return event_text(text_of(seen.lanes), "update", data);
}

}  // namespace nustream::serve
