#include "serve/public_surface.h"

#include <cmath>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/privacy/epsilon.h"
#include "publish/json_text.h"
#include "publish/reported.h"
#include "serve/exposition.h"

namespace nustream::serve {
namespace {

using publish::append_field;
using publish::append_number;
using publish::append_string;
using publish::append_values;
using Values = publish::NamedValues;

/// Whoever has this lane publishes the combined model; elsewhere it would be an old one.
constexpr LaneId model_lane{0};

/// Counters only go up: the total at hand becomes the difference to what is shown.
void raise_to(prometheus::Counter& counter, std::uint64_t total) {
  counter.Increment(static_cast<double>(total) - counter.Value());
}

/// The features of an epoch never change, so their series are made at the first release and found by place after it.
void set_features(const Values& values, prometheus::Family<prometheus::Gauge>& family,
                  const publish::ReleaseHeader& header, PublicMetrics::Features& features) {
  if (features.empty()) {
    for (const auto& [feature, value] : values) {
      features.emplace_back(family, lane_labels(header.stream, header.lane, "feature", feature));
    }
  }
  NUSTREAM_REQUIRE(features.size() == values.size(), "the features of an epoch stay the same");
  for (std::size_t j = 0; j < values.size(); ++j) features[j]->Set(values[j].second);
}

/// Makes the series at its first value.
void set(std::optional<Series<prometheus::Gauge>>& series, prometheus::Family<prometheus::Gauge>& family,
         const publish::ReleaseHeader& header, double value) {
  if (!series) series.emplace(family, lane_labels(header.stream, header.lane));
  (*series)->Set(value);
}

void set_epsilons(const std::vector<publish::Epsilons>& epsilons, PublicMetrics::Conversions& gauges) {
  auto gauge = gauges.begin();
  for (const publish::Epsilons& at : epsilons) {
    for (const double epsilon : at.by) (*gauge++)->Set(epsilon);
  }
}

}  // namespace

PublicSurface::PublicSurface(std::string stream, Now now) : stream_(std::move(stream)), now_(std::move(now)) {}

void PublicSurface::open_lane(PublicLane lane) {
  const LaneId id = lane.header.lane;
  if (find(id, lane.header.epoch) != nullptr) return;
  lanes_.erase(id);
  PublicMetrics::Lane series(metrics_, lane.header);
  series.rho_limit->Set(lane.rho_limit.value());
  series.noise_multiplier->Set(lane.noise_multiplier.value());
  series.sensitivity->Set(lane.sensitivity.value());
  series.step_size->Set(lane.schedule.at(StepIndex{0}));
  const std::vector<publish::Epsilons> nothing = publish::epsilons_of(Rho{0}, lane.header.deltas());
  series.epoch->Set(lane.header.epoch.value());
  series.release_every->Set(static_cast<double>(lane.release_every.value()));
  if (lane.last_step) {
    set(series.budget_stop, metrics_.budget_stop, lane.header, static_cast<double>(lane.last_step->value()));
  }
  if (lane.budget) set(series.rho_budget, metrics_.rho_budget, lane.header, lane.budget->value());
  lanes_.emplace(
      id,
      OpenLane{
          .settings = std::move(lane), .series = std::move(series), .epsilons = nothing, .epsilons_ledger = nothing});
  changed();
}

void PublicSurface::close_lane(LaneId lane) {
  lanes_.erase(lane);
  if (lane == model_lane) {
    model_.clear();
    model_series_.reset();
  }
  changed();
}

void PublicSurface::update(const Committed& committed) {
  std::visit([this](const auto& value) { show(value); }, committed);
  changed();
}

PublicSurface::OpenLane* PublicSurface::find(LaneId lane, EpochId epoch) {
  const auto found = lanes_.find(lane);
  return found != lanes_.end() && found->second.settings.header.epoch == epoch ? &found->second : nullptr;
}

void PublicSurface::show(const CommittedSpend& spend) {
  OpenLane* const lane = find(spend.lane(), spend.epoch());
  if (lane == nullptr || spend.steps() < lane->steps) return;
  lane->steps = spend.steps();
  lane->rho = spend.rho();
  lane->total = spend.total();
  lane->epsilons = publish::epsilons_of(spend.rho(), lane->settings.header.deltas());
  lane->epsilons_ledger = publish::epsilons_of(spend.total(), lane->settings.header.deltas());
  raise_to(*lane->series.steps, spend.steps().value());
  lane->series.rho_spent->Set(spend.rho().value());
  lane->series.rho_ledger->Set(spend.total().value());
  set_epsilons(lane->epsilons, lane->series.epsilon);
  set_epsilons(lane->epsilons_ledger, lane->series.epsilon_ledger);
  lane->series.step_size->Set(lane->settings.schedule.at(StepIndex{spend.steps().value()}));
}

void PublicSurface::show(const CommittedRelease& release) {
  const publish::ShownRelease& last = release.last();
  OpenLane* const lane = last.stream == stream_ ? find(last.lane, last.epoch) : nullptr;
  if (lane == nullptr || (lane->release && last.step <= lane->release->step)) return;
  NUSTREAM_REQUIRE(last.step <= lane->steps.value(), "a release is shown after the commit of its state");
  NUSTREAM_REQUIRE(last.promise.is_private == lane->settings.header.promise.is_private,
                   "a lane's releases are of its own kind");
  lane->release = last;
  lane->series.releases->Increment(static_cast<double>(release.count()));
  set_features(last.estimate, metrics_.estimate, lane->settings.header, lane->series.estimate);
  if (!last.average.empty()) {
    set_features(last.average, metrics_.estimate_average, lane->settings.header, lane->series.estimate_average);
  }
  show_interval(last, *lane);
  const publish::ReleaseHeader& header = lane->settings.header;
  set(lane->series.last_release_steps, metrics_.last_release_steps, header, static_cast<double>(last.step));
  if (!release.at() && !now_) return;
  set(lane->series.last_release, metrics_.last_release, header, release.at() ? *release.at() : now_());
}

/// An interval that a later release no longer has is taken down: it would stand beside another estimate.
void PublicSurface::show_interval(const publish::ShownRelease& release, OpenLane& lane) {
  if (release.interval.empty()) {
    lane.series.interval_lower.clear();
    lane.series.interval_upper.clear();
    return;
  }
  Values lower;
  Values upper;
  for (std::size_t j = 0; j < release.interval.size(); ++j) {
    lower.emplace_back(release.estimate[j].first, release.interval[j].first);
    upper.emplace_back(release.estimate[j].first, release.interval[j].second);
  }
  set_features(lower, metrics_.interval_lower, lane.settings.header, lane.series.interval_lower);
  set_features(upper, metrics_.interval_upper, lane.settings.header, lane.series.interval_upper);
}

void PublicSurface::show(const CommittedModel& model) {
  if (!lanes_.contains(model_lane)) return;
  model_ = model.json();
  if (!model_series_) model_series_.emplace(metrics_, stream_);
  model_series_->lanes->Set(static_cast<double>(model.lanes()));
  if (now_) model_series_->last->Set(now_());
}

void PublicSurface::changed() {
  metrics_page_.reset();
  state_page_.reset();
}

const std::string& PublicSurface::metrics() const {
  if (!metrics_page_) metrics_page_ = exposition(metrics_.registry.Collect());
  return *metrics_page_;
}

void PublicSurface::append_lane(const OpenLane& lane, std::string& out) {
  const publish::ReleaseHeader& header = lane.settings.header;
  out += "{\"lane\":";
  append_number(std::uint64_t{header.lane.value()}, out);
  append_field("epoch", std::uint64_t{header.epoch.value()}, out);
  append_field("steps_committed", lane.steps.value(), out);
  append_field("rho", lane.rho.value(), out);
  append_field("rho_ledger", lane.total.value(), out);
  append_field("rho_limit", lane.settings.rho_limit.value(), out);
  append_field("epsilon", lane.epsilons.front().by.front(), out);
  append_field("epsilon_ledger", lane.epsilons_ledger.front().by.front(), out);
  publish::append_epsilons("epsilons", lane.epsilons, out);
  publish::append_epsilons("epsilons_ledger", lane.epsilons_ledger, out);
  append_field("delta", header.delta.value(), out);
  out += ",\"conversion\":\"" + std::string(privacy::name(privacy::Conversion::gaussian)) + "\",\"digest\":";
  append_string(header.settings_digest, out);
  publish::append_promise(header.promise, out);
  if (lane.release) {
    append_field("step", lane.release->step, out);
    append_field("position", lane.release->position, out);
    append_values("estimate", lane.release->estimate, out);
    append_values("average", lane.release->average, out);
    if (const auto intervals = publish::reported_intervals(*lane.release)) {
      publish::append_intervals("interval", *lane.release, *intervals, out);
    }
    publish::append_strength(*lane.release, out);
  } else {
    out += ",\"step\":null,\"position\":null,\"estimate\":null,\"average\":null";
  }
  out += '}';
}

const std::string& PublicSurface::state() const {
  if (state_page_) return *state_page_;
  std::string page = "{\"stream\":";
  append_string(stream_, page);
  page += ",\"lanes\":[";
  for (const auto& [id, lane] : lanes_) {
    if (page.back() != '[') page += ',';
    append_lane(lane, page);
  }
  page += "],\"model\":";
  page += model_.empty() ? "null" : model_;
  page += "}\n";
  return state_page_.emplace(std::move(page));
}

}  // namespace nustream::serve
