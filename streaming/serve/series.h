// A time series with an owner: it appears with its owner and goes with it.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <string>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/base/units.h"

namespace nustream::serve {

/// One metric of a family, under its own labels. Move-only. Its owner updates it through a pointer, without a look-up
/// by name or label. To be used by one thread at a time.
template <class Metric>
class Series {
 public:
  /// `arguments` are the metric's own, such as a histogram's buckets. Contract: the labels are free. A second owner
  /// of one series would be left with a dangling pointer when the first one goes.
  template <class... Arguments>
  explicit Series(prometheus::Family<Metric>& family, const prometheus::Labels& labels, Arguments&&... arguments)
      : family_(&family) {
    NUSTREAM_REQUIRE(!family.Has(labels), "a metric's series has one owner");
    metric_ = &family.Add(labels, std::forward<Arguments>(arguments)...);
  }
  ~Series() {
    if (metric_ != nullptr) family_->Remove(metric_);
  }
  Series(Series&& other) noexcept : family_(other.family_), metric_(std::exchange(other.metric_, nullptr)) {}
  Series& operator=(Series&& other) noexcept {
    std::swap(family_, other.family_);
    std::swap(metric_, other.metric_);
    return *this;
  }
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  Metric* operator->() const noexcept { return metric_; }
  Metric& operator*() const noexcept { return *metric_; }

 private:
  prometheus::Family<Metric>* family_;
  Metric* metric_ = nullptr;
};

/// Makes families of a registry, which owns them. `help` is one line and ends with the unit.
[[nodiscard]] inline prometheus::Family<prometheus::Counter>& counters(prometheus::Registry& registry,
                                                                       const char* name, const std::string& help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
[[nodiscard]] inline prometheus::Family<prometheus::Gauge>& gauges(prometheus::Registry& registry, const char* name,
                                                                   const std::string& help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
[[nodiscard]] inline prometheus::Family<prometheus::Histogram>& histograms(prometheus::Registry& registry,
                                                                           const char* name,
                                                                           const std::string& help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

/// The labels {stream, lane} of every series that goes with a lane.
[[nodiscard]] inline prometheus::Labels lane_labels(const std::string& stream, LaneId lane) {
  return {{"stream", stream}, {"lane", std::to_string(lane.value())}};
}
/// The same labels and one more.
[[nodiscard]] inline prometheus::Labels lane_labels(const std::string& stream, LaneId lane, const std::string& label,
                                                    const std::string& value) {
  prometheus::Labels labels = lane_labels(stream, lane);
  labels.emplace(label, value);
  return labels;
}

}  // namespace nustream::serve
