// The finding as a page and as a picture: the summary, for each pair of worlds a table and bars of what is claimed,
// proven and provable, and the command to repeat it. Everything shown comes from the finding and the settings.
#include "audit/audit.h"

#include <cctype>
#include <tuple>

#include <fmt/format.h>

#include "audit/finding.h"
#include "chart/rows.h"
#include "console/report_parts.h"
#include "engine/release_encoder.h"
#include "engine/subject.h"
#include "report/document.h"
#include "report/report.h"
#include "serve/page_parts.h"
#include "shell_word.h"

namespace nustream::audit {
namespace {

using serve::page::append_fact;
using serve::page::count;
using serve::page::data;

/// Only what differs from the defaults, apart from --steps and --delta, on which every figure depends.
std::string command_of(const config::Config& config, const Options& options) {
  std::string command = "nustream audit " + in_shell(config.file);
  for (const std::string& text : config.overrides) command += " --set " + in_shell(text);
  command += fmt::format(" --steps {}", options.steps);
  if (options.at_random) command += " --at random";
  if (options.at) command += fmt::format(" --at {}", *options.at);
  if (options.along_axis) command += " --along-axis";
  if (options.passes > 1) command += fmt::format(" --passes {}", options.passes);
  if (options.records) command += fmt::format(" --records {}", *options.records);
  if (options.runs) command += fmt::format(" --runs {}", *options.runs);
  return command + fmt::format(" --delta {:g}", options.delta);
}

/// The bars of one pair of worlds. Nothing that is proven may pass what is claimed.
chart::RowGroup group_of(std::string heading, double claimed, double proven, double provable) {
  const auto row = [](const char* label, double value, unsigned hue) {
    return chart::Row{.label = label, .value = value, .low = 0, .high = value, .hue = hue};
  };
  return {std::move(heading),
          {row("claimed", claimed, 0), row("proven, at least", proven, 1),
           row("the most that so many games can prove", provable, 5)}};
}

chart::Rows epsilon_rows(const Bounds& bounds, double delta) {
  return {.title = "epsilon: claimed and proven",
          .summary = fmt::format("Of epsilon {:.4g} that is claimed, {:.4g} was proven.", bounds.epsilon,
                                 bounds.epsilon_bound),
          .axis = {.title = fmt::format("epsilon at delta {:g}", delta), .from_zero = true},
          .groups = {group_of("", bounds.epsilon, bounds.epsilon_bound, bounds.epsilon_provable)},
          .mark = bounds.epsilon};
}

chart::Rows mu_rows(const Bounds& bounds) {
  return {.title = "mu: claimed and proven",
          .summary = fmt::format("Of mu {:.4g} that is claimed, {:.4g} was proven.", bounds.mu, bounds.mu_bound),
          .axis = {.title = "mu of the Gaussian curve, by all deltas", .from_zero = true},
          .groups = {group_of("", bounds.mu, bounds.mu_bound, bounds.mu_provable)},
          .mark = bounds.mu};
}

/// The table and the bars of one pair of worlds. `id` keeps the pictures of two pairs apart on one page.
void append_bounds(const Bounds& bounds, double delta, const std::string& id, std::string& out) {
  out += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of bounds {}\"><table><thead><tr><th "
      "scope=\"col\">Bound</th><th scope=\"col\">Claimed</th><th scope=\"col\">Proven</th><th scope=\"col\">The most "
      "that could be proven</th></tr></thead><tbody>",
      id);
  for (const auto& [name, claimed, proven, provable] :
       {std::tuple{fmt::format("ε at δ {:g}", delta), bounds.epsilon, bounds.epsilon_bound, bounds.epsilon_provable},
        std::tuple{std::string("μ"), bounds.mu, bounds.mu_bound, bounds.mu_provable}}) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>", name, data(claimed),
                       data(proven), data(provable));
  }
  out += "</tbody></table></div><div class=\"cards\"><figure class=\"card\"><figcaption><h3>ε</h3></figcaption>" +
         chart::svg(epsilon_rows(bounds, delta), id + "e") +
         "</figure><figure class=\"card\"><figcaption><h3>μ</h3></figcaption>" +
         chart::svg(mu_rows(bounds), id + "m") +
         "</figure></div>\n<p class=\"legend\">Dashed: what is claimed, which nothing that is proven may pass.</p>";
  out += "<dl class=\"facts\">";
  append_fact("Games in each of two worlds", count(bounds.runs), out);
  append_fact("ρ that is claimed", data(bounds.rho), out);
  for (const auto& [stage, share] : bounds.moved) {
    append_fact("Of the claim, how much of the " + chart::escaped(stage) + " the record moved",
                fmt::format("{:.3g}%", 100 * share), out);
  }
  out += "</dl>\n";
}

void append_summary(const config::Config& config, const Finding& finding, std::string& out) {
  const bool holds = finding.verdict() == Verdict::holds;
  std::string verdict = verdict_text(finding);
  while (verdict.ends_with('\n')) verdict.pop_back();
  verdict.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(verdict.front())));
  out += fmt::format(
      "<section aria-label=\"Summary\"><p class=\"what\">{}</p><p class=\"{}\">{}</p><dl class=\"facts\">",
      chart::escaped(engine::subject_of(config)), holds ? "words" : "alarm", chart::escaped(verdict));
  append_fact("Promise", chart::escaped(console::protected_unit(engine::promise_of(config, true))), out);
  append_fact("Steps of a game, every one released", count(finding.steps), out);
  append_fact("Step of the record, from 0", count(finding.at), out);
  append_fact("Confidence of each bound", fmt::format("{:g}%, Clopper-Pearson", 100 * finding.confidence.level), out);
  append_fact("ρ that the settings ask for, over the stream's whole life", data(finding.rho_asked), out);
  append_fact("ρ that the mechanism costs over that life", data(finding.rho_limit), out);
  out += "</dl></section>\n";
}

}  // namespace

std::string page(const config::Config& config, const Options& options, const Finding& finding) {
  std::string out;
  append_summary(config, finding, out);
  // Otherwise no game was played, and there is nothing to compare.
  if (finding.is_within_budget()) {
    std::string bounds;
    append_bounds(finding, options.delta, "w", bounds);
    if (finding.against_nothing) {
      bounds += "<h3>With nothing in the record's place</h3>";
      append_bounds(*finding.against_nothing, options.delta, "n", bounds);
    }
    out += report::section("bounds", "Claimed and proven", bounds);
  }
  out += report::same_again(command_of(config, options), report::settings_of(config.file, config.overrides),
                            "<p>Keys are fresh in every game, so that figures differ a little.</p>");
  return report::document({config.stream, std::move(out)});
}

std::string chart_file(const config::Config& config, const Options& options, const Finding& finding) {
  chart::Rows rows{
      .title = config.stream + ": claimed and proven",
      .summary = epsilon_rows(finding, options.delta).summary + ' ' + mu_rows(finding).summary,
      .axis = {.title = {}, .from_zero = true},
      .groups = {group_of(fmt::format("epsilon at delta {:g}", options.delta), finding.epsilon, finding.epsilon_bound,
                          finding.epsilon_provable),
                 group_of("mu of the Gaussian curve", finding.mu, finding.mu_bound, finding.mu_provable)},
      .width = 720};
  return chart::svg_file(rows);
}

}  // namespace nustream::audit
