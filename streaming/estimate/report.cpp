#include "estimate/report.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "publish/json_text.h"
#include "replay/path_printer.h"

namespace nustream::estimate {
namespace {

using replay::shown_number;
using replay::with_separators;

std::size_t name_width(const Report& report) {
  std::size_t width = 8;
  for (const auto& [name, value] : report.last.estimate) width = std::max(width, name.size());
  return width;
}

void print_estimates(const Report& report, std::FILE* out) {
  const std::size_t width = name_width(report);
  const bool averaged = !report.last.average.empty();
  fmt::print(out, "\n{:<{}}  {:>14}", "estimate", width, "last");
  if (averaged) fmt::print(out, "  {:>14}", "averaged");
  if (report.intervals) fmt::print(out, "  {:>14}  {:>14}", "lower", "upper");
  fmt::print(out, "\n");
  for (std::size_t j = 0; j < report.last.estimate.size(); ++j) {
    fmt::print(out, "{:<{}}  {:>14}", report.last.estimate[j].first, width,
               shown_number(report.last.estimate[j].second));
    if (averaged) fmt::print(out, "  {:>14}", shown_number(report.last.average[j].second));
    if (report.intervals) {
      const auto& [lower, upper] = report.intervals->bounds[j];
      fmt::print(out, "  {:>14}  {:>14}", shown_number(lower), shown_number(upper));
    }
    fmt::print(out, "\n");
  }
}

void print_intervals(const ReportedIntervals& intervals, std::FILE* out) {
  fmt::print(out, "{:<16}{:g}%, {}, of {} steps up to step {}\n", "intervals", 100 * intervals.level, intervals.kind,
             with_separators(intervals.effective_steps), with_separators(intervals.through));
  fmt::print(out, "{:<16}{}\n", "they cover", intervals.covers);
  if (intervals.too_few) {
    fmt::print(out, "{:<16}fewer than 200 steps: they cover less often than {:g}%\n", "warning",
               100 * intervals.level);
  }
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
}

void print_for_operator(const Report& report) {
  if (report.rejected > 0) {
    fmt::print(stderr, "operator only, not private: {} of {} records could not be used (zero gradients)\n",
               with_separators(report.rejected), with_separators(report.design.rows));
  }
  if (!report.degeneracy.empty()) fmt::print(stderr, "operator only, not private: {}\n", report.degeneracy);
}

template <class Number>
  requires std::is_arithmetic_v<Number>
void append_field(std::string_view key, Number number, std::string& out) {
  out += fmt::format(",\"{}\":", key);
  publish::append_number(number, out);
}

void append_text(std::string_view key, std::string_view text, std::string& out) {
  out += fmt::format(",\"{}\":", key);
  publish::append_string(text, out);
}

void append_object(std::string_view key, const std::vector<std::pair<std::string, double>>& values,
                   std::string& out) {
  out += fmt::format(",\"{}\":{{", key);
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j > 0) out += ',';
    publish::append_string(values[j].first, out);
    out += ':';
    publish::append_number(values[j].second, out);
  }
  out += '}';
}

void append_intervals(const Report& report, std::string& out) {
  const ReportedIntervals& intervals = *report.intervals;
  out += ",\"intervals\":{\"kind\":";
  publish::append_string(intervals.kind, out);
  append_field("level", intervals.level, out);
  append_text("covers", intervals.covers, out);
  append_field("effective_steps", intervals.effective_steps, out);
  append_field("through", intervals.through, out);
  out += intervals.too_few ? ",\"too_few_steps\":true" : ",\"too_few_steps\":false";
  std::vector<std::pair<std::string, double>> lower;
  std::vector<std::pair<std::string, double>> upper;
  for (std::size_t j = 0; j < intervals.bounds.size(); ++j) {
    lower.emplace_back(report.last.estimate[j].first, intervals.bounds[j].first);
    upper.emplace_back(report.last.estimate[j].first, intervals.bounds[j].second);
  }
  append_object("lower", lower, out);
  append_object("upper", upper, out);
  out += '}';
}

}  // namespace

void print(const Report& report, std::FILE* out) {
  const Design& design = report.design;
  print_estimates(report, out);
  if (report.intervals) print_intervals(*report.intervals, out);
  fmt::print(out, "{:<16}{} of {}, {} records each{}\n", "steps", with_separators(report.last.step),
             with_separators(design.steps), with_separators(design.minibatch),
             design.runs > 1 ? fmt::format(", in each of {} runs", design.runs) : "");
  fmt::print(out, "{:<16}{:.6g} (zCDP, per record, {} noise)\n", "rho spent", report.rho, report.correlation);
  if (report.ledger_rho > report.rho * (1 + 1e-9)) {
    fmt::print(out, "{:<16}{:.6g} (over all epochs of this folder)\n", "ledger total", report.ledger_rho);
  }
  fmt::print(out, "{:<16}{:.4g} at delta {:g} (gaussian: the exact curve of the Gaussian mechanism)\n", "epsilon",
             report.epsilon, report.delta);
  if (report.predicted_stddev) {
    fmt::print(out, "{:<16}{:.3g} in a coordinate of the last iterate (working units, curvature 1)\n",
               "privacy noise", *report.predicted_stddev);
  }
  if (!report.is_private) fmt::print(out, "{:<16}false: the noise came from an insecure seed\n", "private");
  fmt::print(out, "{:<16}{}/releases.jsonl (every iterate), state and ledger beside it\n", "folder", report.folder);
  if (!report.key_file.empty()) fmt::print(out, "{:<16}{} (keep it secret)\n", "key", report.key_file);
  print_comparison(report, out);
  std::fflush(out);
  print_for_operator(report);
}

std::string to_json(const Report& report) {
  std::string out = "{\"stream\":";
  publish::append_string(report.stream, out);
  append_field("steps", report.last.step, out);
  append_field("runs", report.design.runs, out);
  append_field("minibatch", report.design.minibatch, out);
  append_text("correlation", report.correlation, out);
  append_object("estimate", report.last.estimate, out);
  if (!report.last.average.empty()) append_object("average", report.last.average, out);
  if (report.intervals) append_intervals(report, out);
  append_field("rho", report.rho, out);
  append_field("ledger_rho", report.ledger_rho, out);
  append_field("epsilon", report.epsilon, out);
  append_field("delta", report.delta, out);
  append_text("conversion", "gaussian", out);
  if (report.predicted_stddev) append_field("predicted_stddev", *report.predicted_stddev, out);
  out += report.is_private ? ",\"private\":true" : ",\"private\":false";
  append_text("folder", report.folder, out);
  if (!report.comparison.empty()) {
    out += ",\"not_private\":{\"private\":false";
    for (const Compared& compared : report.comparison) append_object(compared.name, compared.coefficients, out);
    out += '}';
  }
  out += ",\"operator\":{\"private\":false";
  append_field("records", report.design.rows, out);
  append_field("rejected", report.rejected, out);
  if (!report.degeneracy.empty()) append_text("degeneracy", report.degeneracy, out);
  return out + "}}";
}

}  // namespace nustream::estimate
