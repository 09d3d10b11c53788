// The table at the end of `replay`. All of it is public: published values, public settings, and spends that follow
// from step counts. What depends on data goes to the operator by operator_counts.h.
#include "console/summary.h"

#include <fmt/format.h>

#include "config/ranges.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "publish/json_writer.h"

namespace nustream::console {
namespace {

using publish::JsonWriter;

/// Prints the estimates of the last release and what belongs to them.
void print_release(const publish::ShownRelease& release, std::optional<std::uint64_t> average_from, std::FILE* out) {
  const auto intervals = reported_intervals(release);
  std::string note;
  if (average_from) {
    note = fmt::format("   ({} step {})", release.average.empty() ? "the average begins behind" : "averaged after",
                       with_separators(*average_from));
  }
  print_estimates(release, intervals, note, out);
  if (intervals) print_intervals(*intervals, release.step, out);
  print_verdict(release, out);
  print_hidden(release, out);
  print_growth(release, out);
  print_strength(release, out);
}

/// Writes the path of a file; null where the run has not made it.
void append_place(publish::MemberName name, const std::string& path, JsonWriter& json) {
  path.empty() ? json.field(name, nullptr) : json.field(name, path);
}

/// Writes the same for programs. Members that the release does not have are left out.
void append_release(const publish::ShownRelease& release, JsonWriter& json) {
  json.fields("estimate", release.estimate);
  if (!release.average.empty()) json.fields("average", release.average);
  if (const auto intervals = reported_intervals(release)) {
    publish::append_intervals("intervals", release, *intervals, json);
  }
  if (!release.status.verdict.empty()) json.field("verdict", release.status.verdict);
  if (release.status.clipped) publish::append_clipped(*release.status.clipped, json);
  publish::append_strength(release, json);
  if (release.sums.floored > 0) json.field("floored", release.sums.floored);
  publish::append_growth(release.sums.grown, json);
}

}  // namespace

void print_table(const Summary& summary, std::FILE* out) {
  fmt::print(out, "\n");
  if (summary.release) print_release(*summary.release, summary.average_from, out);
  fmt::print(out, "{:<16}{}\n", "steps", with_separators(summary.steps));
  fmt::print(out, "{:<16}{:.6g} of at most {:.6g} (zCDP, {})\n", "rho spent", summary.rho, summary.rho_limit,
             protected_unit(summary.promise));
  print_epsilon(
      {summary.epsilons, summary.ledger_rho > summary.rho * (1 + 1e-9), summary.ledger_rho, summary.ledger_epsilons},
      out);
  if (!summary.promise.is_private) fmt::print(out, "{:<16}false: the noise came from an insecure seed\n", "private");
  // Each path stands behind its name, such as "releases        runs/mine/releases.jsonl".
  for (const auto& [name, path] :
       {std::pair("releases", &summary.places.releases), std::pair("state", &summary.places.state),
        std::pair("ledger", &summary.places.ledger)}) {
    if (!path->empty()) fmt::print(out, "{:<16}{}\n", name, *path);
  }
  if (!summary.places.key.empty()) fmt::print(out, "{:<16}{} (keep it secret)\n", "key", summary.places.key);
  if (!summary.places.witness.empty()) fmt::print(out, "{:<16}{}\n", "witness", summary.places.witness);
  std::fflush(out);
}

std::string to_json(const Summary& summary) {
  return publish::object_text([&](JsonWriter& json) {
    json.field("stream", summary.stream);
    json.field("epoch", summary.epoch);
    json.field("steps", summary.steps);
    if (summary.release) append_release(*summary.release, json);
    json.field("rho", summary.rho);
    json.field("rho_limit", summary.rho_limit);
    append_spends(summary.epsilons, summary.ledger_rho, summary.ledger_epsilons, json);
    publish::append_promise(summary.promise, json);
    json.field("ending", summary.ending);
    config::append_ranges(summary.ranges, json);
    // All places are named, so that a program finds the same members after any run.
    append_place("releases", summary.places.releases, json);
    append_place("state", summary.places.state, json);
    append_place("ledger", summary.places.ledger, json);
    append_place("key", summary.places.key, json);
    append_place("witness", summary.places.witness, json);
  });
}

}  // namespace nustream::console
