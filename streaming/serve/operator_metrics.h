// The operator's metrics, by name. They depend on data and are not private: each help text says so.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nustream/base/units.h"
#include "serve/lane_state.h"
#include "serve/series.h"

namespace nustream::serve {

/// Why a record took a zero-gradient step: a short list, so that bad input cannot make new series.
enum class RejectReason : std::uint8_t {
  malformed,       ///< not a record of the format
  unusable_field,  ///< a field is missing, or no usable number comes of it
  too_long,        ///< longer than record_bytes_max
  tombstone,       ///< a message without a value
};
enum class TransactionOutcome : std::uint8_t {
  committed,
  aborted,    ///< and computed again
  fenced,     ///< ended by another producer of the lane, or by the broker
  timed_out,  ///< its end unknown until the producer was made anew
};

/// The label value of the enumerator; also the order of the arrays below.
[[nodiscard]] std::string_view name(RejectReason reason) noexcept;
[[nodiscard]] std::string_view name(TransactionOutcome outcome) noexcept;

/// A registry of its own, apart from the public one by type. docs/metrics.md says what each metric means.
struct OperatorMetrics {
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  template <class Metric>
  using Family = prometheus::Family<Metric>;

  OperatorMetrics();

  prometheus::Registry registry;  // before the families, which it owns
  Family<Counter>& records;
  Family<Counter>& records_rejected;
  Family<Counter>& transactions;
  Family<Counter>& dead_letters_failed;
  Family<Gauge>& consumer_lag_records;
  Family<Gauge>& gradients_clipped_ratio;
  Family<Gauge>& noise_ahead_steps;
  Family<Gauge>& lane_state;
  Family<Histogram>& batch_seconds;
  Family<Histogram>& commit_seconds;
  Family<Histogram>& release_latency_seconds;

  /// One series an enumerator, so that every one is there from the start, at zero.
  template <class Metric, class Enumerator, std::size_t count>
  struct ByEnumerator {
    std::array<Series<Metric>, count> series;
    [[nodiscard]] Metric& operator[](Enumerator which) const { return *series[static_cast<std::size_t>(which)]; }
  };

  /// The series {stream, lane} of one lane: a plain member each, to be changed where the thing happens, on the loop's
  /// thread. Durations in seconds.
  struct Lane {
    Lane(OperatorMetrics& metrics, const std::string& stream, LaneId lane);

    Series<Counter> records;  ///< that took a step in a committed batch
    ByEnumerator<Counter, RejectReason, 4> records_rejected;
    ByEnumerator<Counter, TransactionOutcome, 4> transactions;
    Series<Counter> dead_letters_failed;
    Series<Gauge> consumer_lag_records;     ///< high watermark minus position
    Series<Gauge> gradients_clipped_ratio;  ///< of the last committed batch: clipped over usable records
    Series<Gauge> noise_ahead_steps;
    ByEnumerator<Gauge, LaneState, lane_states.size()> state;  ///< OperatorSurface::set_state() alone
    Series<Histogram> batch_seconds;                           ///< first record of a batch to its close
    Series<Histogram> commit_seconds;                          ///< of the transaction's end, retries included
    Series<Histogram> release_latency_seconds;                 ///< a batch's close to its releases being public
  };
};

}  // namespace nustream::serve
