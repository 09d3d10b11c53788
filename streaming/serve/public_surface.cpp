// The public surface: registry, state page and histories, changed by committed values alone. Every way in is here, so
// that what the public can see is decided in this file. Pages are rendered when they are asked for, and kept until a
// change.
#include "serve/public_surface.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/privacy/epsilon.h"
#include "publish/json_writer.h"
#include "serve/exposition.h"

namespace nustream::serve {
namespace {

using publish::JsonWriter;
using Values = publish::NamedValues;

/// The process that has this lane publishes the combined model; another one would show an old model.
constexpr LaneId model_lane{0};

/// Raises a counter to `total`. Counters can only go up, so it is raised by the difference.
void raise_to(prometheus::Counter& counter, std::uint64_t total) {
  counter.Increment(static_cast<double>(total) - counter.Value());
}

/// Shows one value for each feature. The features of an epoch never change, so their series are made at the first
/// release that has values, and found by place after that. Where a release has none, as where noise hides a direction
/// of the instruments, the earlier ones are removed: they are not those of its step.
void set_features(const Values& values, prometheus::Family<prometheus::Gauge>& family,
                  const publish::ReleaseHeader& header, PublicMetrics::Features& features) {
  if (values.empty()) return features.clear();
  if (features.empty()) {
    for (const auto& [feature, value] : values) {
      features.emplace_back(family, lane_labels(header.stream, header.lane, "feature", feature));
    }
  }
  NUSTREAM_REQUIRE(features.size() == values.size(), "the features of an epoch stay the same");
  for (std::size_t j = 0; j < values.size(); ++j) features[j]->Set(values[j].second);
}

/// Sets the series, which is made at its first value.
void set(std::optional<Series<prometheus::Gauge>>& series, prometheus::Family<prometheus::Gauge>& family,
         const publish::ReleaseHeader& header, double value) {
  if (!series) series.emplace(family, lane_labels(header.stream, header.lane));
  (*series)->Set(value);
}

/// Sets one gauge for each δ and conversion; both are in the order of the header's δ.
void set_epsilons(const std::vector<publish::Epsilons>& epsilons, PublicMetrics::Conversions& gauges) {
  auto gauge = gauges.begin();
  for (const publish::Epsilons& at : epsilons) {
    for (const double epsilon : at.by) (*gauge++)->Set(epsilon);
  }
}

/// Computes the spend by age anew whenever the lane has outgrown what is shown. The range doubles each time, so that
/// a stream of any length does it some twenty times.
void show_ages(ShownLane& lane) {
  constexpr std::uint64_t most = 1U << 18U;
  const std::uint64_t known = lane.spend_by_age.empty() ? 0 : lane.spend_by_age.back().first;
  if (!lane.settings.spend_by_age || lane.steps.value() <= known || known >= most) return;
  lane.spend_by_age = lane.settings.spend_by_age(StepCount{std::min(std::bit_ceil(lane.steps.value()), most)});
  if (lane.spend_by_age.empty()) lane.settings.spend_by_age = nullptr;  // it will never be known
}

}  // namespace

PublicSurface::PublicSurface(std::string stream, Now now) : stream_(std::move(stream)), now_(std::move(now)) {}

void PublicSurface::open_lane(PublicLane lane) {
  const LaneId id = lane.header.lane;
  // The lane is restored again in the same epoch, perhaps because of what its records hold. Nothing shows that.
  if (find(id, lane.header.epoch) != nullptr) return;
  former_.clear();
  // The earlier epoch's series go before the new ones are made: both have the same labels, and a series has one
  // owner.
  lanes_.erase(id);
  PublicMetrics::Lane series(metrics_, lane.header);
  series.rho_limit->Set(lane.rho_limit.value());
  series.noise_multiplier->Set(lane.noise_multiplier.value());
  series.sensitivity->Set(lane.sensitivity.value());
  if (lane.schedule) {
    set(series.step_size, metrics_.step_size, lane.header, lane.schedule->at(StepIndex{0}));
  }
  // Before its first step a lane has spent nothing, and the page says so in numbers.
  const std::vector<publish::Epsilons> nothing = publish::epsilons_of(Rho{0}, lane.header.deltas());
  series.epoch->Set(lane.header.epoch.value());
  series.release_every->Set(static_cast<double>(lane.release_every.value()));
  if (lane.last_step) {
    set(series.budget_stop, metrics_.budget_stop, lane.header, static_cast<double>(lane.last_step->value()));
  }
  if (lane.budget) set(series.rho_budget, metrics_.rho_budget, lane.header, lane.budget->value());
  const StepCount cadence = lane.release_every;
  lanes_.emplace(
      id,
      OpenLane{
          {.settings = std::move(lane), .history = History(cadence), .epsilons = nothing, .epsilons_ledger = nothing},
          std::move(series)});
  changed();
}

void PublicSurface::close_lane(LaneId lane) {
  const auto closed = lanes_.find(lane);
  if (closed != lanes_.end()) {
    // Kept for the status page alone, while no lane is open. Metrics and the state have open lanes only.
    former_.insert_or_assign(lane, std::move(closed->second.shown));
    lanes_.erase(closed);
  }
  if (lane == model_lane) {
    model_.clear();
    mean_.reset();
    model_history_.reset();
    model_series_.reset();
  }
  changed();
}

// The one way in for everything that depends on records, after noise.
void PublicSurface::update(const CommittedFact& committed) {
  std::visit([this](const auto& value) { show(value); }, committed);
  changed();
}

// Of this very epoch: a fact that comes late from an earlier epoch finds no lane, and changes nothing.
PublicSurface::OpenLane* PublicSurface::find(LaneId lane, EpochId epoch) {
  const auto found = lanes_.find(lane);
  return found != lanes_.end() && found->second.shown.settings.header.epoch == epoch ? &found->second : nullptr;
}

void PublicSurface::show(const CommittedSpend& spend) {
  OpenLane* const lane = find(spend.lane(), spend.epoch());
  // Commits may be told of late. An older one must not take back what is shown, since counters never fall.
  if (lane == nullptr || spend.steps() < lane->shown.steps) return;
  lane->shown.steps = spend.steps();
  lane->shown.rho = spend.rho();
  lane->shown.total = spend.total();
  lane->shown.epsilons = publish::epsilons_of(spend.rho(), lane->shown.settings.header.deltas());
  lane->shown.epsilons_ledger = publish::epsilons_of(spend.total(), lane->shown.settings.header.deltas());
  show_ages(lane->shown);
  raise_to(*lane->series.steps, spend.steps().value());
  lane->series.rho_spent->Set(spend.rho().value());
  lane->series.rho_ledger->Set(spend.total().value());
  set_epsilons(lane->shown.epsilons, lane->series.epsilon);
  set_epsilons(lane->shown.epsilons_ledger, lane->series.epsilon_ledger);
  const PublicLane& settings = lane->shown.settings;
  if (!settings.schedule) return;
  set(lane->series.step_size, metrics_.step_size, settings.header,
      settings.schedule->at(StepIndex{spend.steps().value()}));
}

void PublicSurface::show(const CommittedRelease& release) {
  const publish::ShownRelease& last = release.last();
  OpenLane* const lane = last.stream == stream_ ? find(last.lane, last.epoch) : nullptr;
  // A release with the same or an earlier step than the last one shown came a second time.
  if (lane == nullptr || (lane->shown.release && last.step <= lane->shown.release->step)) return;
  // Otherwise a release would be public before its state is durable, or releases that promise nothing would stand
  // among private ones. Going on would be worse than ending the process.
  NUSTREAM_REQUIRE(last.step <= lane->shown.steps.value(), "a release is shown after the commit of its state");
  NUSTREAM_REQUIRE(last.promise.is_private == lane->shown.settings.header.promise.is_private,
                   "a lane's releases are of its own kind");
  lane->shown.release = last;
  lane->shown.history.add(release.lines());
  lane->series.releases->Increment(static_cast<double>(release.count()));
  set_features(last.estimate, metrics_.estimate, lane->shown.settings.header, lane->series.estimate);
  if (!last.average.empty()) {
    set_features(last.average, metrics_.estimate_average, lane->shown.settings.header, lane->series.estimate_average);
  }
  show_interval(last, *lane);
  const publish::ReleaseHeader& header = lane->shown.settings.header;
  set(lane->series.last_release_steps, metrics_.last_release_steps, header, static_cast<double>(last.step));
  if (last.sums.records > 0) {
    set(lane->series.floored, metrics_.floored, header, static_cast<double>(last.sums.floored));
  }
  // Without a clock the release is not dated, so that two runs over the same input show the same bytes.
  if (!release.at() && !now_) return;
  set(lane->series.last_release, metrics_.last_release, header, release.at() ? *release.at() : now_());
}

/// Shows the interval of a release. Where a release has none, the earlier one is removed, since it would stand beside
/// another estimate.
void PublicSurface::show_interval(const publish::ShownRelease& release, OpenLane& lane) {
  if (release.interval.bounds.empty()) {
    lane.series.interval_lower.clear();
    lane.series.interval_upper.clear();
    return;
  }
  Values lower;
  Values upper;
  for (std::size_t j = 0; j < release.interval.bounds.size(); ++j) {
    lower.emplace_back(release.estimate[j].first, release.interval.bounds[j].first);
    upper.emplace_back(release.estimate[j].first, release.interval.bounds[j].second);
  }
  set_features(lower, metrics_.interval_lower, lane.shown.settings.header, lane.series.interval_lower);
  set_features(upper, metrics_.interval_upper, lane.shown.settings.header, lane.series.interval_upper);
}

void PublicSurface::show(const CommittedModel& model) {
  const auto lane = lanes_.find(model_lane);
  // This process no longer has the lane whose owner publishes the model. What it would show grows old.
  if (lane == lanes_.end()) return;
  model_ = model.json();
  mean_ = model.mean();
  // After a new epoch of a lane, the parts have fewer steps together than the history, which then begins anew.
  const bool goes_on = model_history_ && (model_history_->points().empty() ||
                                          model_history_->points().rbegin()->second.step <= mean_->step);
  if (!goes_on) model_history_.emplace(lane->second.shown.settings.release_every);
  if (!mean_->estimate.empty()) model_history_->add(*mean_);
  if (!model_series_) model_series_.emplace(metrics_, stream_);
  model_series_->lanes->Set(static_cast<double>(model.lanes()));
  if (now_) model_series_->last->Set(now_());
}

// The past fills the history alone: the lane's last release stays the one that is shown.
void PublicSurface::show(const CommittedPast& past) {
  if (OpenLane* const lane = find(past.lane(), past.epoch())) lane->shown.history.add(past.lines());
}

void PublicSurface::changed() {
  metrics_page_.reset();
  state_page_.reset();
}

const std::string& PublicSurface::metrics() const {
  if (!metrics_page_) metrics_page_ = exposition(metrics_.registry.Collect());
  return *metrics_page_;
}

void PublicSurface::append_state(JsonWriter& json) const {
  json.field("stream", stream_);
  {
    const auto lanes = json.array("lanes");
    for (const auto& [id, lane] : lanes_) {
      const auto object = json.object();
      append_members(lane.shown, json);
    }
  }
  // As it was published, and in one line (CommittedModel::published()).
  json.raw("model", model_.empty() ? "null" : model_);
}

const std::string& PublicSurface::state() const {
  if (state_page_) return *state_page_;
  std::string page = publish::object_text([this](JsonWriter& json) { append_state(json); });
  page += '\n';
  return state_page_.emplace(std::move(page));
}

}  // namespace nustream::serve
