#include "replay/report_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "replay/path_printer.h"

namespace nustream::replay {

void print_estimates(const publish::ShownRelease& release, const std::optional<ReportedIntervals>& intervals,
                     std::string_view note, std::FILE* out) {
  std::size_t width = 8;
  for (const auto& [name, value] : release.estimate) width = std::max(width, name.size());
  const bool averaged = !release.average.empty();
  fmt::print(out, "{:<{}}  {:>14}", "estimate", width, "last");
  if (averaged) fmt::print(out, "  {:>14}", "averaged");
  if (intervals) fmt::print(out, "  {:>14}  {:>14}", "lower", "upper");
  fmt::print(out, "{}\n", note);
  for (std::size_t j = 0; j < release.estimate.size(); ++j) {
    fmt::print(out, "{:<{}}  {:>14}", release.estimate[j].first, width, shown_number(release.estimate[j].second));
    if (averaged) fmt::print(out, "  {:>14}", shown_number(release.average[j].second));
    if (intervals) {
      const auto& [lower, upper] = intervals->bounds[j];
      fmt::print(out, "  {:>14}  {:>14}", shown_number(lower), shown_number(upper));
    }
    fmt::print(out, "\n");
  }
}

void print_intervals(const ReportedIntervals& intervals, std::uint64_t step, std::FILE* out) {
  fmt::print(out, "{:<16}{:g}%, {}, of {} steps up to step {}", "intervals", 100 * intervals.level, intervals.kind,
             with_separators(intervals.effective_steps), with_separators(intervals.through));
  if (step > intervals.through) fmt::print(out, ", {} steps ago", with_separators(step - intervals.through));
  fmt::print(out, "\n{:<16}{}\n", "they cover", intervals.covers);
  if (intervals.too_few) {
    fmt::print(out, "{:<16}fewer than 200 steps: they cover less often than {:g}%\n", "warning",
               100 * intervals.level);
  }
}

void print_strength(const publish::ShownRelease& release, std::FILE* out) {
  if (release.first_stage_hidden) {
    fmt::print(out, "{:<16}noise hides its strength: give it more of rho, or a tighter strength_clip\n",
               "first stage");
  }
  if (release.first_stage_f.empty()) return;
  fmt::print(out, "{:<16}", "first stage");
  for (const auto& [name, f] : release.first_stage_f) fmt::print(out, "F = {:.4g} ({}), ", f, name);
  const bool weak = !(release.cragg_donald >= 10);
  fmt::print(out, "Cragg-Donald {:.4g}: {} (charged)\n", release.cragg_donald,
             weak ? "below 10, the instruments are weak" : "not weak");
}

std::string_view protected_unit(const publish::ShownRelease& release) noexcept {
  return release.target_only ? "per record's target; its features are declared public" : "per record";
}

void append_field(std::string_view key, std::string_view text, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  publish::append_string(text, out);
}

void append_object(std::string_view key, const std::vector<std::pair<std::string, double>>& values,
                   std::string& out) {
  out += ",\"" + std::string(key) + "\":{";
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j > 0) out += ',';
    publish::append_string(values[j].first, out);
    out += ':';
    publish::append_number(values[j].second, out);
  }
  out += '}';
}

}  // namespace nustream::replay
