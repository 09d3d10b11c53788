#include "serve/operator_metrics.h"

namespace nustream::serve {
namespace {

/// The end of every help text here.
const std::string not_private = " Depends on data: operator only, not private.";

/// Bounds of the buckets in seconds: from a batch of a few records to the longest transaction timeout.
const prometheus::Histogram::BucketBoundaries durations{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                        0.5,   1,      2.5,   5,    10,    30,   60};

}  // namespace

OperatorMetrics::OperatorMetrics()
    : records(counters(registry, "nustream_records_total",
                       "Records that took their step in a committed batch (records)." + not_private)),
      records_rejected(counters(registry, "nustream_records_rejected_total",
                                "Records that took a zero-gradient step, by reason (records)." + not_private)),
      transactions(counters(registry, "nustream_transactions_total",
                            "Transactions that ended, by outcome (transactions)." + not_private)),
      dead_letters_failed(
          counters(registry, "nustream_dead_letters_failed_total",
                   "Dead letters that could not be written and were given up (records)." + not_private)),
      consumer_lag_records(
          gauges(registry, "nustream_consumer_lag_records",
                 "Offsets from the next record to the end of the partition (records)." + not_private)),
      gradients_clipped_ratio(
          gauges(registry, "nustream_gradients_clipped_ratio",
                 "Share of the last committed batch's gradients that were clipped (ratio)." + not_private)),
      noise_ahead_steps(gauges(registry, "nustream_noise_ahead_steps",
                               "Steps whose noise is generated and not used yet (steps)." + not_private)),
      lane_state(gauges(registry, "nustream_lane_state",
                        "1 for the state that the lane is in, 0 for the others (ratio)." + not_private)),
      ready(gauges(registry, "nustream_ready", "1 where /readyz answers 200, else 0 (ratio)." + not_private)),
      phase(gauges(registry, "nustream_phase",
                   "1 for the phase that the process is in, 0 for the others (ratio)." + not_private)),
      rebalances(counters(registry, "nustream_rebalances_total",
                          "Times that the group gave this instance partitions or took some (times)." + not_private)),
      model_waits(gauges(registry, "nustream_model_waiting_lanes",
                         "Lanes that the combined model waits for (lanes)." + not_private)),
      batch_seconds(histograms(registry, "nustream_batch_seconds",
                               "From the first record of a batch to its close (seconds)." + not_private)),
      commit_seconds(histograms(registry, "nustream_commit_seconds",
                                "From a batch's close to the end of its transaction (seconds)." + not_private)),
      release_latency_seconds(
          histograms(registry, "nustream_release_latency_seconds",
                     "From a batch's close to its releases being public (seconds)." + not_private)) {}

OperatorMetrics::Process::Process(OperatorMetrics& metrics, const std::string& stream)
    : ready(metrics.ready, {{"stream", stream}}),
      phase(metrics.phase, {{"stream", stream}}, "phase", phases),
      rebalances(metrics.rebalances, {{"stream", stream}}),
      model_waits(metrics.model_waits, {{"stream", stream}}) {}

OperatorMetrics::Lane::Lane(OperatorMetrics& metrics, const std::string& stream, LaneId lane)
    : records(metrics.records, lane_labels(stream, lane)),
      records_rejected(metrics.records_rejected, lane_labels(stream, lane), "reason", reject_reasons),
      transactions(metrics.transactions, lane_labels(stream, lane), "outcome", transaction_outcomes),
      dead_letters_failed(metrics.dead_letters_failed, lane_labels(stream, lane)),
      // A lane is a partition, and lag is usually joined on a label of that name.
      consumer_lag_records(metrics.consumer_lag_records,
                           lane_labels(stream, lane, "partition", std::to_string(lane.value()))),
      gradients_clipped_ratio(metrics.gradients_clipped_ratio, lane_labels(stream, lane)),
      noise_ahead_steps(metrics.noise_ahead_steps, lane_labels(stream, lane)),
      state(metrics.lane_state, lane_labels(stream, lane), "state", lane_statuses),
      batch_seconds(metrics.batch_seconds, lane_labels(stream, lane), durations),
      commit_seconds(metrics.commit_seconds, lane_labels(stream, lane), durations),
      release_latency_seconds(metrics.release_latency_seconds, lane_labels(stream, lane), durations) {}

}  // namespace nustream::serve
