// The intervals and strengths of a release that was read back, written again for reports, pages and the API. The text
// is the release's own, so that a reader of any of them sees the same fields.
#include "publish/release_json.h"

namespace nustream::publish {
std::optional<ReportedIntervals> reported_intervals(const publish::ShownRelease& release) {
  return release.interval.bounds.empty() ? std::nullopt : std::optional(release.interval);
}

namespace {

/// Writes one side of all intervals by name: `bound` is the first or second of the pair.
void append_bounds(MemberName key, std::span<const std::string> names, const ReportedIntervals& intervals,
                   double std::pair<double, double>::*bound, JsonWriter& json) {
  const auto object = json.object(key);
  for (std::size_t j = 0; j < intervals.bounds.size(); ++j) json.field(names[j], intervals.bounds[j].*bound);
}

}  // namespace

void append_intervals(MemberName key, std::span<const std::string> names, const ReportedIntervals& intervals,
                      JsonWriter& json) {
  const auto object = json.object(key);
  json.field("kind", intervals.kind);
  json.field("level", intervals.level);
  json.field("covers", intervals.covers);
  json.field("effective_steps", intervals.effective_steps);
  json.field("through", intervals.through);
  json.field("too_few_steps", intervals.too_few);
  // Intervals may be around another point than the estimate or its average. Then their middles are told, too.
  if (!intervals.means.empty()) {
    const auto means = json.object("mean");
    for (std::size_t j = 0; j < intervals.means.size(); ++j) json.field(names[j], intervals.means[j]);
  }
  append_bounds("lower", names, intervals, &std::pair<double, double>::first, json);
  append_bounds("upper", names, intervals, &std::pair<double, double>::second, json);
}

void append_intervals(MemberName key, const ShownRelease& release, const ReportedIntervals& intervals,
                      JsonWriter& json) {
  std::vector<std::string> names;
  // The bounds are in the order of the estimate, and take its names.
  names.reserve(release.estimate.size());
  for (const auto& [name, value] : release.estimate) names.push_back(name);
  append_intervals(key, names, intervals, json);
}

void append_strength(const ShownRelease& release, JsonWriter& json) {
  if (release.sums.instruments) append_instruments(*release.sums.instruments, json);
  // Nothing is written for a strength that noise hides: the reader of a release has kept that fact apart (is_hidden).
  if (release.first_stage.f.empty()) return;
  const auto object = json.object("first_stage");
  json.field("cragg_donald", release.first_stage.cragg_donald);
  json.fields("f", release.first_stage.f);
}

}  // namespace nustream::publish
