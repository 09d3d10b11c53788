// The report of a fit as an HTML page, and its slopes as a picture. The fit is shown as a lane of one step, so that
// the parts of the page are those of a stream's page (serve/page.h, report/).
#include "fit/report.h"

#include <cmath>

#include <fmt/format.h>

#include "chart/rows.h"
#include "nustream/base/error.h"
#include "publish/release_json.h"
#include "report/document.h"
#include "serve/page_parts.h"
#include "shell_word.h"

namespace nustream::fit {
namespace {

using serve::page::count;
using serve::page::data;

/// The options that say how the file's lines are read, as they were typed.
std::string layout_of(const Options& options) {
  std::string layout;
  if (!options.layout.format.empty()) layout += " --format " + in_shell(options.layout.format);
  if (!options.layout.delimiter.empty()) layout += " --delimiter " + in_shell(options.layout.delimiter);
  if (!options.layout.decimal.empty()) layout += " --decimal " + in_shell(options.layout.decimal);
  if (options.layout.skip_lines > 0) layout += fmt::format(" --skip-lines {}", options.layout.skip_lines);
  if (!options.layout.comment.empty()) layout += " --comment " + in_shell(options.layout.comment);
  for (const std::string& names : options.layout.columns) layout += " --columns " + in_shell(names);
  return layout;
}

/// The options on how much a record counts, as they were typed.
std::string weights_of(const Options& options) {
  std::string weights;
  if (!options.weight.empty()) {
    weights += fmt::format(" --weight {} --weight-bound {}", in_shell(options.weight), options.weight_bound);
  }
  const Exposure& exposure = options.exposure;
  if (!exposure.column.empty()) weights += " --exposure " + in_shell(exposure.column);
  if (!exposure.offset.empty()) weights += " --offset " + in_shell(exposure.offset);
  if (exposure.bound > 0) weights += fmt::format(" --exposure-bound {}", exposure.bound);
  return weights;
}

/// The command that was typed, without the options that name further files or the form of the output.
std::string command_of(const Options& options) {
  std::string command = fmt::format("nustream fit {} --target {}", in_shell(options.file), in_shell(options.target));
  for (const std::string& list : options.features) command += " --features " + in_shell(list);
  if (options.hash_buckets > 0) command += fmt::format(" --hash {}", options.hash_buckets);
  for (const std::string& entry : options.bins) command += " --bins " + in_shell(entry);
  for (const std::string& list : options.others) command += " --other " + in_shell(list);
  if (options.mean) command += " --mean";
  if (options.likelihood) {
    command += *options.likelihood == ranges::Likelihood::logistic ? " --logistic" : " --poisson";
  }
  command += weights_of(options);
  command += fmt::format(" --rho {}", options.rho);
  for (std::size_t i = 0; i < options.deltas.size(); ++i) {
    command += fmt::format("{}{}", i == 0 ? " --delta " : ",", options.deltas[i]);
  }
  if (options.budget) command += fmt::format(" --budget {}", *options.budget);
  if (options.replace_one) command += " --replace-one";
  command += layout_of(options);
  if (options.insecure_seed) command += fmt::format(" --insecure-seed {}", *options.insecure_seed);
  return command;
}

std::string subject_of(const Report& report) {
  const std::string& exposure = report.exposure.column;
  return fmt::format("{} of {}{}{}, of one file, without a configuration: what its columns reach was measured too.",
                     is_target_mean(report)       ? "Mean"
                     : is_linear(report)          ? "Least squares"
                     : report.model == "logistic" ? "Logistic regression"
                                                  : "Poisson regression",
                     report.target, exposure.empty() ? "" : " over " + exposure,
                     report.weight.empty() ? "" : ", weighted by " + report.weight);
}

/// The fit as a lane of one step, because the folder keeps it in that form.
serve::ShownLane lane_of(const Report& report) {
  std::string line = release_line(report);
  // The release is a line with its newline, and the reader takes it without.
  line.pop_back();
  std::optional<publish::ShownRelease> release = publish::read_release(line);
  NUSTREAM_REQUIRE(release.has_value(), "a fit's release is one that can be read");
  // The page then says that the model was solved from sums: there is no iterate.
  release->sums.records = report.records;
  publish::ReleaseHeader header{.stream = report.target,
                                .lane = LaneId{0},
                                .epoch = report.epoch,
                                .delta = Delta{report.epsilons.front().delta},
                                .settings_digest = report.digest,
                                .promise = release->promise};
  // A fit has no multiplier and no sensitivity of a stream. The 1 stands where the page reads neither.
  serve::PublicLane settings{.header = std::move(header),
                             .rho_limit = Rho{report.rho},
                             .noise_multiplier = NoiseMultiplier{1},
                             .sensitivity = Sensitivity{1},
                             .budget = {},
                             .release_every = StepCount{1}};
  serve::ShownLane lane{.settings = std::move(settings), .history = serve::History(StepCount{1})};
  lane.steps = StepCount{1};
  lane.rho = Rho{report.rho};
  lane.total = Rho{report.total_rho};
  lane.epsilons = report.epsilons;
  lane.epsilons_ledger = report.total_epsilons;
  lane.release = std::move(release);
  return lane;
}

/// How large the noise in each coefficient is that is determined; empty where none is.
std::string noise_sentence(const Report& report) {
  std::string sizes;
  for (std::size_t j = 0; j < report.estimate.size(); ++j) {
    if (!is_determined(report, j)) continue;
    sizes += fmt::format("{}{:.3g} ({})", sizes.empty() ? "" : ", ", report.fit.noise_stddevs[j],
                         report.estimate[j].first);
  }
  if (sizes.empty()) return {};
  return fmt::format("What privacy adds to each coefficient{} has a standard deviation of {}.",
                     report.fit.undetermined.empty() ? "" : " that is determined", sizes);
}

void append_summary(const Report& report, std::string& out) {
  out += "<section aria-label=\"Summary\"><p class=\"what\">" + chart::escaped(subject_of(report)) +
         "</p><dl class=\"facts big\">";
  serve::page::append_fact("Records", count(report.records), out);
  serve::page::append_fact("Of them for the ranges", count(report.records - report.fit.answer_records), out);
  serve::page::append_fact("Usable rows", usable_share(report.fit), out);
  // Under an insecure seed there is no promise that a number could be given for.
  if (report.is_private) {
    serve::page::append_fact("A guess about one is right at most",
                             serve::page::times_in_hundred(serve::page::right_guesses(report.total_rho)), out);
  }
  out += "</dl>";
  if (report.interval.empty()) {
    out += "<p class=\"alarm\">" + chart::escaped(why_no_interval(report)) + "</p>";
    if (shows_noise(report)) out += "<p>" + chart::escaped(noise_sentence(report)) + "</p>";
  }
  out += "</section>\n";
}

/// The names of the model's columns and then of the target, in the order of fit.placements.
std::vector<std::string> names_of(const Report& report) {
  std::vector<std::string> names;
  for (std::size_t j = 1; j < report.estimate.size(); ++j) names.push_back(report.estimate[j].first);
  names.push_back(report.target);
  return names;
}

/// The ranges that the fit measured and then used. They are noisy, and part of what was paid for.
void append_measured(const Columns& columns, const Report& report, std::string& out) {
  const ranges::TableFit& fit = report.fit;
  std::string html =
      "<p>Everything here is noisy, and paid for by this fit. Center and scale place a column about 0 in units of "
      "about 1; a row that is longer, or whose residual is larger, than the bounds counts with less weight.</p>"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of ranges\"><table><thead><tr>"
      "<th scope=\"col\">Column</th><th scope=\"col\">Center</th><th scope=\"col\">Scale</th><th "
      "scope=\"col\">Usable "
      "values</th></tr></thead><tbody>\n";
  const std::vector<std::string> names = names_of(report);
  for (std::size_t j = 0; j < fit.placements.size() && j < names.size(); ++j) {
    // Placements are of the model's columns, shares of all columns of the file. The target comes last in both.
    const std::size_t column = j < fit.features.size() ? fit.features[j] : columns.features.size();
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", chart::escaped(names[j]),
        data(fit.placements[j].centre), data(fit.placements[j].scale),
        column < fit.shares.size() ? fmt::format("{:.0f}%", 100 * std::clamp(fit.shares[column], 0.0, 1.0)) : "–");
  }
  html += "</tbody></table></div><dl class=\"facts\">";
  serve::page::append_fact("Bound on the length of a row, features uncorrelated and of size 1",
                           data(fit.bounds.inputs), html);
  serve::page::append_fact(fmt::format("Bound on a residual, units of the {}", residual_unit(report)),
                           data(residual_bound(report)), html);
  if (!report.dropped.empty()) {
    serve::page::append_fact("Left out: less than half as many numbers as the target has, about",
                             chart::escaped(left_out(report)), html);
  }
  html += "</dl>";
  out += report::section("measured", "Ranges that were measured", html);
}

void append_again(const Options& options, const Columns& columns, const Report& report, std::string& out) {
  if (!why_no_config(columns).empty()) {
    out += report::section(
        "again", "The same again",
        fmt::format("<p>By <code>{}</code>. Each fit is a spend of its own, and adds. No settings of <code>nustream "
                    "estimate</code> and <code>nustream replay</code> are of this model.</p>",
                    chart::escaped(command_of(options))));
    return;
  }
  // Paths of keys are left out: they are nobody's business but the operator's.
  StatePlaces places;
  if (!options.output.write_config.empty()) places.state = runs_of(options.output.write_config);
  out += report::section(
      "again", "The same again",
      fmt::format("<p>By <code>{}</code>. Each fit is a spend of its own, and adds.</p><p>What "
                  "<code>--write-config</code> writes, for <code>nustream estimate</code> and <code>nustream "
                  "replay</code>:</p>{}",
                  chart::escaped(command_of(options)),
                  report::copied("Settings", to_config(columns, report, places))));
}

}  // namespace

