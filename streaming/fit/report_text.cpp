// A fit in words: the table for people, and the sentences that the page and JSON share with it. The table has seven
// lines and one for each coefficient, so that two features make ten.
#include "fit/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "console/report_parts.h"

namespace nustream::fit {
namespace {

using console::shown_number;
using console::with_separators;

std::size_t name_width(const Report& report) {
  std::size_t width = 14;
  for (const auto& [name, value] : report.estimate) width = std::max(width, name.size());
  return width;
}

/// Names the coefficients along hidden directions, such as ", and does not determine a, b and 3 more".
std::string hidden_names(const Report& report) {
  constexpr std::size_t names_max = 12;
  const std::vector<std::string> names = undetermined_names(report);
  if (names.empty()) return {};
  const std::size_t shown = std::min(names.size(), names_max);
  std::string out = fmt::format(", and does not determine {}",
                                fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown < names.size() ? out + fmt::format(" and {} more", names.size() - shown) : out;
}

/// The words for targets that are numbers, but none that the model allows.
const char* other_targets(const std::string& model) {
  if (model == "logistic") return ", or a target other than 0 and 1";
  return model == "poisson" ? ", or a negative target" : "";
}

/// What was fitted, to how many records, and how much a record counts.
std::string headline(const Report& report) {
  const char* const method = is_linear(report) ? "by least squares" : "by steps of private curvature";
  std::string out =
      is_target_mean(report)
          ? "mean of " + report.target
          : fmt::format("{}fit of {} {}", is_linear(report) ? "" : report.model + ' ', report.target, method);
  out += fmt::format(", {} records", with_separators(report.records));
  if (!report.weight.empty()) {
    out += fmt::format("; a record counts as its {}, at most {:g}", report.weight, report.weight_bound);
  }
  if (const ShownExposure& exposure = report.exposure; !exposure.column.empty()) {
    out += fmt::format("; a count is over its {}{}, which weighs at most {:g}",
                       exposure.is_offset ? "exposure, the exponential of " : "", exposure.column, exposure.bound);
  }
  // Features were asked for, and none is left.
  if (report.estimate.size() == 1 && !report.is_mean) {
    out += fmt::format("; no feature is left: this is the {} alone, no regression",
                       is_linear(report) ? "target's mean" : "model's constant");
  }
  return out + '\n';
}

/// What becomes of records that cannot be used, where there are more than noise may feign.
std::string others_of(const Report& report) {
  constexpr double nearly_all = 0.9;
  constexpr double certainty = 3;
  const ranges::TableFit& fit = report.fit;
  if (fit.usable >= nearly_all || fit.usable + certainty * fit.usable_stddev >= 1) return {};
  return fmt::format(
      ", and the others count for nothing (a value that is no number{}{}{}; standard error tells the operator more)",
      other_targets(report.model), report.weight.empty() ? "" : ", or a negative weight",
      report.exposure.column.empty() ? "" : ", or an exposure that is not above 0");
}

/// What was found privately, and the bounds and the choice of columns that followed from it.
std::string measured_of(const Report& report) {
  const ranges::TableFit& fit = report.fit;
  const std::size_t columns = fit.placements.size();
  const bool is_weighted = !report.weight.empty() || !report.exposure.column.empty();
  std::string out = fmt::format(
      "privately, from {} of the records: centre and scale of {} column{}{}, lengths and residuals of rows{}; usable "
      "rows {}{}; bounds: {:.3g} on the length of a row, where features are about uncorrelated and of size 1, and "
      "{:.3g} on a residual, in units of the {}",
      with_separators(report.records - fit.answer_records), columns, columns == 1 ? "" : "s",
      is_weighted ? ", where every record counts once" : "",
      is_linear(report) ? " (the longest residuals from the others)" : "", usable_share(fit), others_of(report),
      fit.bounds.inputs, residual_bound(report), residual_unit(report));
  if (!report.dropped.empty()) {
    out += fmt::format(
        "; left out: {}: less than half as many numbers as the target has (noisy shares; where records are few for "
        "this rho, noise hides numbers too)",
        left_out(report));
  }
  return out;
}

/// What stands beside a coefficient: its interval, or the size of the noise in it where there is no interval.
std::string beside(const Report& report, std::size_t j) {
  if (!report.interval.empty()) {
    return fmt::format("   {} to {}", shown_number(report.interval[j].first),
                       shown_number(report.interval[j].second));
  }
  // Of a guess nobody can say how far it is off.
  if (!shows_noise(report) || !is_determined(report, j)) return "";
  return fmt::format("   {:>14}", shown_number(report.fit.noise_stddevs[j]));
}

/// Each coefficient with its interval, or with the size of its noise.
std::string table_of(const Report& report) {
  const std::size_t width = name_width(report);
  const char* const title =
      report.interval.empty() ? (shows_noise(report) ? "   noise (1 s.d.)" : "") : "   95% interval";
  std::string out = fmt::format("{:<{}}  {:>14}{}\n", "", width, "estimate", title);
  for (std::size_t j = 0; j < report.estimate.size(); ++j) {
    out += fmt::format("{:<{}}  {:>14}{}\n", report.estimate[j].first, width,
                       is_determined(report, j) ? shown_number(report.estimate[j].second) : "not determined",
                       beside(report, j));
  }
  if (!report.interval.empty()) return out + fmt::format("{:<15} cover {}\n", "intervals", covers(report));
  const char* const meaning =
      shows_noise(report)
          ? "; the noise is what privacy adds to an estimate, roughly: sampling and the bounds add to it"
          : "";
  return out + why_no_interval(report) + meaning + '\n';
}

/// What this fit cost, and what all fits in the folder cost. Fits in other folders are not known here.
std::string spent_of(const Report& report) {
  const bool is_first = report.fits == 1;
  const std::string all =
      is_first ? std::string("the first in this folder")
               : fmt::format("{:.6g} by all {} in this folder{}", report.total_rho, report.fits,
                             report.counts_others_more ? " (earlier ones were by zero-out: for neighbours by "
                                                         "replace-one each counts four times)"
                                                       : "");
  std::string out = fmt::format("{:<15} {:.6g} (zCDP) by this fit, {}", "rho spent", report.rho, all);
  for (std::size_t i = 0; i < report.epsilons.size(); ++i) {
    // The second δ and those behind it have lines of their own.
    out += i == 0 ? "; epsilon " : fmt::format("\n{:<15} epsilon ", "");
    out += console::epsilon_text(report.epsilons[i]);
    if (!is_first) out += fmt::format(" by this fit, {:.4g} by all", report.total_epsilons[i].by.front());
  }
  return out + '\n';
}

}  // namespace

const char* covers(const Report& report) {
  if (is_target_mean(report)) {
    return "the population's mean, where records are independent of each other (several lines of one person are "
           "not), and unless noise hides a few residuals far longer than the others";
  }
  return is_linear(report)
             ? "the population's least squares, where records are independent of each other (several lines of one "
               "person are not), and unless noise hides a few residuals far longer than the others"
             : "the population's coefficients, where the model holds and records are independent of each other "
               "(several lines of one person are not)";
}

std::vector<std::string> undetermined_names(const Report& report) {
  std::vector<std::string> names;
  for (const std::size_t j : report.fit.undetermined) names.push_back(report.estimate[j].first);
  return names;
}

bool shows_noise(const Report& report) {
  return report.interval.empty() && !report.fit.noise_stddevs.empty();
}

std::string usable_share(const ranges::TableFit& fit) {
  const std::string share = fmt::format("about {:.0f}%", 100 * fit.usable);
  const double points = std::round(100 * fit.usable_stddev);
  return points < 1 ? share : share + fmt::format(" (with noise of {:.0f} points)", points);
}

std::string left_out(const Report& report) {
  std::string out;
  for (std::size_t j = 0; j < report.dropped.size(); ++j) {
    out += fmt::format("{}{} ({:.0f}%)", j == 0 ? "" : ", ", report.dropped[j], 100 * report.dropped_shares[j]);
  }
  return out;
}

const char* residual_unit(const Report& report) {
  if (!report.exposure.column.empty()) {
    return report.weight.empty() ? "rate, times the root of an exposure"
                                 : "rate, times the root of an exposure and a weight";
  }
  return report.weight.empty() ? "target" : "target times the root of a weight";
}

std::string why_no_interval(const Report& report) {
  // Several reasons may apply; the first of them is given.
  if (report.fit.floored > 0) {
    return fmt::format(
        "no interval: noise hides {} of {} directions, whose part of the answer is a guess{}: leave out "
        "columns that say the same, or hardly vary, {}or spend more rho",
        report.fit.floored, report.estimate.size(), hidden_names(report),
        report.is_bucket_hidden ? "take fewer buckets (--hash), " : "");
  }
  if (report.fit.is_label_hidden) {
    return "no interval: noise hides how many records have the rarer label; more rho, or more records";
  }
  if (!report.fit.is_settled) {
    return "no interval: the last step was still a long one, so that the answer has not settled; more rho, or more "
           "records";
  }
  if (report.model == "poisson") return "no interval: how far counts spread about their mean is not measured";
  if (!report.weight.empty()) {
    return "no interval: weights may count records or tell of their precision, and intervals of the two differ";
  }
  if (report.model == "logistic") {
    return "no interval: the last step was not short enough to tell how far off the answer is; more rho, or more "
           "records";
  }
  if (report.fit.bounds.widening < ranges::narrowest_for_intervals) {
    return "no interval: this rho needs so narrow a bound of residuals that clipping moves the answer; more rho, or "
           "more records";
  }
  return "no interval: noise hides how far residuals spread, or how much their bound moves the answer; more rho, or "
         "more records";
}

std::string to_text(const Report& report) {
  std::string out = headline(report);
  out += fmt::format(
      "{:<15} two files that differ in one record ({}) give nearly the same output; names of columns and the number "
      "of records are public\n",
      "assumed", report.adjacency);
  out += fmt::format("{:<15} {}\n", "measured", measured_of(report));
  out += table_of(report) + spent_of(report);
  out += fmt::format("{:<15} {} (releases, ledger, state)", "folder", report.folder);
  if (!report.key_file.empty()) out += fmt::format("; key {} (keep it secret)", report.key_file);
  if (!report.is_private) out += "; private: false, an insecure seed";
  return out + '\n';
}

}  // namespace nustream::fit
