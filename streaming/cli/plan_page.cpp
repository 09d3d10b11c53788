// The page of plan --report: sections with figures from plan_curves.cpp, in the frame of report/document.h. All cells
// of the grid stand in the page, and all but one are hidden; the page's script shows another one when a slider is
// moved. Without script, the middle one is shown.
#include "cli/plan_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "chart/rows.h"
#include "cli/plan_assets.h"
#include "console/report_parts.h"
#include "engine/release_encoder.h"
#include "engine/subject.h"
#include "nustream/privacy/epsilon.h"
#include "publish/promise.h"
#include "report/document.h"
#include "report/report.h"
#include "serve/page_parts.h"
#include "shell_word.h"

namespace nustream::cli {
namespace {

using serve::page::append_fact;
using serve::page::count;
using serve::page::data;
using serve::page::shown;

/// ρ and what it comes to at δ, short enough for a slider's label.
std::string with_epsilon(double rho, Delta delta) {
  return fmt::format("ρ {}, ε {} at δ {:g}", shown(rho), shown(privacy::epsilon(Rho{rho}, delta).value()),
                     delta.value());
}

/// What limits of users let be estimated, in words.
std::string estimand_of(const config::Config& config) {
  return publish::estimand_words(*config.descent.users);
}

/// Appends what the plan is of, what it promises, and the figures that hold at every number of records.
void append_summary(const config::Config& config, const config::Mechanism& mechanism, Rho limit, std::string& out) {
  out += "<section aria-label=\"Summary\"><p class=\"what\">" + chart::escaped(engine::subject_of(config)) +
         " What a budget buys, before any data is read.</p><dl class=\"facts\">";
  append_fact("Promise", chart::escaped(console::protected_unit(engine::promise_of(config, true))), out);
  if (config.users) append_fact("What is estimated", chart::escaped(estimand_of(config)), out);
  append_fact("Correlation", chart::escaped(config::correlation_name(config, mechanism.main().correlation)), out);
  append_fact("Never spends more than", with_epsilon(limit.value(), config.privacy.delta), out);
  append_fact("Noise multiplier σ", data(mechanism.main().sigma.value()), out);
  append_fact("Sensitivity γ in the limit", data(mechanism.main().sensitivity.value()), out);
  append_fact("Steps", mechanism.horizon() ? "at most " + count(mechanism.horizon()->value()) : "without an end",
              out);
  out += "</dl>";
  const std::vector<serve::page::Converted> rows{
      {"never spends more than", publish::epsilons_of(limit, config.privacy.deltas())}};
  serve::page::append_conversions(rows, out);
  out += "</section>\n";
}

/// A slider that begins at the settings. Its label has a mark such as @rho@, in whose place controls() puts the
/// values.
std::string slider(const char* id, std::string_view label, std::size_t positions, std::size_t as_set) {
  return fmt::format(
      "<label for=\"{0}\">{1}: <output for=\"{0}\">@{0}@</output><input type=\"range\" id=\"{0}\" min=\"0\" "
      "max=\"{2}\" value=\"{3}\"></label>",
      id, label, positions - 1, as_set);
}

/// The attribute that hides an element at first.
const char* hidden_unless(bool is_shown) {
  return is_shown ? "" : " hidden";
}

/// `text` with the first `mark` in it replaced; the text itself where there is none.
std::string replaced(std::string text, const std::string& mark, const std::string& by) {
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? text : text.replace(at, mark.size(), by);
}

/// The two sliders with the texts of all their positions. The element is hidden until the script shows it, since
/// sliders do nothing without it.
std::string controls(const config::Config& config, const PlanCurves& curves) {
  std::string rhos;
  for (std::size_t i = 0; i < curves.rhos.size(); ++i) {
    rhos += fmt::format("<span data-rho=\"{}\"{}>{}</span>", i, hidden_unless(i == curves.rho_as_set()),
                        with_epsilon(curves.rhos[i], config.privacy.delta));
  }
  std::string counts;
  for (std::size_t j = 0; j < curves.counts.size(); ++j) {
    counts += fmt::format("<span data-records=\"{}\"{}>{}</span>", j, hidden_unless(j == curves.count_as_set()),
                          count(curves.counts[j]));
  }
  const std::string sliders =
      slider("rho", "Budget", curves.rhos.size(), curves.rho_as_set()) +
      slider("records", curves.counted == "steps" ? "Steps" : "Records", curves.counts.size(), curves.count_as_set());
  return "<div id=\"controls\" class=\"controls\" hidden>" +
         replaced(replaced(sliders, "@rho@", rhos), "@records@", counts) + "</div>\n";
}

/// The rows of one cell of the grid. The least of the known errors is marked.
std::string rows_of(const std::vector<ErrorOf>& errors, bool with_causes) {
  double least = std::numeric_limits<double>::infinity();
  for (const ErrorOf& error : errors) {
    // NaN is never less, so that an unknown error is never marked as the least.
    if (error.all < least) least = error.all;
  }
  std::string out;
  for (const ErrorOf& error : errors) {
    out += fmt::format("<tr{}><th scope=\"row\">{}</th><td>{}</td>", error.all == least ? " class=\"least\"" : "",
                       chart::escaped(error.name), data(error.all));
    if (with_causes) {
      out +=
          fmt::format("<td>{}</td><td>{}</td><td>{}</td><td class=\"text\"><code>{}</code></td>", data(error.start),
                      data(error.sampling), data(error.privacy), chart::escaped(error.settings));
    }
    out += "</tr>\n";
  }
  if (errors.empty()) out += fmt::format("<tr><td colspan=\"{}\">not known here</td></tr>", with_causes ? 6 : 2);
  return out;
}

/// The errors of all cells, each in a <tbody> of its own, of which one is shown.
std::string table_of_errors(const PlanCurves& curves) {
  const std::vector<ErrorOf>& middle = curves.errors[curves.rho_as_set()][curves.count_as_set()];
  // Without guesses, no error has causes, and the columns for them would be empty in all cells.
  const bool with_causes = std::ranges::any_of(middle, [](const ErrorOf& each) { return std::isfinite(each.start); });
  std::string out =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of estimators\"><table "
      "id=\"errors\"><thead><tr><th scope=\"col\">Estimator</th><th scope=\"col\">Error</th>";
  if (with_causes) {
    out +=
        "<th scope=\"col\">Start</th><th scope=\"col\">Sampling</th><th scope=\"col\">Privacy</th><th "
        "scope=\"col\" class=\"text\">Best settings</th>";
  }
  out += "</tr></thead>";
  for (std::size_t i = 0; i < curves.rhos.size(); ++i) {
    for (std::size_t j = 0; j < curves.counts.size(); ++j) {
      const bool is_shown = i == curves.rho_as_set() && j == curves.count_as_set();
      out += fmt::format("<tbody data-rho=\"{}\" data-records=\"{}\"{}>{}</tbody>", i, j, hidden_unless(is_shown),
                         rows_of(curves.errors[i][j], with_causes));
    }
  }
  return out + "</table></div>\n";
}

/// A drawing with its title above it and its keys below.
std::string figure(const std::string& title, const std::string& drawing, const std::string& keys) {
  return fmt::format("<figure class=\"card\"><figcaption><h3>{}</h3></figcaption>{}{}</figure>\n",
                     chart::escaped(title), drawing, keys);
}

/// The figure of the excess over ν, at the ρ of the settings.
std::string figure_of_nus(const PlanCurves& curves) {
  if (curves.by_nu.empty()) return {};
  return figure("What the noise leaves, over ν, as budgeted: excess of the loss", chart::svg(nu_chart(curves), "nu"),
                chart::legend(curves.by_nu));
}

/// Appends the section of predicted errors: sliders, charts by budget, and the table. Where the middle cell is empty,
/// no error is predicted, and the section says why.
void append_errors(const config::Config& config, const PlanCurves& curves, std::string& out) {
  if (curves.errors.empty() || curves.errors[curves.rho_as_set()][curves.count_as_set()].empty()) {
    out +=
        report::section("error", "Predicted error", "<p>No prediction: " + chart::escaped(curves.why_none) + ".</p>");
    return;
  }
  std::string charts;
  for (std::size_t i = 0; i < curves.rhos.size(); ++i) {
    const chart::Chart chart = error_chart(curves, i);
    charts += fmt::format("<div data-rho=\"{}\"{}>{}{}</div>", i, hidden_unless(i == curves.rho_as_set()),
                          chart::svg(chart, fmt::format("e{}", i)), chart::legend(chart.layers));
  }
  out += report::section(
      "error", "Predicted error, estimators side by side",
      fmt::format("<p>Shown is {}: less is better. Axes are logarithmic.</p>{}<div class=\"cards wide\">{}{}</div>{}",
                  chart::escaped(curves.what), controls(config, curves), figure("Over " + curves.counted, charts, ""),
                  figure_of_nus(curves), table_of_errors(curves)));
}

/// Appends what the correlations spend and leave. They have the names of the charts' legends, such as "as set: …".
void append_correlations(const PlanCurves& curves, std::string& out) {
  std::string html = fmt::format(
      "<p>Every correlation here spends ρ {} on a {} in the end, neither more nor less.</p><div class=\"cards "
      "wide\">",
      shown(curves.rhos[curves.rho_as_set()]), curves.users ? "user" : "record");
  html += figure(spend_chart(curves).title + " (ρ)", chart::svg(spend_chart(curves), "spend"),
                 chart::legend(curves.spend));
  if (!curves.excess.empty()) {
    const chart::Rows rows{.title = "Excess of the loss by correlation",
                           .summary = "What the noise leaves under each correlation, at one rho.",
                           .axis = {.title = "excess of the loss, logarithmic", .logarithmic = true},
                           .groups = curves.excess,
                           .width = 380};
    html += figure("What the noise leaves, correlations side by side", chart::svg(rows, "excess"), "");
  }
  html += "</div>";
  // Correlations without a figure are named, so that nobody takes them for forgotten.
  if (!curves.left_out.empty()) {
    html += "<p class=\"legend\">No formula of the error: " + chart::escaped(curves.left_out) + ".</p>";
  }
  out += report::section("correlations", "Correlations side by side", html);
}

/// Appends the table of what was spent after so many steps, under the settings as they are.
void append_spend(const config::Config& config, const std::vector<privacy::SpendRow>& spend, std::string& out) {
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of the spend\"><table><caption>As "
      "set: "
      "what the {} that has cost most has spent, ε at δ {:g} by the exact curve of the Gaussian "
      "mechanism.</caption><thead><tr>"
      "<th scope=\"col\">Steps</th><th scope=\"col\">γ</th><th scope=\"col\">ρ</th><th "
      "scope=\"col\">ε</th></tr></thead><tbody>\n",
      config.users ? "user" : "record", config.privacy.delta.value());
  for (const privacy::SpendRow& row : spend) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        row.steps ? count(row.steps->value()) : "without an end", data(row.sensitivity.value()),
                        data(row.rho.value()), data(row.epsilon.value()));
  }
  out += report::section("spend", "Spend over steps", html + "</tbody></table></div>");
}

