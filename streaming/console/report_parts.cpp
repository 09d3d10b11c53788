// Parts of the tables at the end of a run. They say in words what a release says in fields; publish/ has the
// sentences that pages and terminals share.
#include "console/report_parts.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "console/path_printer.h"
#include "console/terminal.h"
#include "publish/intervals.h"

namespace nustream::console {

namespace {

/// Whether a terminal has no room for `columns` columns of figures, each of 14 letters and a gap, beside the names.
bool is_too_narrow(std::FILE* out, std::size_t width, std::size_t columns) {
  return ::isatty(::fileno(out)) == 1 && style_of(out).columns < width + 16 * columns;
}

/// Prints each name on a line of its own and its figures below it.
void print_narrow(const publish::ShownRelease& release, const std::optional<ReportedIntervals>& intervals,
                  std::string_view note, std::FILE* out) {
  fmt::print(out, "estimate{}\n", note);
  const bool has_means = intervals && !intervals->means.empty();
  for (std::size_t j = 0; j < release.estimate.size(); ++j) {
    fmt::print(out, "{}\n  {:<10}{:>14}\n", release.estimate[j].first, "last",
               shown_number(release.estimate[j].second));
    if (!release.average.empty())
      fmt::print(out, "  {:<10}{:>14}\n", "averaged", shown_number(release.average[j].second));
    if (has_means) fmt::print(out, "  {:<10}{:>14}\n", "mean", shown_number(intervals->means[j]));
    if (!intervals) continue;
    fmt::print(out, "  {:<10}{:>14}\n", "lower", shown_number(intervals->bounds[j].first));
    fmt::print(out, "  {:<10}{:>14}\n", "upper", shown_number(intervals->bounds[j].second));
  }
}

}  // namespace

void print_estimates(const publish::ShownRelease& release, const std::optional<ReportedIntervals>& intervals,
                     std::string_view note, std::FILE* out) {
  std::size_t width = 8;
  for (const auto& [name, value] : release.estimate) width = std::max(width, chart::letters(name));
  const bool averaged = !release.average.empty();
  // The last value, and then the average, the two bounds and the intervals' mean, as far as there are any.
  const std::size_t figures =
      1 + std::size_t{averaged} + (intervals ? 2U : 0U) + std::size_t{intervals && !intervals->means.empty()};
  // A line that the terminal folds could not be read as a table.
  if (is_too_narrow(out, width, figures)) return print_narrow(release, intervals, note, out);
  // For example:
  //
  //     estimate                   last        averaged
  //     log(unit_price)         -0.1849         -0.5360
  fmt::print(out, "{:<{}}  {:>14}", "estimate", width, "last");
  if (averaged) fmt::print(out, "  {:>14}", "averaged");
  const bool has_means = intervals && !intervals->means.empty();
  if (has_means) fmt::print(out, "  {:>14}", "mean");
  if (intervals) fmt::print(out, "  {:>14}  {:>14}", "lower", "upper");
  fmt::print(out, "{}\n", note);
  for (std::size_t j = 0; j < release.estimate.size(); ++j) {
    fmt::print(out, "{:<{}}  {:>14}", release.estimate[j].first, width, shown_number(release.estimate[j].second));
    if (averaged) fmt::print(out, "  {:>14}", shown_number(release.average[j].second));
    if (has_means) fmt::print(out, "  {:>14}", shown_number(intervals->means[j]));
    if (intervals) {
      const auto& [lower, upper] = intervals->bounds[j];
      fmt::print(out, "  {:>14}  {:>14}", shown_number(lower), shown_number(upper));
    }
    fmt::print(out, "\n");
  }
}

void print_intervals(const ReportedIntervals& intervals, std::uint64_t step, std::FILE* out) {
  fmt::print(out, "{:<16}{:g}%, {}, of {} steps up to step {}", "intervals", 100 * intervals.level, intervals.kind,
             with_separators(intervals.effective_steps), with_separators(intervals.through));
  if (step > intervals.through) fmt::print(out, ", {} steps ago", with_separators(step - intervals.through));
  fmt::print(out, "\n{:<16}{}\n", "they cover", intervals.covers);
  // Intervals rest on many steps: with few of them, their level is not what it says.
  if (intervals.too_few) {
    fmt::print(out, "{:<16}fewer than 200 steps: they cover less often than {:g}%\n", "warning",
               100 * intervals.level);
  }
}

namespace {

/// Prints the Anderson-Rubin set and the effective F. The set holds however weak the instruments are. So it is the
/// result to quote where they are weak.
void print_instruments(const publish::ShownInstruments& shown, std::FILE* out) {
  for (const auto& [name, f] : shown.effective_f) {
    const std::string_view least = shown.is_bounded ? "at least " : "";
    fmt::print(out, "{:<16}effective F {}{:.4g} of {}, noise included", "instruments", least, f, name);
    if (f < publish::weak_effective_f) {
      fmt::print(out, ": {}, below 10; quote the set, not the estimate",
                 shown.is_bounded ? "not known to be strong" : "weak");
    }
    fmt::print(out, "\n");
  }
  // Where noise hides the sums, nobody knows whether the instruments are strong.
  if (shown.effective_f.empty()) {
    fmt::print(out, "{:<16}their strength is not known: noise hides the sums; give them more rho\n", "instruments");
  }
  // The set is told however strong the instruments are; where they are weak, it is what to quote.
  const std::string set = publish::set_in_words(shown);
  if (!set.empty()) fmt::print(out, "{:<16}{:.4g}%: {}\n", "Anderson-Rubin", 100 * shown.level, set);
  if (!shown.is_bounded) return;
  fmt::print(
      out,
      "{:<16}taken to vary as much as their bounds allow: [intervals] kind = \"residuals\", or more rho, tells\n",
      "residuals");
}

}  // namespace

void print_verdict(const publish::ShownRelease& release, std::FILE* out) {
  const publish::ShownStatus& status = release.status;
  if (const std::string words = publish::in_words(status.verdict, status.asks_interval); !words.empty())
    fmt::print(out, "{:<16}{}\n", publish::is_warning(status.verdict) ? "warning" : "path", words);
  if (release.status.clipped) {
    fmt::print(out, "{:<16}{}\n", release.status.clipped->is_large ? "warning" : "clipped",
               publish::in_words(*release.status.clipped));
  }
}

void print_hidden(const publish::ShownRelease& release, std::FILE* out) {
  if (release.sums.floored == 0) return;
  fmt::print(out, "{:<16}noise hides {} direction{} of the features: the answer is a guess there\n", "hidden",
             release.sums.floored, release.sums.floored == 1 ? "" : "s");
}

void print_growth(const publish::ShownRelease& release, std::FILE* out) {
  if (release.sums.grown.empty()) return;
  fmt::print(out, "{:<16}the scale of {}: later records spread further than those that it was set for\n", "grown",
             publish::in_words(release.sums.grown));
}

void print_strength(const publish::ShownRelease& release, std::FILE* out) {
  if (release.sums.instruments) print_instruments(*release.sums.instruments, out);
  if (release.first_stage.is_hidden) {
    fmt::print(out, "{:<16}noise hides its strength: give it more of rho, or a tighter strength_clip\n",
               "first stage");
  }
  // A descent's F is a lower bound, made of second moments that are charged.
  if (release.first_stage.f.empty()) return;
  fmt::print(out, "{:<16}", "first stage");
  for (const auto& [name, f] : release.first_stage.f) fmt::print(out, "F >= {:.4g} ({}), ", f, name);
  // Written so that a statistic that is not a number counts as weak.
  const bool weak = !(release.first_stage.cragg_donald >= inference::weak_first_stage);
  fmt::print(out, "Cragg-Donald >= {:.4g}: {} (charged)\n", release.first_stage.cragg_donald,
             weak ? "weak instruments, below 10" : "not weak");
}

std::string epsilon_text(const publish::Epsilons& at) {
  // The first conversion is named in the text, so that the order of the list must not change unnoticed.
  static_assert(privacy::conversions.front() == privacy::Conversion::gaussian);
  std::string text = fmt::format("{:.4g} at delta {:g} (gaussian, the exact curve", at.by.front(), at.delta);
  for (std::size_t i = 1; i < at.by.size(); ++i) {
    text += fmt::format("; {} {:.4g}", name(privacy::conversions[i]), at.by[i]);
  }
  return text + ')';
}

void print_epsilon(const EpsilonShown& shown, std::FILE* out) {
  for (const publish::Epsilons& at : shown.epsilons) {
    fmt::print(out, "{:<16}{}{}\n", "epsilon", epsilon_text(at),
               shown.folder_has_more ? ", without earlier epochs" : "");
  }
  // With one epoch, both figures are the same.
  if (!shown.folder_has_more) return;
  fmt::print(out, "{:<16}rho {:.6g}: what the folder's releases tell together\n", "all epochs", shown.folder_rho);
  for (const publish::Epsilons& at : shown.folder_epsilons) {
    fmt::print(out, "{:<16}epsilon {}\n", "", epsilon_text(at));
  }
}

void append_spends(std::span<const publish::Epsilons> epsilons, double ledger_rho,
                   std::span<const publish::Epsilons> ledger_epsilons, publish::JsonWriter& json) {
  json.field("epsilon", epsilons.front().by.front());
  json.field("ledger_rho", ledger_rho);
  json.field("ledger_epsilon", ledger_epsilons.front().by.front());
  json.field("delta", epsilons.front().delta);
  json.field("conversion", name(privacy::conversions.front()));
  publish::append_epsilons("epsilons", epsilons, json);
  publish::append_epsilons("ledger_epsilons", ledger_epsilons, json);
}

std::string protected_unit(const publish::Promise& promise) {
  // Releases of earlier versions name no adjacency.
  const std::string behind = (promise.adjacency.empty() ? std::string() : ", " + promise.adjacency) +
                             (promise.trusts_framing ? ", trusting that records close their quotes" : "");
  if (promise.user) {
    return fmt::format("per user{} (all records of one {}): {}{}", publish::within_words(promise.user->limits),
                       promise.user->column, publish::words_of(promise.user->limits), behind);
  }
  return (promise.target_only ? "per record's target, its features declared public" : "per record") + behind;
}

}  // namespace nustream::console
