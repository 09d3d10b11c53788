// Collected metrics as a page in Prometheus' text format.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace nustream::serve {

/// Content-Type of such a page.
inline constexpr const char* exposition_type = "text/plain; version=0.0.4; charset=utf-8";

/// Families by name, series by labels: the registry's own order follows its hash tables, and with them the order in
/// which lanes came and went. Numbers have 16 significant digits.
[[nodiscard]] std::string exposition(std::vector<prometheus::MetricFamily> families);

}  // namespace nustream::serve
