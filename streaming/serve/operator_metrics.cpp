// Names, help texts and labels of the operator's metrics (docs/metrics.md), and the process's own figures from /proc.
#include "serve/operator_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

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

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// Fields of /proc/self/stat from the third on (proc(5)). The second field may hold spaces, but ends at the last ')'.
struct Stat {
  double cpu_ticks;    // user and system
  double start_ticks;  // since boot
  double resident_pages;
};

/// What the kernel says of this process; nothing where the file cannot be read.
std::optional<Stat> read_stat() {
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::array<std::string, 22> values;  // fields 3 to 24
  for (std::string& value : values) {
    if (!(fields >> value)) return std::nullopt;
  }
  const auto field = [&values](std::size_t number) { return std::stod(values[number - 3]); };
  return Stat{field(14) + field(15), field(22), field(24)};
}

/// When the machine started, in seconds since 1970.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return std::nullopt;
}

/// How many descriptors the process has open; nothing where /proc cannot be read.
std::optional<double> open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator folder("/proc/self/fd", error);
  if (error) return std::nullopt;
  // Without the descriptor that reads the folder.
  return static_cast<double>(std::distance(begin(folder), end(folder))) - 1;
}

/// How many it may have open now: the soft limit.
std::optional<double> descriptors_max() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

/// When the process started. The boot time is kept from the first call on: the kernel's changes when the clock is
/// set, and a start time must not.
std::optional<double> start_time(const Stat& stat, double ticks) {
  static const std::optional<double> boot = boot_time();
  if (!boot) return std::nullopt;
  return *boot + stat.start_ticks / ticks;
}

}  // namespace

std::vector<MetricFamily> process_metrics() {
  std::vector<MetricFamily> families;
  const auto add = [&families](const char* name, MetricType type, const std::string& help,
                               std::optional<double> value) {
    // A metric without a value is left out; a 0 in its place would be a false answer.
    if (!value) return;
    ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
    families.push_back({name, help + " Operator only, not private.", type, {std::move(metric)}});
  };
  add("process_open_fds", MetricType::Gauge, "Open file descriptors (descriptors).", open_descriptors());
  add("process_max_fds", MetricType::Gauge, "File descriptors it may open (descriptors).", descriptors_max());
  const std::optional<Stat> stat = read_stat();
  if (!stat) return families;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  add("process_cpu_seconds_total", MetricType::Counter, "User and system time (seconds).", stat->cpu_ticks / ticks);
  add("process_resident_memory_bytes", MetricType::Gauge, "Memory in use (bytes).",
      stat->resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  add("process_start_time_seconds", MetricType::Gauge, "When it started, since 1970-01-01 UTC (seconds).",
      start_time(*stat, ticks));
  return families;
}

}  // namespace nustream::serve
