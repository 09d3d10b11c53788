#include "serve/shown_lane.h"

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"
#include "nustream/privacy/epsilon.h"
#include "publish/json_text.h"
#include "publish/reported.h"

namespace nustream::serve {

using publish::append_field;
using publish::append_number;
using publish::append_string;
using publish::append_values;

void append_lane(const ShownLane& lane, std::string& out) {
  const publish::ReleaseHeader& header = lane.settings.header;
  out += "{\"lane\":";
  append_number(std::uint64_t{header.lane.value()}, out);
  append_field("epoch", std::uint64_t{header.epoch.value()}, out);
  append_field("steps_committed", lane.steps.value(), out);
  append_field("rho", lane.rho.value(), out);
  append_field("rho_ledger", lane.total.value(), out);
  append_field("rho_limit", lane.settings.rho_limit.value(), out);
  append_field("epsilon", lane.epsilons.front().by.front(), out);
  append_field("epsilon_ledger", lane.epsilons_ledger.front().by.front(), out);
  publish::append_epsilons("epsilons", lane.epsilons, out);
  publish::append_epsilons("epsilons_ledger", lane.epsilons_ledger, out);
  append_field("delta", header.delta.value(), out);
  out += ",\"conversion\":\"" + std::string(privacy::name(privacy::Conversion::gaussian)) + "\",\"digest\":";
  append_string(header.settings_digest, out);
  if (!header.public_key.empty()) append_field("public_key", header.public_key, out);
  publish::append_promise(header.promise, out);
  if (lane.release) {
    append_field("step", lane.release->step, out);
    append_field("position", lane.release->position, out);
    append_values("estimate", lane.release->estimate, out);
    append_values("average", lane.release->average, out);
    if (const auto intervals = publish::reported_intervals(*lane.release)) {
      publish::append_intervals("interval", *lane.release, *intervals, out);
    }
    publish::append_strength(*lane.release, out);
    if (lane.release->sums.records > 0) {
      out += ",\"moments\":{\"records\":";
      append_number(lane.release->sums.records, out);
      append_field("floored", lane.release->sums.floored, out);
      out += '}';
    }
  } else {
    out += ",\"step\":null,\"position\":null,\"estimate\":null,\"average\":null";
  }
  out += '}';
}

SpendByAge spend_by_age(privacy::Spend spend, StepCount most) {
  constexpr int ages = 96;
  SpendByAge found;
  try {
    const std::uint64_t last = std::min(most.value(), spend.horizon().value_or(most).value());
    for (int i = 0; i <= ages && last > 0; ++i) {
      const double share = static_cast<double>(i) / ages;
      const auto age = static_cast<std::uint64_t>(std::round(std::pow(static_cast<double>(last), share)));
      if (found.empty() || found.back().first < age) found.emplace_back(age, spend.of_age(StepCount{age}).value());
    }
  } catch (const Unsupported&) {
    return {};
  }
  return found;
}

void append_points(const ShownLane& lane, std::uint64_t step, std::string& out) {
  out += '[';
  for (const auto& [span, point] : lane.history.points()) {
    if (point.step <= step) continue;
    if (out.back() != '[') out += ',';
    append_point(point, out);
  }
  out += ']';
}

}  // namespace nustream::serve
