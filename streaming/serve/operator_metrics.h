// The operator's metrics, by name. They depend on data and are not private: each help text says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "serve/lane_status.h"
#include "serve/series.h"

namespace nustream::serve {

/// Why a record took a zero-gradient step: a short list, so that bad input cannot make new series.
enum class RejectReason : std::uint8_t {
  malformed,       ///< not a record of the format
  unusable_field,  ///< a field is missing, or no usable number comes of it
  too_long,        ///< longer than record_bytes_max
  tombstone,       ///< a message without a value
  other_lane,      ///< of a user who counts in another lane
};
enum class TransactionOutcome : std::uint8_t {
  committed,
  aborted,    ///< and computed again
  fenced,     ///< ended by another producer of the lane, or by the broker
  timed_out,  ///< its end unknown until the producer was made anew
};

inline constexpr std::array reject_reasons{RejectReason::malformed, RejectReason::unusable_field,
                                           RejectReason::too_long, RejectReason::tombstone, RejectReason::other_lane};
inline constexpr std::array transaction_outcomes{TransactionOutcome::committed, TransactionOutcome::aborted,
                                                 TransactionOutcome::fenced, TransactionOutcome::timed_out};

/// Values of the labels {reason} and {outcome}.
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
  Family<Gauge>& ready;
  Family<Gauge>& phase;
  Family<Counter>& rebalances;
  Family<Gauge>& model_waits;
  Family<Histogram>& batch_seconds;
  Family<Histogram>& commit_seconds;
  Family<Histogram>& release_latency_seconds;

  /// One series an enumerator, so that every one is there from the start, at zero.
  template <class Metric, class Enumerator>
  class ByEnumerator {
   public:
    /// `labels`: what all of them have.
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

  /// The series {stream} of the process, which are there as long as it is.
  struct Process {
    Process(OperatorMetrics& metrics, const std::string& stream);

    Series<Gauge> ready;               ///< 1 or 0
    ByEnumerator<Gauge, Phase> phase;  ///< OperatorSurface::set_phase() alone
    Series<Counter> rebalances;        ///< assignments and revocations
    Series<Gauge> model_waits;         ///< lanes that hold the combined model up
  };

  /// The series {stream, lane} of one lane: a plain member each, to be changed where the thing happens, on the loop's
  /// thread. Durations in seconds.
  struct Lane {
    Lane(OperatorMetrics& metrics, const std::string& stream, LaneId lane);

    Series<Counter> records;  ///< that took a step in a committed batch
    ByEnumerator<Counter, RejectReason> records_rejected;
    ByEnumerator<Counter, TransactionOutcome> transactions;
    Series<Counter> dead_letters_failed;
    Series<Gauge> consumer_lag_records;     ///< high watermark minus position
    Series<Gauge> gradients_clipped_ratio;  ///< of the last committed batch: clipped over usable records
    Series<Gauge> noise_ahead_steps;
    ByEnumerator<Gauge, LaneStatus> state;      ///< OperatorSurface::set_state() alone
    Series<Histogram> batch_seconds;            ///< first record of a batch to its close
    Series<Histogram> commit_seconds;           ///< of the transaction's end, retries included
    Series<Histogram> release_latency_seconds;  ///< a batch's close to its releases being public
  };
};

}  // namespace nustream::serve
