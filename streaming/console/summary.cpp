#include "console/summary.h"

#include <fmt/format.h>

#include "config/ranges.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "publish/json_text.h"

namespace nustream::console {
namespace {

using publish::append_field;
using publish::append_object;

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
  print_strength(release, out);
}

/// Appends the path of a file; null where the run has not made it.
void append_place(const char* name, const std::string& path, std::string& out) {
  if (path.empty()) {
    out += fmt::format(",\"{}\":null", name);
  } else {
    append_field(name, path, out);
  }
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
  std::string out = "{\"stream\":";
  publish::append_string(summary.stream, out);
  append_field("epoch", std::uint64_t{summary.epoch}, out);
  append_field("steps", summary.steps, out);
  if (summary.release) {
    append_object("estimate", summary.release->estimate, out);
    if (!summary.release->average.empty()) append_object("average", summary.release->average, out);
    if (const auto intervals = reported_intervals(*summary.release)) {
      publish::append_intervals("intervals", *summary.release, *intervals, out);
    }
    if (!summary.release->status.verdict.empty()) append_field("verdict", summary.release->status.verdict, out);
    if (summary.release->status.clipped) publish::append_clipped(*summary.release->status.clipped, out);
    publish::append_strength(*summary.release, out);
    if (summary.release->sums.floored > 0) append_field("floored", summary.release->sums.floored, out);
  }
  append_field("rho", summary.rho, out);
  append_field("rho_limit", summary.rho_limit, out);
  append_spends(summary.epsilons, summary.ledger_rho, summary.ledger_epsilons, out);
  publish::append_promise(summary.promise, out);
  append_field("ending", summary.ending, out);
  config::append_ranges(summary.ranges, out);
  append_place("releases", summary.places.releases, out);
  append_place("state", summary.places.state, out);
  append_place("ledger", summary.places.ledger, out);
  append_place("key", summary.places.key, out);
  append_place("witness", summary.places.witness, out);
  return out + '}';
}

}  // namespace nustream::console
