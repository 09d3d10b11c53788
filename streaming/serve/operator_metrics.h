// The operator's metrics, by name. They depend on data and are not private, and each help text says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/metric_family.h>

#include "nustream/base/units.h"
#include "serve/lane_status.h"
#include "serve/series.h"

namespace nustream::serve {

/// Why a record took a zero-gradient step. The list is short and fixed, so that bad input cannot make new series.
enum class RejectReason : std::uint8_t {
  malformed,       ///< is not a record of the format
  unusable_field,  ///< lacks a field, or has one that gives no usable number
  too_long,        ///< is longer than record_bytes_max
  tombstone,       ///< is a message without a value
  other_lane,      ///< is of a user who counts in another lane
};
enum class TransactionOutcome : std::uint8_t {
  committed,
  aborted,    ///< ended without effect; its batch was computed again
  fenced,     ///< ended by another producer of the lane, or by the broker
  timed_out,  ///< its end was unknown until the producer was made anew
};

inline constexpr std::array reject_reasons{RejectReason::malformed, RejectReason::unusable_field,
                                           RejectReason::too_long, RejectReason::tombstone, RejectReason::other_lane};
inline constexpr std::array transaction_outcomes{TransactionOutcome::committed, TransactionOutcome::aborted,
                                                 TransactionOutcome::fenced, TransactionOutcome::timed_out};

/// The values of the labels {reason} and {outcome}.
[[nodiscard]] constexpr std::string_view name(RejectReason reason) noexcept {
  constexpr std::array<std::string_view, reject_reasons.size()> names{"malformed", "unusable_field", "too_long",
                                                                      "tombstone", "other_lane"};
  return names[static_cast<std::size_t>(reason)];
}
[[nodiscard]] constexpr std::string_view name(TransactionOutcome outcome) noexcept {
  constexpr std::array<std::string_view, transaction_outcomes.size()> names{"committed", "aborted", "fenced",
                                                                            "timed_out"};
  return names[static_cast<std::size_t>(outcome)];
}

/// The operator's registry. It is another type than the public one, so that the two cannot be mixed up.
/// docs/metrics.md says what each metric means.
struct OperatorMetrics {
  using Counter = prometheus::Counter;
  using Gauge = prometheus::Gauge;
  using Histogram = prometheus::Histogram;
  template <class Metric>
  using Family = prometheus::Family<Metric>;

  OperatorMetrics();

  prometheus::Registry registry;  // stands before the families, which it owns
  Family<Counter>& records;
  Family<Counter>& records_rejected;
  Family<Counter>& transactions;
  Family<Counter>& dead_letters_failed;
  Family<Gauge>& consumer_lag_records;
  Family<Gauge>& gradients_clipped_ratio;
  Family<Gauge>& noise_ahead_steps;
  Family<Gauge>& lane_state;
  Family<Gauge>& ready;
  Family<Gauge>& phase;
  Family<Counter>& rebalances;
  Family<Gauge>& model_waits;
  Family<Histogram>& batch_seconds;
  Family<Histogram>& commit_seconds;
  Family<Histogram>& release_latency_seconds;

  /// One series for each enumerator. All of them are there from the start, at zero.
  template <class Metric, class Enumerator>
  class ByEnumerator {
   public:
    /// `labels` are those that all series have.
    ByEnumerator(Family<Metric>& family, const prometheus::Labels& labels, const std::string& label,
                 std::span<const Enumerator> enumerators) {
      for (const Enumerator which : enumerators) {
        prometheus::Labels all = labels;
        all.emplace(label, name(which));
        series_.emplace_back(family, all);
      }
    }
    [[nodiscard]] Metric& operator[](Enumerator which) const { return *series_[static_cast<std::size_t>(which)]; }

   private:
    std::vector<Series<Metric>> series_;  // in the order of the enumerators' values
  };

  /// The series {stream} of the process; they last as long as it does.
  struct Process {
    Process(OperatorMetrics& metrics, const std::string& stream);

    Series<Gauge> ready;               ///< 1 or 0
    ByEnumerator<Gauge, Phase> phase;  ///< changed by OperatorSurface::set_phase() alone
    Series<Counter> rebalances;        ///< assignments and revocations
    Series<Gauge> model_waits;         ///< how many lanes hold the combined model up
  };

  /// The series {stream, lane} of one lane. Each is a plain member, to be changed on the loop's thread where the
  /// thing happens. Durations are in seconds.
  struct Lane {
    Lane(OperatorMetrics& metrics, const std::string& stream, LaneId lane);

    Series<Counter> records;  ///< records that took a step in a committed batch
    ByEnumerator<Counter, RejectReason> records_rejected;
    ByEnumerator<Counter, TransactionOutcome> transactions;
    Series<Counter> dead_letters_failed;
    Series<Gauge> consumer_lag_records;     ///< high watermark minus position
    Series<Gauge> gradients_clipped_ratio;  ///< clipped over usable records, in the last committed batch
    Series<Gauge> noise_ahead_steps;
    ByEnumerator<Gauge, LaneStatus> state;      ///< changed by OperatorSurface::set_state() alone
    Series<Histogram> batch_seconds;            ///< from the first record of a batch to its close
    Series<Histogram> commit_seconds;           ///< of the end of a transaction, retries included
    Series<Histogram> release_latency_seconds;  ///< from a batch's close to the time when its releases are public
  };
};

/// CPU seconds, resident memory, open and allowed file descriptors, and start time, read from /proc at each call.
/// What cannot be read is left out.
[[nodiscard]] std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace nustream::serve
