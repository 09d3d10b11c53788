// Writes an entry of "lanes" in /api/v1/state and the points of its history, and computes what a record costs by its
// age. All of it is public: settings, committed spends and published releases.
#include "serve/shown_lane.h"

#include <algorithm>
#include <cmath>

#include "nustream/base/error.h"
#include "nustream/privacy/epsilon.h"
#include "publish/json_writer.h"
#include "publish/release_json.h"

namespace nustream::serve {

using publish::JsonWriter;

namespace {

/// The members that tell of the last release, as it was published.
void append_release(const publish::ShownRelease& release, JsonWriter& json) {
  json.field("step", release.step);
  json.field("position", release.position);
  json.fields_or_null("estimate", release.estimate);
  json.fields_or_null("average", release.average);
  // Intervals come with what they cover, since a reader cannot tell it from the numbers.
  if (const auto intervals = publish::reported_intervals(release)) {
    publish::append_intervals("interval", release, *intervals, json);
  }
  publish::append_strength(release, json);
  if (release.sums.records == 0) return;
  const auto moments = json.object("moments");
  json.field("records", release.sums.records);
  json.field("floored", release.sums.floored);
  publish::append_growth(release.sums.grown, json);
}

}  // namespace

void append_members(const ShownLane& lane, JsonWriter& json) {
  const publish::ReleaseHeader& header = lane.settings.header;
  json.field("lane", header.lane.value());
  json.field("epoch", header.epoch.value());
  json.field("steps_committed", lane.steps.value());
  json.field("rho", lane.rho.value());
  json.field("rho_ledger", lane.total.value());
  json.field("rho_limit", lane.settings.rho_limit.value());
  json.field("epsilon", lane.epsilons.front().by.front());
  json.field("epsilon_ledger", lane.epsilons_ledger.front().by.front());
  publish::append_epsilons("epsilons", lane.epsilons, json);
  publish::append_epsilons("epsilons_ledger", lane.epsilons_ledger, json);
  json.field("delta", header.delta.value());
  json.field("conversion", privacy::name(privacy::Conversion::gaussian));
  json.field("digest", header.settings_digest);
  // With it, releases can be checked (nustream verify).
  if (!header.public_key.empty()) json.field("public_key", header.public_key);
  publish::append_promise(header.promise, json);
  // Before the first release the members are there and null, so that readers find the same names at any time.
  if (lane.release) return append_release(*lane.release, json);
  json.field("step", nullptr);
  json.field("position", nullptr);
  json.field("estimate", nullptr);
  json.field("average", nullptr);
}

SpendByAge spend_by_age(privacy::Spend spend, StepCount most) {
  // Enough for a curve that looks smooth, and few enough to be computed at a commit.
  constexpr int ages = 96;
  SpendByAge found;
  try {
    const std::uint64_t last = std::min(most.value(), spend.horizon().value_or(most).value());
    // Ages in equal ratios. The first ones round to the same numbers, each of which is kept once.
    for (int i = 0; i <= ages && last > 0; ++i) {
      // For example up to 100: 1, 2, 3 … 91, 95, 100.
      const double share = static_cast<double>(i) / ages;
      const auto age = static_cast<std::uint64_t>(std::round(std::pow(static_cast<double>(last), share)));
      if (found.empty() || found.back().first < age) found.emplace_back(age, spend.of_age(StepCount{age}).value());
    }
  } catch (const Unsupported&) {
    // Where records take part several times, what a record has cost depends on when it took part.
    return {};
  }
  return found;
}

void append_points(const ShownLane& lane, std::uint64_t step, JsonWriter& json) {
  const auto points = json.array("points");
  for (const auto& [span, point] : lane.history.points()) {
    if (point.step > step) append_point(point, json);
  }
}

}  // namespace nustream::serve
