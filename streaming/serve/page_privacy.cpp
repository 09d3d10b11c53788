// The section on privacy of the status page.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/chart.h"
#include "nustream/privacy/epsilon.h"
#include "serve/page_parts.h"

namespace nustream::serve::page {
namespace {

/// Who is protected, and which two worlds cannot be distinguished.
struct Neighbours {
  std::string unit;    ///< such as "one record"
  std::string worlds;  ///< such as "held what it held, or nothing at all"
};

/// The promise in words. Users are asked first, since a promise about users has no other unit.
Neighbours neighbours_of(const publish::Promise& promise) {
  const bool replaced = promise.adjacency == "replace-one";
  if (promise.user) {
    return {fmt::format("one {}{} ({})", promise.user->column, publish::within_words(promise.user->limits),
                        publish::words_of(promise.user->limits)),
            replaced ? "sent what they sent or anything else" : "sent what they sent or nothing at all"};
  }
  if (promise.target_only) {
    return {"the target of one record",
            replaced ? "was what it was or any other" : "was what it was or nothing at all"};
  }
  return {"one record", replaced ? "held what it held or anything else" : "held what it held or nothing at all"};
}

/// The promise as a game of guessing, which needs neither ε nor δ: two worlds are equally likely, and somebody who
/// sees all releases guesses which of them is real.
std::string words_of(const ShownLane& lane) {
  Neighbours who = neighbours_of(lane.settings.header.promise);
  if (lane.settings.header.promise.trusts_framing) who.unit += " of a file whose records close their quotes";
  const double limit = lane.settings.rho_limit.value();
  return fmt::format(
      "<p class=\"words\">Whoever reads everything here, and knows all settings and all other data, cannot tell "
      "whether "
      "{} {} better than this: guessing between the two they are right at most <strong>{}</strong>, where a coin is "
      "right 50 times. However long this epoch runs, they are never right more than <strong>{}</strong>.</p>\n",
      chart::escaped(who.unit), chart::escaped(who.worlds), times_in_hundred(right_guesses(lane.total.value())),
      // The limit is of this epoch alone. Where earlier epochs have spent more than it, the total is the larger.
      times_in_hundred(right_guesses(std::max(limit, lane.total.value()))));
}

/// A bar from nothing to `most` that is filled to `spent`, with the same in words for a screen reader.
std::string gauge(double spent, double most, std::string_view what) {
  const double share = most > 0 ? std::clamp(spent / most, 0.0, 1.0) : 0;
  return fmt::format(
      "<svg class=\"gauge\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{:.1f}% of "
      "{}\"><rect class=\"all\" width=\"100\" height=\"4\"/><rect class=\"part\" width=\"{:.2f}\" "
      "height=\"4\"/></svg>",
      100 * share, what, 100 * share);
}

/// ρ and what it comes to at δ, by the exact curve of the Gaussian mechanism.
std::string with_epsilon(Rho rho, Delta delta) {
  return fmt::format("ρ {}, ε {} at δ {:g} ({})", data(rho.value()), data(privacy::epsilon(rho, delta).value()),
                     delta.value(), privacy::name(privacy::Conversion::gaussian));
}

/// What is spent, as numbers and as bars. All of it follows from step counts and settings.
void append_gauges(const ShownLane& lane, std::string& out) {
  const publish::ReleaseHeader& header = lane.settings.header;
  out += "<dl class=\"facts\">";
  append_fact("Spent in this epoch, by the worst case so far",
              with_epsilon(lane.rho, header.delta) +
                  gauge(lane.rho.value(), lane.settings.rho_limit.value(), "what this epoch can ever spend"),
              out);
  append_fact("What this epoch can ever spend", with_epsilon(lane.settings.rho_limit, header.delta), out);
  append_fact("Spent over all epochs in the ledger", with_epsilon(lane.total, header.delta), out);
  if (lane.settings.budget) {
    append_fact("Budget: the lane stops before it is crossed",
                with_epsilon(*lane.settings.budget, header.delta) +
                    gauge(lane.total.value(), lane.settings.budget->value(), "the budget"),
                out);
  }
  out += "</dl>\n";
}

/// ε of what this epoch has spent and can spend, and of all epochs, at every δ of the settings.
void append_all_conversions(const ShownLane& lane, std::string& out) {
  const std::vector<Delta> deltas = lane.settings.header.deltas();
  std::vector<Converted> rows{
      {"spent in this epoch", publish::epsilons_of(lane.rho, deltas)},
      {"what this epoch can ever spend", publish::epsilons_of(lane.settings.rho_limit, deltas)},
      {"spent over all epochs", publish::epsilons_of(lane.total, deltas)}};
  if (lane.settings.budget) rows.push_back({"the budget", publish::epsilons_of(*lane.settings.budget, deltas)});
  append_conversions(rows, out);
}

/// Draws what a record has cost by its age in steps. It follows from settings alone.
void append_ages(const ShownLane& lane, std::string& out) {
  // One age makes no curve; none is known where records take part several times.
  if (lane.spend_by_age.size() < 2) return;
  chart::Layer spent{"ρ", chart::Mark::line, {}};
  for (const auto& [age, rho] : lane.spend_by_age) spent.points.push_back({static_cast<double>(age), rho, 0});
  const auto& [oldest, most] = lane.spend_by_age.back();
  const std::string summary = fmt::format("From ρ {:.3g} in its own step to {:.3g} after {} steps.",
                                          lane.spend_by_age.front().second, most, count(oldest));
  const chart::Chart chart{.title = "What a record has spent, by its age",
                           .summary = summary,
                           .x = {"steps since the record came", false, true},
                           .y = {"ρ", true},
                           .layers = {std::move(spent)}};
  out += "<figure class=\"card\" id=\"ages\"><figcaption><h3>What a record has spent, by its age (ρ)</h3><p>" +
         summary + "</p></figcaption>" + chart::svg(chart, "age") + "</figure>\n";
}

}  // namespace

// With two equally likely worlds, which differ by √(2ρ) standard deviations of the noise, the best guess is right
// with probability Φ(√(2ρ)/2), and Φ(x) is erfc(−x/√2)/2.
double right_guesses(double rho) {
  return 0.5 * std::erfc(-std::sqrt(2 * rho) / 2 / std::sqrt(2.0));
}

std::string times_in_hundred(double share) {
  // Rounded up to a tenth, so that the page never promises more than is true. The 1e-9 keeps a share that is exactly
  // a tenth from being raised by its rounding error.
  const double times = std::ceil(share * 1000 - 1e-9) / 10;
  // For example a share of 0.5987, which is that of ρ = 0.125, becomes "59.9 times in 100".
  return times >= 99.95 ? "practically always" : fmt::format("{:.1f} times in 100", times);
}

void append_conversions(std::span<const Converted> rows, std::string& out) {
  out +=
      "<details id=\"conversions\"><summary>ε by every conversion</summary><div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" aria-label=\"Table of ε\"><table><thead><tr><th scope=\"col\">Of</th><th scope=\"col\">δ</th>";
  // The columns are the conversions, in the order in which Epsilons::by has them.
  for (const privacy::Conversion conversion : privacy::conversions) {
    out += fmt::format("<th scope=\"col\">{}</th>", privacy::name(conversion));
  }
  out += "</tr></thead><tbody>";
  for (const Converted& row : rows) {
    for (const publish::Epsilons& at : row.epsilons) {
      out += fmt::format("<tr><th scope=\"row\">{}</th><td>{:g}</td>", row.what, at.delta);
      for (const double epsilon : at.by) out += "<td>" + data(epsilon) + "</td>";
      out += "</tr>";
    }
  }
  out +=
      "</tbody></table></div><p><code>gaussian</code> is the exact curve of the Gaussian mechanism, which is what "
      "runs "
      "here and what the page quotes; <code>zcdp</code> and <code>zcdp-simple</code> are what any mechanism of this "
      "ρ "
      "keeps.</p></details>\n";
}

void append_privacy(const ShownLane& lane, std::string& out) {
  out += "<section id=\"privacy\" aria-labelledby=\"privacy-h\"><h2 id=\"privacy-h\">Privacy</h2>\n";
  // Words of a promise would be false for noise that anybody can compute.
  if (lane.settings.header.promise.is_private) {
    out += words_of(lane);
  } else {
    out +=
        "<p class=\"alarm\">These figures promise nothing: the noise comes from a seed that is known, or answers "
        "that "
        "are not private were shown beside it. Show them to nobody who must not learn about single records.</p>\n";
  }
  append_gauges(lane, out);
  append_all_conversions(lane, out);
  append_ages(lane, out);
  out += "</section>\n";
}

}  // namespace nustream::serve::page
