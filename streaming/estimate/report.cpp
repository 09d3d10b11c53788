#include "estimate/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "config/ranges.h"
#include "console/path_printer.h"
#include "publish/json_text.h"

namespace nustream::estimate {
namespace {

using console::shown_number;
using console::with_separators;
using publish::append_field;
using publish::append_object;

std::size_t name_width(const Report& report) {
  std::size_t width = 8;
  for (const auto& [name, value] : report.last.estimate) width = std::max(width, name.size());
  return width;
}

void print_comparison(const Report& report, std::FILE* out) {
  if (report.comparison.empty()) return;
  fmt::print(out, "\nNOT PRIVATE, for comparison only: whoever reads this reads the table\n");
  const std::size_t width = name_width(report);
  fmt::print(out, "{:<{}}", "", width);
  for (const Compared& compared : report.comparison) fmt::print(out, "  {:>14}", compared.name);
  fmt::print(out, "\n");
  for (std::size_t j = 0; j < report.comparison.front().coefficients.size(); ++j) {
    fmt::print(out, "{:<{}}", report.comparison.front().coefficients[j].first, width);
    for (const Compared& compared : report.comparison) {
      fmt::print(out, "  {:>14}", shown_number(compared.coefficients[j].second));
    }
    fmt::print(out, "\n");
  }
  for (const Compared& compared : report.comparison) {
    if (!compared.rho) continue;
    fmt::print(out, "{} by itself: rho {:.6g}, in three releases of a third each, {}; not in the ledger\n",
               compared.name, compared.rho->value(), report.last.promise.adjacency);
  }
}

}  // namespace

void print(const Report& report, std::FILE* out) {
  const engine::TableDesign& design = report.design;
  fmt::print(out, "\n");
  console::print_estimates(report.last, report.intervals, "", out);
  if (report.intervals) console::print_intervals(*report.intervals, report.last.step, out);
  console::print_verdict(report.last, out);
  console::print_hidden(report.last, out);
  console::print_strength(report.last, out);
  std::string of_runs;
  if (design.runs > 1) {
    of_runs = report.is_finished() ? fmt::format(", in each of {} runs", design.runs)
                                   : fmt::format("; {} of {} runs finished", report.finished_runs, design.runs);
  }
  fmt::print(out, "{:<16}{} of {}, {} records each{}\n", "steps", with_separators(report.last.step),
             with_separators(design.steps), with_separators(design.minibatch), of_runs);
  fmt::print(out, "{:<16}{:.6g} (zCDP, {}, {} noise)\n", "rho spent", report.rho,
             console::protected_unit(report.last.promise), report.correlation);
  console::print_epsilon(
      {report.epsilons, report.ledger_rho > report.rho * (1 + 1e-9), report.ledger_rho, report.ledger_epsilons}, out);
  if (report.predicted_stddev) {
    fmt::print(out, "{:<16}{:.3g} in a {}\n", "privacy noise", *report.predicted_stddev,
               report.of_sums ? "coefficient where E[xx'] is the identity, from the target's moments alone (working "
                                "units)"
                              : "coordinate of the last iterate (working units, curvature 1)");
  }
  if (!report.is_private)
    fmt::print(out, "{:<16}false: an insecure seed, or a comparison with answers that are not private\n", "private");
  fmt::print(out, "{:<16}{}/releases.jsonl ({}), state and ledger beside it\n", "folder", report.folder,
             report.of_sums ? "the answers of all steps" : "the iterates");
  if (!report.key_file.empty()) fmt::print(out, "{:<16}{} (keep it secret)\n", "key", report.key_file);
  print_comparison(report, out);
  std::fflush(out);
}

std::string to_json(const Report& report) {
  std::string out = "{\"stream\":";
  publish::append_string(report.stream, out);
  append_field("steps", report.last.step, out);
  append_field("ending", report.ending, out);
  append_field("runs", report.design.runs, out);
  append_field("finished_runs", report.finished_runs, out);
  append_field("minibatch", report.design.minibatch, out);
  append_field("correlation", report.correlation, out);
  append_object("estimate", report.last.estimate, out);
  if (!report.last.average.empty()) append_object("average", report.last.average, out);
  if (report.intervals) publish::append_intervals("intervals", report.last, *report.intervals, out);
  if (!report.last.status.verdict.empty()) append_field("verdict", report.last.status.verdict, out);
  if (report.last.status.clipped) publish::append_clipped(*report.last.status.clipped, out);
  publish::append_strength(report.last, out);
  if (report.last.sums.floored > 0) append_field("floored", report.last.sums.floored, out);
  append_field("rho", report.rho, out);
  console::append_spends(report.epsilons, report.ledger_rho, report.ledger_epsilons, out);
  if (report.predicted_stddev) append_field("predicted_stddev", *report.predicted_stddev, out);
  out += report.is_private ? ",\"private\":true" : ",\"private\":false";
  config::append_ranges(report.ranges, out);
  append_field("folder", report.folder, out);
  if (!report.key_file.empty()) append_field("key", report.key_file, out);
  return out + '}';
}

std::string operator_json(const Report& report) {
  std::string out = console::operator_json(report.counts, report.rejects);
  if (!report.degeneracy.empty()) append_field("degeneracy", report.degeneracy, out);
  if (!report.comparison.empty()) {
    out += ",\"not_private\":{\"private\":false";
    for (const Compared& compared : report.comparison) {
      append_object(compared.name, compared.coefficients, out);
      if (compared.rho) append_field(compared.name + "_rho", compared.rho->value(), out);
    }
    out += '}';
  }
  return out + '}';
}

}  // namespace nustream::estimate
