#include "publish/reported.h"

#include "publish/json_text.h"

namespace nustream::publish {
namespace {

void append_named(std::string_view key, const std::vector<std::pair<std::string, double>>& values, std::string& out) {
  out += ",\"" + std::string(key) + "\":{";
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j > 0) out += ',';
    append_string(values[j].first, out);
    out += ':';
    append_number(values[j].second, out);
  }
  out += '}';
}

}  // namespace

std::optional<ReportedIntervals> reported_intervals(const publish::ShownRelease& release) {
  if (release.interval.empty()) return std::nullopt;
  return ReportedIntervals{release.interval_kind,  release.interval_covers,  release.interval_level,
                           release.interval_steps, release.interval_through, release.interval_too_few,
                           release.interval};
}

void append_intervals(std::string_view key, const ShownRelease& release, const ReportedIntervals& intervals,
                      std::string& out) {
  out += ",\"" + std::string(key) + "\":{\"kind\":";
  append_string(intervals.kind, out);
  out += ",\"level\":";
  append_number(intervals.level, out);
  out += ",\"covers\":";
  append_string(intervals.covers, out);
  out += ",\"effective_steps\":";
  append_number(intervals.effective_steps, out);
  out += ",\"through\":";
  append_number(intervals.through, out);
  out += intervals.too_few ? ",\"too_few_steps\":true" : ",\"too_few_steps\":false";
  std::vector<std::pair<std::string, double>> lower;
  std::vector<std::pair<std::string, double>> upper;
  for (std::size_t j = 0; j < intervals.bounds.size(); ++j) {
    lower.emplace_back(release.estimate[j].first, intervals.bounds[j].first);
    upper.emplace_back(release.estimate[j].first, intervals.bounds[j].second);
  }
  append_named("lower", lower, out);
  append_named("upper", upper, out);
  out += '}';
}

void append_strength(const ShownRelease& release, std::string& out) {
  if (release.first_stage_f.empty()) return;
  out += ",\"first_stage\":{\"cragg_donald\":";
  append_number(release.cragg_donald, out);
  append_named("f", release.first_stage_f, out);
  out += '}';
}

}  // namespace nustream::publish