/// A share in percent, or a dash where guesses are missing.
std::string share_of(const std::optional<double>& kept) {
  return kept ? fmt::format("{:.1f}%", 100 * *kept) : "–";
}

/// Appends the limits of a user side by side, those of the settings first.
void append_limits(const UsersPlan& users, std::string& out) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of limits\"><table><caption>At one "
      "budget, " +
      chart::escaped(what_is_predicted) +
      "</caption><thead><tr><th "
      "scope=\"col\">Limits of a user</th><th scope=\"col\">Sensitivity</th><th scope=\"col\">Noise of a "
      "step</th><th scope=\"col\">Kept</th><th scope=\"col\">Noise</th><th scope=\"col\">Limits</th><th "
      "scope=\"col\">Error</th></tr></thead><tbody>\n";
  for (const LimitsReach& one : users.reach) {
    const auto error = one.error();
    html += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        chart::escaped(publish::words_of(one.limits)), &one == users.reach.data() ? " (as set)" : "",
        data(one.sensitivity.value()), data(one.step_noise), share_of(one.kept),
        one.predicted ? data(*one.predicted) : "–", one.cost ? data(one.cost->root()) : "–",
        error ? data(*error) : "–");
  }
  html += "</tbody></table></div>\n";
  for (const std::string& sentence : users.advice) html += "<p>" + chart::escaped(sentence) + ".</p>\n";
  out += report::section("limits", "Limits of a user", html);
}

}  // namespace

std::string plan_command(const config::Config& config, const PlanArguments& arguments) {
  // Such as "nustream plan stream.toml --set privacy.rho=0.1 --records 100000".
  std::string command = "nustream plan " + in_shell(config.file);
  for (const std::string& text : arguments.config.overrides) command += " --set " + in_shell(text);
  // Options with their default values are left out, so that the command stays short.
  if (arguments.passes > 1) command += fmt::format(" --passes {}", arguments.passes);
  if (arguments.records > 0) command += fmt::format(" --records {}", arguments.records);
  return command;
}

std::string plan_page(const config::Config& config, const config::Mechanism& mechanism, Rho limit,
                      const std::vector<privacy::SpendRow>& spend, const PlanCurves& curves,
                      const std::string& command) {
  std::string out;
  append_summary(config, mechanism, limit, out);
  append_errors(config, curves, out);
  if (curves.users) append_limits(*curves.users, out);
  if (!curves.spend.empty()) append_correlations(curves, out);
  if (!spend.empty()) append_spend(config, spend, out);
  // The command and the settings, so that a reader can make the page again.
  out += report::same_again(command, report::settings_of(config.file, config.overrides));
  return report::document({config.stream, std::move(out), plan_script});
}

}  // namespace nustream::cli