std::string page(const Options& options, const Columns& columns, const Report& report) {
  const serve::ShownLane lane = lane_of(report);
  std::string out;
  append_summary(report, out);
  serve::page::append_coefficients({.stream = report.target, .lanes = {&lane}, .is_file = true}, lane, out);
  serve::page::append_privacy(lane, out);
  append_measured(columns, report, out);
  append_again(options, columns, report, out);
  return report::document({report.target, std::move(out)});
}

std::string chart_file(const Report& report) {
  const ranges::TableFit& fit = report.fit;
  // A logit or a logarithm has no unit to be divided by.
  const double unit = is_linear(report) && !fit.placements.empty() ? fit.placements.back().scale : 1;
  chart::RowGroup group;
  for (std::size_t j = 1; j < report.estimate.size(); ++j) {
    if (!is_determined(report, j)) continue;
    const double by = fit.placements[j - 1].scale / unit;
    chart::Row row{.label = report.estimate[j].first, .value = report.estimate[j].second * by};
    if (!report.interval.empty()) {
      row.low = report.interval[j].first * by;
      row.high = report.interval[j].second * by;
    }
    group.rows.push_back(std::move(row));
  }
  return chart::svg_file(
      {.title = fmt::format("{}: slopes", report.target),
       .summary = fmt::format("{} slopes, each for one scale of its column.", group.rows.size()),
       .axis = {is_linear(report) ? "for one scale of the column, in scales of the target; bar: 95% interval"
                                  : "for one scale of the column; bar: 95% interval"},
       .groups = {std::move(group)},
       .mark = 0.0,
       .width = 720});
}

}  // namespace nustream::fit
