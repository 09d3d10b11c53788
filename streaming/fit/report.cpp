// What a fit says of itself: the line of its release, the table for people, and JSON. All figures come from the
// release and from public counts, so the three forms differ in words alone.
#include "fit/report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "console/report_parts.h"
#include "nustream/inference/interval.h"
#include "publish/json_writer.h"
#include "publish/promise.h"

namespace nustream::fit {
namespace {

using console::shown_number;
using console::with_separators;
using publish::JsonWriter;

publish::Promise promise_of(const Report& report) {
  return {report.is_private, false, report.adjacency};
}

/// What the intervals are about, in the words of every output.
const char* covers(const Report& report) {
  return is_linear(report)
             ? "the population's least squares, where records are independent of each other (several lines of one "
               "person are not), and unless noise hides a few residuals far longer than the others"
             : "the population's coefficients, where the model holds and records are independent of each other "
               "(several lines of one person are not)";
}

void append_bounds(publish::MemberName key, const Report& report, double std::pair<double, double>::*bound,
                   JsonWriter& json) {
  const auto object = json.object(key);
  for (std::size_t j = 0; j < report.interval.size(); ++j) {
    json.field(report.estimate[j].first, report.interval[j].*bound);
  }
}

/// The interval has the members that releases of streams have, so that one reader serves both.
void append_interval(const Report& report, JsonWriter& json) {
  if (report.interval.empty()) return json.field("interval", nullptr);
  const auto object = json.object("interval");
  json.field("kind", is_linear(report) ? "moments" : "curvature");
  json.field("level", interval_level);
  json.field("covers", covers(report));
  json.field("effective_steps", report.fit.answer_records);
  json.field("through", 1);
  json.field("too_few_steps", false);
  append_bounds("lower", report, &std::pair<double, double>::first, json);
  append_bounds("upper", report, &std::pair<double, double>::second, json);
}

/// The standard deviations of the noise, or null where they are unknown. They say nothing of what is not determined.
void append_noise(const Report& report, JsonWriter& json) {
  if (report.fit.noise_stddevs.empty()) return json.field("noise_stddev", nullptr);
  const auto object = json.object("noise_stddev");
  for (std::size_t j = 0; j < report.estimate.size(); ++j) {
    const std::string_view name = report.estimate[j].first;
    is_determined(report, j) ? json.field(name, report.fit.noise_stddevs[j]) : json.field(name, nullptr);
  }
}

std::size_t name_width(const Report& report) {
  std::size_t width = 14;
  for (const auto& [name, value] : report.estimate) width = std::max(width, name.size());
  return width;
}

/// What the fit found privately and then used: both bounds, and where the columns were placed.
void append_bounds(const Report& report, JsonWriter& json) {
  json.field("bound_inputs", report.fit.bounds.inputs);
  json.field("bound_residuals", residual_bound(report));
  publish::NamedValues centers;
  publish::NamedValues scales;
  for (std::size_t j = 0; j < report.fit.placements.size(); ++j) {
    const bool is_target = j + 1 == report.fit.placements.size();
    const std::string& name = is_target ? report.target : report.estimate[j + 1].first;
    centers.emplace_back(name, report.fit.placements[j].centre);
    scales.emplace_back(name, report.fit.placements[j].scale);
  }
  json.fields("centers", centers);
  json.fields("scales", scales);
}

std::vector<std::string> undetermined_names(const Report& report) {
  std::vector<std::string> names;
  for (const std::size_t j : report.fit.undetermined) names.push_back(report.estimate[j].first);
  return names;
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

/// What readers should know about the answer before they read it.
std::string cautions(const Report& report) {
  constexpr double nearly_all = 0.9;
  constexpr double certainty = 3;
  std::string out;
  if (report.fit.usable < nearly_all && report.fit.usable + certainty * report.fit.usable_stddev < 1) {
    out += fmt::format(
        "{:<15} the other records count for nothing: a value that is no number{}{}; what is the matter with them is "
        "told to the operator alone, on standard error\n",
        "", other_targets(report.model), report.weight.empty() ? "" : ", or a negative weight");
  }
  if (!report.dropped.empty())
    out += fmt::format(
        "{:<15} {}: less than half as many numbers as the target has (noisy shares; where records are few "
        "for this rho, noise hides numbers too)\n",
        "left out", left_out(report));
  // Features were asked for, and none is left.
  if (report.estimate.size() == 1 && !report.is_mean) {
    out += fmt::format("{:<15} no feature is left: this is the {} alone, no regression\n", "mean",
                       is_linear(report) ? "target's mean" : "model's constant");
  }
  return out;
}

}  // namespace

bool shows_noise(const Report& report) {
  return report.interval.empty() && !report.fit.noise_stddevs.empty();
}

bool is_determined(const Report& report, std::size_t coefficient) {
  return std::ranges::find(report.fit.undetermined, coefficient) == report.fit.undetermined.end();
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

double residual_bound(const Report& report) {
  const double unit = is_linear(report) ? report.fit.placements.back().scale : 1;
  return unit * report.fit.bounds.residuals;
}

void fill_table(const Columns& columns, const ranges::TableFit& fit, Report& report) {
  report.fit = fit;
  report.is_mean = columns.features.empty();
  const auto feature_of = [&](std::size_t coefficient) -> const record::Feature& {
    return columns.features[fit.features[coefficient - 1]];
  };
  report.is_bucket_hidden = std::ranges::any_of(fit.undetermined, [&](std::size_t j) {
    return j > 0 && feature_of(j).first.transform == record::Transform::bucket;
  });
  for (std::size_t j = 0; j < columns.features.size(); ++j) {
    if (std::ranges::find(fit.features, j) != fit.features.end()) continue;
    report.dropped.push_back(columns.features[j].name);
    report.dropped_shares.push_back(std::clamp(fit.shares[j], 0.0, 1.0));
  }
  for (std::size_t j = 0; j < fit.theta.size(); ++j) {
    const double value = is_determined(report, j) ? fit.theta[j] : std::numeric_limits<double>::quiet_NaN();
    report.estimate.emplace_back(j == 0 ? "intercept" : feature_of(j).name, value);
    if (fit.variances.empty()) continue;
    const auto& [variance, degrees] = fit.variances[j];
    // Student's t makes up for the noise in the variance itself; without such noise it is the normal quantile.
    const double half = inference::student_quantile(degrees, interval_level) * std::sqrt(variance);
    report.interval.emplace_back(fit.theta[j] - half, fit.theta[j] + half);
  }
}

std::string release_line(const Report& report) {
  const std::string line = publish::object_text([&](JsonWriter& json) {
    json.field("format", 1);
    json.field("stream", "fit");
    json.field("lane", 0);
    json.field("epoch", report.epoch.value());
    // A fit is an epoch of one step, over all positions of the file.
    json.field("step", 1);
    json.field("position", report.records);
    json.field("tag", "end");
    json.fields("estimate", report.estimate);
    // In the estimate they are null.
    if (!report.fit.undetermined.empty()) json.elements("not_determined", undetermined_names(report));
    json.field("average", nullptr);
    append_interval(report, json);
    json.field("rho", report.rho);
    json.field("rho_limit", report.rho);
    json.field("rho_ledger", report.total_rho);
    json.field("epsilon", report.epsilons.front().by.front());
    json.field("epsilon_ledger", report.total_epsilons.front().by.front());
    publish::append_epsilons("epsilons", report.epsilons, json);
    publish::append_epsilons("epsilons_ledger", report.total_epsilons, json);
    json.field("delta", report.epsilons.front().delta);
    json.field("conversion", "gaussian");
    json.field("digest", report.digest);
    {
      const auto measured = json.object("measured");
      append_bounds(report, json);
    }
    publish::append_promise(promise_of(report), json);
  });
  return line + '\n';
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

namespace {

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
  std::string out = fmt::format("\n{:<{}}  {:>14}{}\n", "", width, "estimate", title);
  for (std::size_t j = 0; j < report.estimate.size(); ++j) {
    out += fmt::format("{:<{}}  {:>14}{}\n", report.estimate[j].first, width,
                       is_determined(report, j) ? shown_number(report.estimate[j].second) : "not determined",
                       beside(report, j));
  }
  if (!report.interval.empty()) return out + fmt::format("{:<15} cover {}\n", "intervals", covers(report));
  if (shows_noise(report)) {
    out +=
        "noise is what privacy adds to an estimate, roughly, as one standard deviation; sampling and the bounds add "
        "to it\n";
  }
  return out + why_no_interval(report) + '\n';
}

/// What this fit cost, and what all fits in the folder cost. Fits in other folders are not known here.
std::string spent_of(const Report& report) {
  const std::string all =
      report.fits == 1
          ? std::string("the first in this folder")
          : fmt::format("{:.6g} by all {} in this folder{}", report.total_rho, report.fits,
                        report.counts_others_more ? " (earlier ones were by zero-out: for neighbours by replace-one "
                                                    "each counts four times)"
                                                  : "");
  std::string out = fmt::format("\n{:<15} {:.6g} (zCDP) by this fit, {}\n", "rho spent", report.rho, all);
  for (std::size_t i = 0; i < report.epsilons.size(); ++i) {
    out += fmt::format("{:<15} {}", i == 0 ? "epsilon" : "", console::epsilon_text(report.epsilons[i]));
    out +=
        report.fits == 1 ? "\n" : fmt::format(" by this fit, {:.4g} by all\n", report.total_epsilons[i].by.front());
  }
  return out;
}

}  // namespace

std::string to_text(const Report& report) {
  const ranges::TableFit& fit = report.fit;
  const char* const method = is_linear(report) ? "by least squares" : "by steps of private curvature";
  std::string out = fmt::format(
      "{}fit of {} {}, {} records\n{:<15} two files that differ in one record ({}) give nearly the "
      "same output; names of columns and the number of records are public\n",
      is_linear(report) ? "" : report.model + ' ', report.target, method, with_separators(report.records), "assumed",
      report.adjacency);
  if (!report.weight.empty()) {
    out += fmt::format("{:<15} a record counts as its {}, at most {:g}; its ranges count every record once\n", "",
                       report.weight, report.weight_bound);
  }
  out += fmt::format(
      "{:<15} privately, from {} of the records: centre and scale of {} columns, lengths and residuals of rows{}; "
      "usable rows {}\n{:<15} rows to a length of {:.3g}, where features are about uncorrelated and of size 1; "
      "residuals to {:.3g}, in units of the target{}\n",
      "measured", with_separators(report.records - fit.answer_records), fit.placements.size(),
      is_linear(report) ? " (the longest residuals from the others)" : "", usable_share(fit), "bounded",
      fit.bounds.inputs, residual_bound(report), report.weight.empty() ? "" : " times the root of a weight");
  out += cautions(report);
  out += table_of(report) + spent_of(report);
  if (!report.is_private) out += fmt::format("{:<15} false: an insecure seed\n", "private");
  out += fmt::format("{:<15} {} (releases, ledger, state)\n", "folder", report.folder);
  if (!report.key_file.empty()) out += fmt::format("{:<15} {} (keep it secret)\n", "key", report.key_file);
  return out;
}

std::string to_json(const Report& report) {
  const ranges::TableFit& fit = report.fit;
  const std::string line = publish::object_text([&](JsonWriter& json) {
    json.field("file", report.file);
    json.field("target", report.target);
    json.field("model", report.model);
    if (!report.weight.empty()) {
      json.field("weight", report.weight);
      json.field("weight_bound", report.weight_bound);
    }
    json.field("records", report.records);
    json.field("measured_records", report.records - fit.answer_records);
    json.fields("estimate", report.estimate);
    append_interval(report, json);
    append_noise(report, json);
    json.field("hidden_directions", fit.floored);
    json.elements("not_determined", undetermined_names(report));
    json.field("settled", fit.is_settled);
    json.field("usable", fit.usable);
    json.field("usable_stddev", fit.usable_stddev);
    json.elements("left_out", report.dropped);
    append_bounds(report, json);
    json.field("rho", report.rho);
    console::append_spends(report.epsilons, report.total_rho, report.total_epsilons, json);
    json.field("fits", report.fits);
    json.field("digest", report.digest);
    publish::append_promise(promise_of(report), json);
    json.field("folder", report.folder);
    if (!report.key_file.empty()) json.field("key", report.key_file);
  });
  return line + '\n';
}

}  // namespace nustream::fit
