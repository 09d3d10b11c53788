// What the operator sees beyond the public surface. Its metrics, reasons and states depend on data, so they have a
// registry and pages of their own; the one thing that passes from here to the public surface is readiness.
#include "serve/operator_surface.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "publish/json_writer.h"
#include "serve/exposition.h"
#include "serve/operator_metrics.h"

namespace nustream::serve {
namespace {

using publish::JsonWriter;

/// A count as a whole number: the library keeps counters as doubles.
std::uint64_t value_of(const prometheus::Counter& count) {
  return static_cast<std::uint64_t>(count.Value());
}

/// Writes "KEY":{"NAME":N,…}.
template <class Enumerator>
void append_counts(publish::MemberName key, std::span<const Enumerator> enumerators,
                   const OperatorMetrics::ByEnumerator<prometheus::Counter, Enumerator>& counts, JsonWriter& json) {
  // Such as "records_rejected":{"malformed":0,"unusable_field":2,…}: reasons that never came are there with 0.
  const auto object = json.object(key);
  for (const Enumerator which : enumerators) json.field(std::string_view(name(which)), value_of(counts[which]));
}

}  // namespace

OperatorSurface::OperatorSurface(PublicSurface& shown) : shown_(shown), process_(metrics_, shown.stream()) {
  set_phase(Phase::starting);
}

OperatorMetrics::Lane& OperatorSurface::open_lane(LaneId lane) {
  // Two owners of one series would leave one of them with a dangling pointer.
  NUSTREAM_REQUIRE(!lanes_.contains(lane), "a lane is open once");
  OpenLane& opened = lanes_.emplace(lane, OpenLane{{metrics_, shown_.stream(), lane}}).first->second;
  set_state(lane, LaneStatus::waiting);
  return opened.series;
}

void OperatorSurface::close_lane(LaneId lane) {
  lanes_.erase(lane);
  readiness_may_have_changed();
}

void OperatorSurface::set_state(LaneId lane, LaneStatus state, std::string reason) {
  OpenLane& open = lanes_.at(lane);
  open.state = state;
  // Once a lane was restored it counts as ready until it fails, even while it is restored again: why it is restored
  // again may depend on data, and readiness is public.
  open.served = open.served || restored(state);
  open.reason = std::move(reason);
  // One series for each state, of which exactly one is 1: a query can then ask for a state by its label.
  for (const LaneStatus each : lane_statuses) open.series.state[each].Set(each == state ? 1 : 0);
  readiness_may_have_changed();
}

void OperatorSurface::set_phase(Phase phase, std::string reason) {
  phase_ = phase;
  phase_reason_ = std::move(reason);
  for (const Phase each : phases) process_.phase[each].Set(each == phase ? 1 : 0);
  readiness_may_have_changed();
}

bool OperatorSurface::ready() const {
  return phase_ == Phase::serving &&
         std::all_of(lanes_.begin(), lanes_.end(), [](const auto& entry) { return entry.second.ready(); });
}

void OperatorSurface::readiness_may_have_changed() {
  shown_.set_ready(ready());
  process_.ready->Set(ready() ? 1 : 0);
}

// For example "lane 3: restoring", with the reason behind it where there is one.
std::string OperatorSurface::readiness() const {
  if (ready()) return "ready\n";
  std::string lines;
  if (phase_ != Phase::serving) {
    lines += name(phase_);
    if (!phase_reason_.empty()) lines += ": " + phase_reason_;
    lines += '\n';
  }
  for (const auto& [id, lane] : lanes_) {
    if (lane.ready()) continue;
    lines += "lane " + std::to_string(id.value()) + ": " + std::string(name(lane.state));
    if (!lane.reason.empty()) lines += ": " + lane.reason;
    lines += '\n';
  }
  return lines;
}

std::string OperatorSurface::metrics() const {
  std::vector<prometheus::MetricFamily> families = metrics_.registry.Collect();
  // The process's own figures are no part of the registry: they are read from the kernel at each look.
  std::ranges::move(process_metrics(), std::back_inserter(families));
  return exposition(std::move(families));
}

void OperatorSurface::append_lane(LaneId id, const OpenLane& lane, JsonWriter& json) {
  const auto object = json.object();
  json.field("lane", id.value());
  json.field("state", name(lane.state));
  json.field("reason", lane.reason);
  json.field("records", value_of(*lane.series.records));
  append_counts<RejectReason>("records_rejected", reject_reasons, lane.series.records_rejected, json);
  append_counts<TransactionOutcome>("transactions", transaction_outcomes, lane.series.transactions, json);
  json.field("dead_letters_failed", value_of(*lane.series.dead_letters_failed));
  json.field("consumer_lag_records", lane.series.consumer_lag_records->Value());
  json.field("gradients_clipped_ratio", lane.series.gradients_clipped_ratio->Value());
  json.field("noise_ahead_steps", lane.series.noise_ahead_steps->Value());
}

std::string OperatorSurface::state() const {
  std::string page = publish::object_text([this](JsonWriter& json) {
    // First all that the public state has, so that one reader understands both.
    shown_.append_state(json);
    json.raw("operator", figures());
  });
  page += '\n';
  return page;
}

std::string OperatorSurface::figures() const {
  return publish::object_text([this](JsonWriter& json) {
    json.field("phase", name(phase_));
    json.field("ready", ready());
    const auto lanes = json.array("lanes");
    for (const auto& [id, lane] : lanes_) append_lane(id, lane, json);
  });
}

std::string OperatorSurface::since(Seen& seen) const {
  std::string text = shown_.since(seen);
  std::string told = figures();
  // The figures are compared as text, since any of them may have changed.
  if (told == seen.operator_text) return text;
  text += event_text(text_of(seen.lanes), "operator", told);
  seen.operator_text = std::move(told);
  return text;
}

}  // namespace nustream::serve
