// The process as the kernel sees it, by Prometheus' usual process_* metrics.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace nustream::serve {

/// CPU seconds, resident memory, open and allowed file descriptors, and start time, read from /proc at each call.
/// What cannot be read is left out.
[[nodiscard]] std::vector<prometheus::MetricFamily> process_metrics();

}  // namespace nustream::serve
