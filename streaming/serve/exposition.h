// Writes collected metrics as a page in Prometheus' text format.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace nustream::serve {

/// The Content-Type of such a page.
inline constexpr const char* exposition_type = "text/plain; version=0.0.4; charset=utf-8";

/// The page, with families ordered by name and series by labels. The registry's own order follows its hash tables,
/// and so the order in which lanes came and went. Numbers have 16 significant digits.
[[nodiscard]] std::string exposition(std::vector<prometheus::MetricFamily> families);

}  // namespace nustream::serve
