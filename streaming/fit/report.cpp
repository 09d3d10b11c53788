#include "fit/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "console/report_parts.h"
#include "nustream/inference/interval.h"
#include "publish/promise.h"

namespace nustream::fit {
namespace {

using console::shown_number;
using console::with_separators;
using publish::append_field;

publish::Promise promise_of(const Report& report) {
  return {report.is_private, false, report.adjacency};
}

constexpr const char* covers =
    "the least squares of the population, for residuals whose variance does not depend on the features";

void append_interval(const Report& report, std::string& out) {
  if (report.interval.empty()) {
    out += ",\"interval\":null";
    return;
  }
  publish::NamedValues lower;
  publish::NamedValues upper;
  for (std::size_t j = 0; j < report.interval.size(); ++j) {
    lower.emplace_back(report.estimate[j].first, report.interval[j].first);
    upper.emplace_back(report.estimate[j].first, report.interval[j].second);
  }
  out += ",\"interval\":{\"kind\":\"moments\"";
  append_field("level", interval_level, out);
  append_field("covers", covers, out);
  append_field("effective_steps", report.fit.answer_records, out);
  append_field("through", std::uint64_t{1}, out);
  out += ",\"too_few_steps\":false";
  publish::append_object("lower", lower, out);
  publish::append_object("upper", upper, out);
  out += '}';
}

std::size_t name_width(const Report& report) {
  std::size_t width = 14;
  for (const auto& [name, value] : report.estimate) width = std::max(width, name.size());
  return width;
}

std::string why_no_interval(const Report& report) {
  if (report.fit.floored == 0) return "no interval: noise hides the residuals' spread; more rho, or more records";
  return fmt::format(
      "no interval: noise hides {} of {} directions, whose part of the answer is a guess: leave out "
      "columns that say the same, or spend more rho",
      report.fit.floored, report.estimate.size());
}

std::string in_quotes(const std::string& text) {
  std::string out;
  publish::append_string(text, out);  // of TOML's basic strings, JSON's are a part
  return out;
}

std::string term_in_toml(const record::Feature& feature, const ranges::Placement& placement) {
  constexpr const char* names[] = {"identity", "log", "log1p", "sqrt", "square", "indicator", "hour", "day_of_week"};
  const auto transform = static_cast<std::size_t>(feature.first.transform);
  std::string out =
      fmt::format("column = {}\ntransform = \"{}\"\n", in_quotes(feature.first.column), names[transform]);
  if (feature.first.transform == record::Transform::indicator) {
    out += fmt::format("equals = {}\n", in_quotes(feature.first.equals));
  }
  return out + fmt::format("center = {}\nscale = {}\n", placement.centre, placement.scale);
}

}  // namespace

void fill_table(const Columns& columns, const ranges::LinearFit& fit, Report& report) {
  report.fit = fit;
  for (std::size_t j = 0; j < columns.features.size(); ++j) {
    if (std::ranges::find(fit.features, j) == fit.features.end()) report.dropped.push_back(columns.features[j].name);
  }
  for (std::size_t j = 0; j < fit.theta.size(); ++j) {
    report.estimate.emplace_back(j == 0 ? "intercept" : columns.features[fit.features[j - 1]].name, fit.theta[j]);
    if (fit.variances.empty()) continue;
    const auto& [variance, degrees] = fit.variances[j];
    const double half = inference::student_quantile(degrees, interval_level) * std::sqrt(variance);
    report.interval.emplace_back(fit.theta[j] - half, fit.theta[j] + half);
  }
}

std::string release_line(const Report& report) {
  std::string out = "{\"format\":1,\"stream\":\"fit\",\"lane\":0";
  append_field("epoch", std::uint64_t{report.epoch.value()}, out);
  append_field("step", std::uint64_t{1}, out);
  append_field("position", report.records, out);
  append_field("tag", "end", out);
  publish::append_object("estimate", report.estimate, out);
  out += ",\"average\":null";
  append_interval(report, out);
  append_field("rho", report.rho, out);
  append_field("rho_limit", report.rho, out);
  append_field("rho_ledger", report.total_rho, out);
  append_field("epsilon", report.epsilons.front().by.front(), out);
  append_field("epsilon_ledger", report.total_epsilons.front().by.front(), out);
  publish::append_epsilons("epsilons", report.epsilons, out);
  publish::append_epsilons("epsilons_ledger", report.total_epsilons, out);
  append_field("delta", report.delta, out);
  append_field("conversion", "gaussian", out);
  append_field("digest", report.digest, out);
  publish::append_promise(promise_of(report), out);
  return out + "}\n";
}

std::string to_text(const Report& report) {
  const ranges::LinearFit& fit = report.fit;
  std::string out = fmt::format(
      "fit of {} by least squares, {} records\n{:<15} whoever differs in one record ({}) sees nearly the "
      "same; names of columns and the number of records are public\n",
      report.target, with_separators(report.records), "assumed", report.adjacency);
  out += fmt::format(
      "{:<15} privately, from {} of the records: centre and scale of {} columns, lengths and residuals of "
      "rows (bounds {:.3g} and {:.3g}); usable rows about {:.0f}%\n",
      "measured", with_separators(report.records - fit.answer_records), fit.placements.size(), fit.bounds.inputs,
      fit.bounds.residuals, 100 * fit.usable);
  if (!report.dropped.empty())
    out += fmt::format("{:<15} {}: hardly a usable number\n", "left out", fmt::join(report.dropped, ", "));
  const std::size_t width = name_width(report);
  out += fmt::format("\n{:<{}}  {:>14}{}\n", "", width, "estimate", report.interval.empty() ? "" : "   95% interval");
  for (std::size_t j = 0; j < report.estimate.size(); ++j) {
    out += fmt::format("{:<{}}  {:>14}", report.estimate[j].first, width, shown_number(report.estimate[j].second));
    if (!report.interval.empty()) {
      out +=
          fmt::format("   {} to {}", shown_number(report.interval[j].first), shown_number(report.interval[j].second));
    }
    out += '\n';
  }
  if (report.interval.empty()) out += why_no_interval(report) + '\n';
  const std::string all = report.fits == 1
                              ? std::string("the first over this file")
                              : fmt::format("{:.6g} by all {} over this file", report.total_rho, report.fits);
  out += fmt::format("\n{:<15} {:.6g} (zCDP) by this fit, {}\n", "rho spent", report.rho, all);
  out += fmt::format("{:<15} {}", "epsilon", console::epsilon_text(report.epsilons.front()));
  out += report.fits == 1 ? "\n"
                          : fmt::format(" by this fit, {:.4g} by all\n", report.total_epsilons.front().by.front());
  if (!report.is_private) out += fmt::format("{:<15} false: an insecure seed\n", "private");
  out += fmt::format("{:<15} {} (releases, ledger, state)\n", "folder", report.folder);
  if (!report.key_file.empty()) out += fmt::format("{:<15} {} (keep it secret)\n", "key", report.key_file);
  return out;
}

std::string to_json(const Report& report) {
  const ranges::LinearFit& fit = report.fit;
  std::string out = "{\"file\":";
  publish::append_string(report.file, out);
  append_field("target", report.target, out);
  append_field("model", "linear", out);
  append_field("records", report.records, out);
  append_field("measured_records", report.records - fit.answer_records, out);
  publish::append_object("estimate", report.estimate, out);
  append_interval(report, out);
  append_field("hidden_directions", std::uint64_t{fit.floored}, out);
  append_field("usable", fit.usable, out);
  out += ",\"left_out\":[";
  for (std::size_t j = 0; j < report.dropped.size(); ++j) {
    if (j > 0) out += ',';
    publish::append_string(report.dropped[j], out);
  }
  out += ']';
  append_field("bound_inputs", fit.bounds.inputs, out);
  append_field("bound_residuals", fit.bounds.residuals, out);
  append_field("rho", report.rho, out);
  console::append_spends(report.epsilons, report.total_rho, report.total_epsilons, out);
  append_field("fits", std::uint64_t{report.fits}, out);
  append_field("digest", report.digest, out);
  publish::append_promise(promise_of(report), out);
  append_field("folder", report.folder, out);
  if (!report.key_file.empty()) append_field("key", report.key_file, out);
  return out + "}\n";
}

std::string to_config(const Columns& columns, const Report& report) {
  const ranges::LinearFit& fit = report.fit;
  const config::InputSettings& input = columns.input;
  std::string out = fmt::format(
      "# The ranges that a fit of {0} measured privately, at rho = {1}. What this file says is spent.\n"
      "# WARNING: a run of it over the same records is a second spend, in a ledger of its own: it adds to rho = "
      "{1}.\n"
      "\n[stream]\nname = \"fit\"\ninput = {2}\nformat = \"{3}\"\n",
      in_quotes(report.target), report.rho, in_quotes(input.files.front()),
      input.format == config::Format::csv ? "csv" : "jsonl");
  if (input.format == config::Format::csv) out += fmt::format("delimiter = {}\n", in_quotes({input.delimiter}));
  for (std::size_t j = 0; j < fit.features.size(); ++j) {
    out += "\n[[features]]\n" + term_in_toml(columns.features[fit.features[j]], fit.placements[j]);
  }
  out += "\n[target]\n" + term_in_toml(columns.target, fit.placements.back());
  // Columns are placed, so that eigenvalues of E[xxᵀ] are about 1: some hundred forgetting times over the file.
  const double step_size =
      std::min(1 / (fit.pilot.inputs * fit.pilot.inputs), 100 / static_cast<double>(report.records));
  out += fmt::format(
      "\n[model]\nloss = \"linear\"\nintercept = true\n\n[descent]\nstep_size = {0}\nclip_norm = {1}\naverage = "
      "\"tail\"\n"
      "average_from = {2}\n\n[privacy]\nrho = {3}\ndelta = {4}\nadjacency = \"{5}\"\n\n[noise]\nnu = {0}\n"
      "\n[release]\nevery = {6}\n\n[state]\ndirectory = {7}\n",
      step_size, fit.pilot.inputs * fit.pilot.residuals, report.records / 2, report.rho, report.delta,
      report.adjacency, std::max<std::uint64_t>(1, report.records / 100), in_quotes(report.file + ".runs"));
  return out;
}

}  // namespace nustream::fit
