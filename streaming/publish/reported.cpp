#include "publish/reported.h"

#include "publish/json_text.h"

namespace nustream::publish {
std::optional<ReportedIntervals> reported_intervals(const publish::ShownRelease& release) {
  return release.interval.bounds.empty() ? std::nullopt : std::optional(release.interval);
}

void append_intervals(std::string_view key, std::span<const std::string> names, const ReportedIntervals& intervals,
                      std::string& out) {
  out += ",\"" + std::string(key) + "\":{\"kind\":";
  append_string(intervals.kind, out);
  append_field("level", intervals.level, out);
  append_field("covers", intervals.covers, out);
  append_field("effective_steps", intervals.effective_steps, out);
  append_field("through", intervals.through, out);
  out += intervals.too_few ? ",\"too_few_steps\":true" : ",\"too_few_steps\":false";
  NamedValues means;
  for (std::size_t j = 0; j < intervals.means.size(); ++j) means.emplace_back(names[j], intervals.means[j]);
  if (!means.empty()) append_object("mean", means, out);
  NamedValues lower;
  NamedValues upper;
  for (std::size_t j = 0; j < intervals.bounds.size(); ++j) {
    lower.emplace_back(names[j], intervals.bounds[j].first);
    upper.emplace_back(names[j], intervals.bounds[j].second);
  }
  append_object("lower", lower, out);
  append_object("upper", upper, out);
  out += '}';
}

void append_intervals(std::string_view key, const ShownRelease& release, const ReportedIntervals& intervals,
                      std::string& out) {
  std::vector<std::string> names;
  names.reserve(release.estimate.size());
  for (const auto& [name, value] : release.estimate) names.push_back(name);
  append_intervals(key, names, intervals, out);
}

void append_strength(const ShownRelease& release, std::string& out) {
  if (release.sums.instruments) append_instruments(*release.sums.instruments, out);
  if (release.first_stage.f.empty()) return;
  out += ",\"first_stage\":{\"cragg_donald\":";
  append_number(release.first_stage.cragg_donald, out);
  append_object("f", release.first_stage.f, out);
  out += '}';
}

}  // namespace nustream::publish
