// What an estimate prints at its end: released figures as a table and as JSON, and apart from them what is not
// private, for standard error or the operator's file.
#include "estimate/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "config/ranges.h"
#include "console/path_printer.h"
#include "publish/json_writer.h"

namespace nustream::estimate {
namespace {

using console::shown_number;
using console::with_separators;
using publish::JsonWriter;

std::size_t name_width(const Report& report) {
  std::size_t width = 8;
  for (const auto& [name, value] : report.last.estimate) width = std::max(width, name.size());
  return width;
}

/// Answers without privacy, under a heading that says so.
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
  // Where intervals need several runs, each of them took these steps under a budget of its own.
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
  // What was predicted from settings before the first step; it is no measurement.
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
  return publish::object_text([&](JsonWriter& json) {
    json.field("stream", report.stream);
    json.field("steps", report.last.step);
    json.field("ending", report.ending);
    json.field("runs", report.design.runs);
    json.field("finished_runs", report.finished_runs);
    json.field("minibatch", report.design.minibatch);
    json.field("correlation", report.correlation);
    json.fields("estimate", report.last.estimate);
    if (!report.last.average.empty()) json.fields("average", report.last.average);
    if (report.intervals) publish::append_intervals("intervals", report.last, *report.intervals, json);
    if (!report.last.status.verdict.empty()) json.field("verdict", report.last.status.verdict);
    if (report.status) std::visit([&](const auto& one) { publish::append_status(one, json); }, *report.status);
    if (report.last.status.clipped) publish::append_clipped(*report.last.status.clipped, json);
    publish::append_strength(report.last, json);
    if (report.last.sums.floored > 0) json.field("floored", report.last.sums.floored);
    json.field("rho", report.rho);
    console::append_spends(report.epsilons, report.ledger_rho, report.ledger_epsilons, json);
    if (report.predicted_stddev) json.field("predicted_stddev", *report.predicted_stddev);
    json.field("private", report.is_private);
    config::append_ranges(report.ranges, json);
    json.field("folder", report.folder);
    if (!report.key_file.empty()) json.field("key", report.key_file);
  });
}

std::string operator_json(const Report& report) {
  return publish::object_text([&](JsonWriter& json) {
    console::append_counts(report.counts, report.rejects, json);
    if (!report.degeneracy.empty()) json.field("degeneracy", report.degeneracy);
    if (report.comparison.empty()) return;
    // The answers that are not private have an object of their own, so that no program takes them for the estimate.
    const auto comparison = json.object("not_private");
    json.field("private", false);
    for (const Compared& compared : report.comparison) {
      json.fields(compared.name, compared.coefficients);
      if (compared.rho) json.field(compared.name + "_rho", compared.rho->value());
    }
  });
}

}  // namespace nustream::estimate
