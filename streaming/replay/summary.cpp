#include "replay/summary.h"

#include <fmt/format.h>

#include "replay/path_printer.h"
#include "replay/report_parts.h"

namespace nustream::replay {
namespace {

const char* name(Ending ending) {
  switch (ending) {
    case Ending::input:
      return "input ended";
    case Ending::interrupted:
      return "interrupted";
    case Ending::drained:
      return "drained";
    case Ending::exhausted:
      return "budget or horizon reached";
  }
  return "";
}

void print_release(const publish::ShownRelease& release, std::uint64_t average_from, std::FILE* out) {
  const auto intervals = reported_intervals(release);
  const std::string note = release.average.empty()
                               ? std::string{}
                               : fmt::format("   (averaged after step {})", with_separators(average_from));
  print_estimates(release, intervals, note, out);
  if (intervals) print_intervals(*intervals, release.step, out);
  print_strength(release, out);
}

}  // namespace

void print_table(const Summary& summary, std::FILE* out) {
  fmt::print(out, "\n");
  if (summary.release) print_release(*summary.release, summary.average_from, out);
  fmt::print(out, "{:<16}{}\n", "steps", with_separators(summary.steps));
  fmt::print(out, "{:<16}{:.6g} of at most {:.6g} (zCDP, {})\n", "rho spent", summary.rho, summary.rho_limit,
             summary.release ? protected_unit(*summary.release) : "per record");
  if (summary.ledger_rho > summary.rho) {
    fmt::print(out, "{:<16}{:.6g} (over all epochs of this folder)\n", "ledger total", summary.ledger_rho);
  }
  fmt::print(out, "{:<16}{:.4g} at delta {:g} ({}: the exact curve of the Gaussian mechanism)\n", "epsilon",
             summary.epsilon, summary.delta, summary.conversion);
  if (!summary.is_private) fmt::print(out, "{:<16}false: the noise came from an insecure seed\n", "private");
  fmt::print(out, "{:<16}{}\n{:<16}{}\n{:<16}{}\n", "releases", summary.places.releases, "state",
             summary.places.state, "ledger", summary.places.ledger);
  if (!summary.places.key.empty()) fmt::print(out, "{:<16}{} (keep it secret)\n", "key", summary.places.key);
  std::fflush(out);
  if (summary.counts.rejected > 0 || summary.counts.left_over > 0) {
    fmt::print(stderr, "operator only, not private: {} of {} records could not be used (zero-gradient steps)",
               with_separators(summary.counts.rejected), with_separators(summary.counts.records));
    if (summary.counts.left_over > 0)
      fmt::print(stderr, "; {} left over, fewer than a minibatch", summary.counts.left_over);
    fmt::print(stderr, "\n");
  }
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
    publish::append_strength(*summary.release, out);
  }
  append_field("rho", summary.rho, out);
  append_field("rho_limit", summary.rho_limit, out);
  append_field("ledger_rho", summary.ledger_rho, out);
  append_field("epsilon", summary.epsilon, out);
  append_field("delta", summary.delta, out);
  append_field("conversion", summary.conversion, out);
  out += summary.is_private ? ",\"private\":true" : ",\"private\":false";
  append_field("ending", name(summary.ending), out);
  append_field("releases", summary.places.releases, out);
  append_field("state", summary.places.state, out);
  append_field("ledger", summary.places.ledger, out);
  out += ",\"operator\":{\"private\":false";
  append_field("records", summary.counts.records, out);
  append_field("rejected", summary.counts.rejected, out);
  append_field("left_over", summary.counts.left_over, out);
  return out + "}}";
}

}  // namespace nustream::replay
