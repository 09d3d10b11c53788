// One page of metrics. It is sorted here, so that two scrapes of equal values are equal, byte for byte.
#include "serve/exposition.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <sstream>

namespace nustream::serve {

std::string exposition(std::vector<prometheus::MetricFamily> families) {
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (prometheus::MetricFamily& family : families) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
  }
  std::ostringstream page;
  prometheus::TextSerializer().Serialize(page, families);
  return std::move(page).str();
}

}  // namespace nustream::serve
