// What a fit says of itself to programs: the line of its release, and JSON. All figures come from the release and
// from public counts, so that these and the table for people (report_text.cpp) differ in words alone.
#include "fit/report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "console/report_parts.h"
#include "nustream/inference/interval.h"
#include "publish/json_writer.h"
#include "publish/promise.h"

namespace nustream::fit {
namespace {

using publish::JsonWriter;

publish::Promise promise_of(const Report& report) {
  return {report.is_private, false, report.adjacency};
}

void append_bounds(publish::MemberName key, const Report& report, double std::pair<double, double>::*bound,
                   JsonWriter& json) {
  const auto object = json.object(key);
  for (std::size_t j = 0; j < report.interval.size(); ++j) {
    json.field(report.estimate[j].first, report.interval[j].*bound);
  }
}

/// What counts were made over, where there is such a column.
void append_exposure(const ShownExposure& exposure, JsonWriter& json) {
  if (exposure.column.empty()) return;
  json.field("exposure", exposure.column);
  json.field("exposure_is_log", exposure.is_offset);
  json.field("exposure_bound", exposure.bound);
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

}  // namespace

bool is_determined(const Report& report, std::size_t coefficient) {
  return std::ranges::find(report.fit.undetermined, coefficient) == report.fit.undetermined.end();
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
    append_exposure(report.exposure, json);
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
