// The operator's surface as a page.
#include <chrono>

#include "serve/operator_surface.h"

namespace nustream::serve {
namespace {

/// How far back the rate looks: long enough to be steady, and short enough to show that records have stopped.
constexpr std::chrono::seconds rate_reach{30};

/// The mean of all samples so far, in seconds; nothing before the first.
std::optional<double> mean_of(const prometheus::Histogram& histogram) {
  const prometheus::ClientMetric::Histogram collected = histogram.Collect().histogram;
  if (collected.sample_count == 0) return std::nullopt;
  return collected.sample_sum / static_cast<double>(collected.sample_count);
}

}  // namespace

/// The rate since the earliest look at the page within the last half minute; empty where there was none at least a
/// second ago.
std::optional<double> OperatorSurface::records_per_second() const {
  const auto now = std::chrono::steady_clock::now();
  double records = 0;
  for (const auto& [id, lane] : lanes_) records += lane.series.records->Value();
  // A sum that fell belongs to lanes that have left since, and their counters with them.
  while (!taken_.empty() && (now - taken_.front().at > rate_reach || taken_.front().records > records)) {
    taken_.pop_front();
  }
  // Looks are kept at most once a second, however often the page is asked for.
  if (taken_.empty() || now - taken_.back().at >= std::chrono::seconds(1)) taken_.push_back({now, records});
  const double passed = std::chrono::duration<double>(now - taken_.front().at).count();
  if (passed < 1) return std::nullopt;
  return (records - taken_.front().records) / passed;
}

OperatorView OperatorSurface::view() const {
  OperatorView view{
      .phase = std::string(name(phase_)), .readiness = readiness(), .records_per_second = records_per_second()};
  for (const auto& [id, lane] : lanes_) {
    double rejected = 0;
    // The page shows how many; /metrics says why.
    for (const RejectReason reason : reject_reasons) rejected += lane.series.records_rejected[reason].Value();
    view.lanes.push_back({.lane = id,
                          .state = lane.state,
                          .reason = lane.reason,
                          .records = lane.series.records->Value(),
                          .rejected = rejected,
                          .lag = lane.series.consumer_lag_records->Value(),
                          .clipped_ratio = lane.series.gradients_clipped_ratio->Value(),
                          .commit_seconds = mean_of(*lane.series.commit_seconds),
                          .release_latency_seconds = mean_of(*lane.series.release_latency_seconds)});
  }
  return view;
}

std::optional<std::string> OperatorSurface::page(const PagePlace& place) const {
  const OperatorView figures = view();
  return shown_.page(place, &figures);
}

}  // namespace nustream::serve
