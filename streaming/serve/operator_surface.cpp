#include "serve/operator_surface.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "publish/json_text.h"
#include "serve/exposition.h"
#include "serve/process_metrics.h"

namespace nustream::serve {
namespace {

using publish::append_field;
using publish::append_number;
using publish::append_string;

void append_count(std::string_view key, const prometheus::Counter& count, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  append_number(static_cast<std::uint64_t>(count.Value()), out);
}

/// Appends ,"KEY":{"NAME":N,…}.
template <class Enumerator>
void append_counts(std::string_view key, std::span<const Enumerator> enumerators,
                   const OperatorMetrics::ByEnumerator<prometheus::Counter, Enumerator>& counts, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  char separator = '{';
  for (const Enumerator which : enumerators) {
    out += separator;
    append_string(name(which), out);
    out += ':';
    append_number(static_cast<std::uint64_t>(counts[which].Value()), out);
    separator = ',';
  }
  out += '}';
}

}  // namespace

OperatorSurface::OperatorSurface(PublicSurface& shown) : shown_(shown), process_(metrics_, shown.stream()) {
  set_phase(Phase::starting);
}

OperatorMetrics::Lane& OperatorSurface::open_lane(LaneId lane) {
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
  open.served = open.served || restored(state);
  open.reason = std::move(reason);
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
  std::ranges::move(process_metrics(), std::back_inserter(families));
  return exposition(std::move(families));
}

void OperatorSurface::append_lane(LaneId id, const OpenLane& lane, std::string& out) {
  out += "{\"lane\":";
  append_number(std::uint64_t{id.value()}, out);
  out += ",\"state\":";
  append_string(name(lane.state), out);
  out += ",\"reason\":";
  append_string(lane.reason, out);
  append_count("records", *lane.series.records, out);
  append_counts<RejectReason>("records_rejected", reject_reasons, lane.series.records_rejected, out);
  append_counts<TransactionOutcome>("transactions", transaction_outcomes, lane.series.transactions, out);
  append_count("dead_letters_failed", *lane.series.dead_letters_failed, out);
  append_field("consumer_lag_records", lane.series.consumer_lag_records->Value(), out);
  append_field("gradients_clipped_ratio", lane.series.gradients_clipped_ratio->Value(), out);
  append_field("noise_ahead_steps", lane.series.noise_ahead_steps->Value(), out);
  out += '}';
}

std::string OperatorSurface::state() const {
  std::string page = shown_.state();
  page.erase(page.rfind('}'));
  page += ",\"operator\":";
  append_figures(page);
  page += "}\n";
  return page;
}

void OperatorSurface::append_figures(std::string& out) const {
  out += "{\"phase\":";
  append_string(name(phase_), out);
  out += ready() ? ",\"ready\":true,\"lanes\":[" : ",\"ready\":false,\"lanes\":[";
  for (const auto& [id, lane] : lanes_) {
    if (out.back() != '[') out += ',';
    append_lane(id, lane, out);
  }
  out += "]}";
}

std::string OperatorSurface::since(Seen& seen) const {
  std::string text = shown_.since(seen);
  std::string figures;
  append_figures(figures);
  if (figures == seen.operator_text) return text;
  text += event_text(text_of(seen.lanes), "operator", figures);
  seen.operator_text = std::move(figures);
  return text;
}

}  // namespace nustream::serve
