// The TOML of --write-config: how the file is read, the placements that the fit measured, and an estimator that
// begins at the fit's answer, running sums for a linear model and a descent for the others.
#include "fit/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "config/transform_names.h"

namespace nustream::fit {
namespace {

std::string in_quotes(const std::string& text) {
  std::string out;
  publish::append_string(text, out);  // every basic string of JSON is one of TOML
  return out;
}

/// The lines of TOML that name the column and its map.
std::string reading_in_toml(const record::Feature& feature) {
  std::string out = fmt::format("column = {}\ntransform = \"{}\"\n", in_quotes(feature.first.column),
                                config::name_of(feature.first.transform));
  if (feature.first.transform == record::Transform::indicator) {
    out += fmt::format("equals = {}\n", in_quotes(feature.first.equals));
  }
  return out;
}

/// The lines of TOML that make one feature. Those of bins are named by the configuration as a fit names them.
std::string term_in_toml(const record::Feature& feature, const ranges::Placement& placement) {
  const bool is_bin = feature.first.transform == record::Transform::bin;
  const std::string out = is_bin ? fmt::format("column = {}\nbins = [{}, {}]\n", in_quotes(feature.first.column),
                                               feature.first.from, feature.first.below)
                                 : fmt::format("name = {}\n", in_quotes(feature.name)) + reading_in_toml(feature);
  return out + fmt::format("center = {}\nscale = {}\n", placement.centre, placement.scale);
}

/// How lines are read, where the options differ from the defaults.
std::string layout_in_toml(const config::InputSettings& input) {
  std::string out;
  if (has_columns(input)) out += fmt::format("delimiter = {}\n", in_quotes({input.delimiter}));
  if (input.decimal != '.') out += fmt::format("decimal = {}\n", in_quotes({input.decimal}));
  if (input.skip_lines > 0) out += fmt::format("skip_lines = {}\n", input.skip_lines);
  if (!input.comment.empty()) out += fmt::format("comment = {}\n", in_quotes(input.comment));
  if (!input.header) out += "header = false\n";
  if (input.columns.empty()) return out;
  out += "columns = [";
  for (const std::string& name : input.columns)
    out += (&name == &input.columns.front() ? "" : ", ") + in_quotes(name);
  return out + "]\n";
}

/// θ with 0 in working coordinates where noise does not determine it, which is where a run without a start begins. A
/// slope is then 0, and the intercept such that the target is at its centre where all features are at theirs.
publish::NamedValues start_of(const Report& report) {
  publish::NamedValues start = report.estimate;
  const std::vector<ranges::Placement>& placed = report.fit.placements;
  double at_centres = is_linear(report) ? placed.back().centre : 0;
  for (std::size_t j = 1; j < start.size(); ++j) {
    if (!is_determined(report, j)) start[j].second = 0;
    at_centres -= start[j].second * placed[j - 1].centre;
  }
  if (!is_determined(report, 0)) start.front().second = at_centres;
  return start;
}

/// The start as an inline table of names and numbers, behind a comment that names what is no answer in it. It is
/// public, because the fit released what it is made of.
std::string start_in_toml(const Report& report) {
  std::string out;
  for (const std::size_t j : report.fit.undetermined)
    out += (out.empty() ? "" : ", ") + in_quotes(report.estimate[j].first);
  if (!out.empty())
    out = fmt::format("# Noise did not determine {}: the start has no answer there, but 0 (centred).\n", out);
  out += "start = { ";
  std::string comma;
  for (const auto& [name, value] : start_of(report)) {
    out += fmt::format("{}{} = {}", comma, in_quotes(name), value);
    comma = ", ";
  }
  return out + " }\n";
}

/// One number, or a list of them.
std::string deltas_in_toml(const Report& report) {
  if (report.epsilons.size() == 1) return fmt::format("{}", report.epsilons.front().delta);
  std::string out = "[";
  for (const publish::Epsilons& at : report.epsilons)
    out += fmt::format("{}{}", out.size() > 1 ? ", " : "", at.delta);
  return out + "]";
}

/// The number of records between two releases of a run.
std::uint64_t records_of_a_release(const Report& report) {
  // About a hundred releases over the file.
  return std::max<std::uint64_t>(1, report.records / 100);
}

/// The bound of a gradient: of a row times that of a residual.
double clip_norm_of(const Report& report) {
  return report.fit.pilot.inputs * report.fit.bounds.residuals;
}

/// A step size with which the iterate forgets over a tenth of the file. Placed columns have eigenvalues of E[xxᵀ] of
/// about 1, and the curvature then has eigenvalues of about `unit` times the mean weight. The average of iterates is
/// off by about the square of their spread, because the model is curved. So the step size is smaller where noise
/// would spread them by more than `widest`; in trials noise spreads them by some five times the noise of one step at
/// ρ.
double step_size_of(const Report& report) {
  constexpr double widest = 0.1;
  constexpr double of_one_step = 5;
  const ranges::TableFit& fit = report.fit;
  // K bounds w‖x‖² and R_x² bounds ‖x‖², so the quotient stands for w.
  const double unit = fit.bounds.curvature / (fit.bounds.inputs * fit.bounds.inputs);
  const double forgetting = 10 / (static_cast<double>(report.records) * fit.mean_weight);
  const double replaced = report.adjacency == privacy::name(privacy::Adjacency::replace_one) ? 2 : 1;
  const double noise = replaced * clip_norm_of(report) / std::sqrt(2 * report.rho);
  return std::min(std::min(1 / (fit.pilot.inputs * fit.pilot.inputs), forgetting) / unit,
                  widest / (of_one_step * noise));
}

/// Running sums about the answer. Rows are in the coordinates in which the pilot bounded them. Residuals are about
/// the answer, and the residuals that the fit's last step bounded are nearly these. Where the start lacks a part of
/// the answer, residuals about it may be as long as the targets themselves, which the pilot bounded.
std::string sums_in_toml(const Report& report) {
  const ranges::TableFit& fit = report.fit;
  const double residuals =
      fit.undetermined.empty() ? fit.bounds.residuals : std::max(fit.bounds.residuals, fit.pilot.residuals);
  return fmt::format(
      "\n[model]\nestimator = \"moments\"\nloss = \"linear\"\nintercept = true\n\n[moments]\nrow_norm = {}\n"
      "residual_bound = {}\nreleases = {}\n{}",
      fit.pilot.inputs, residuals, report.records / records_of_a_release(report), start_in_toml(report));
}

/// A descent whose noise.nu is the default, which suits its average.
std::string descent_in_toml(const Report& report) {
  return fmt::format(
      "\n[model]\nloss = \"{}\"\nintercept = true\n\n[descent]\nstep_size = {}\nclip_norm = {}\naverage = "
      "\"tail\"\naverage_from = {}\n{}",
      report.model, step_size_of(report), clip_norm_of(report), report.records / 2, start_in_toml(report));
}

/// [weight] and [exposure], where there are such.
std::string weights_in_toml(const Columns& columns) {
  std::string out;
  if (columns.weight) {
    out += "\n[weight]\n" + reading_in_toml(*columns.weight) + fmt::format("max = {}\n", columns.weight->upper);
  }
  if (columns.exposure) {
    out += "\n[exposure]\n" + reading_in_toml(*columns.exposure) + fmt::format("max = {}\n", columns.exposure->upper);
    if (columns.is_offset) out += "log = true\n";
  }
  return out;
}

}  // namespace

std::string why_no_config(const Columns& columns) {
  if (columns.features.empty()) {
    return "a configuration has features, and --mean takes none: leave one out";
  }
  const auto has = [&](record::Transform transform) {
    return std::ranges::any_of(columns.features, [&](const auto& each) { return each.first.transform == transform; });
  };
  if (has(record::Transform::bucket)) {
    return "a configuration's hash has one centre and scale for all buckets, and a fit measures them for each "
           "bucket: leave out --write-config or --hash";
  }
  if (has(record::Transform::other)) {
    return "a configuration's other stands beside a feature for every text of the list, and a fit leaves one of them "
           "out: leave out --write-config or --other";
  }
  return {};
}

std::string runs_of(std::string config) {
  constexpr std::string_view ending = ".toml";
  if (config.ends_with(ending)) config.resize(config.size() - ending.size());
  return config + ".runs";
}

std::string to_config(const Columns& columns, const Report& report, const StatePlaces& places) {
  const ranges::TableFit& fit = report.fit;
  const config::InputSettings& input = columns.input;
  std::string out = fmt::format(
      "# The ranges that a fit of {0} measured privately, at rho = {1}. What this file says is spent.\n"
      "# WARNING: a run of it over the same records is a second spend, in a ledger of its own: it adds to rho = "
      "{1}.\n"
      "\n[stream]\nname = \"fit\"\ninput = {2}\nformat = \"{3}\"\n",
      in_quotes(report.target), report.rho, in_quotes(input.files.front()), traits_of(input.format).name);
  out += layout_in_toml(input);
  for (std::size_t j = 0; j < fit.features.size(); ++j) {
    out += "\n[[features]]\n" + term_in_toml(columns.features[fit.features[j]], fit.placements[j]);
  }
  // Labels and counts keep their own units.
  const ranges::Placement as_it_is;
  out += "\n[target]\n" + term_in_toml(columns.target, is_linear(report) ? fit.placements.back() : as_it_is);
  out += weights_in_toml(columns);
  out += is_linear(report) ? sums_in_toml(report) : descent_in_toml(report);
  out += fmt::format(
      "\n[privacy]\nrho = {}\ndelta = {}\nadjacency = \"{}\"\n\n[plan]\nrecords = {}\n\n[release]\nevery = {}\n{}"
      "\n[state]\ndirectory = {}\n",
      report.rho, deltas_in_toml(report), report.adjacency, report.records, records_of_a_release(report),
      is_linear(report) ? "moments = true\n" : "",
      in_quotes(places.state.empty() ? report.file + ".runs" : places.state));
  if (!places.directory.empty()) out += fmt::format("key_directory = {}\n", in_quotes(places.directory));
  if (!places.witness.empty()) out += fmt::format("witness = {}\n", in_quotes(places.witness));
  return out;
}

}  // namespace nustream::fit
