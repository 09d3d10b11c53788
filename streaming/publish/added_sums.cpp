#include "publish/added_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "nustream/moments/instruments.h"
#include "nustream/moments/normal_equations.h"
#include "publish/release_json.h"

namespace nustream::publish {
namespace {

bool is_of(const SolvedModel& model, const ShownSums& shown) {
  return shown.equations.dimension == model.inputs && shown.equations.columns() == model.responses;
}

bool are_finite(const moments::NormalEquations& equations) {
  const auto finite = [](double entry) { return std::isfinite(entry); };
  return std::ranges::all_of(equations.second, finite) && std::ranges::all_of(equations.gap, finite);
}

/// The coefficients of the solution. With instrumental variables they are those of both stages, or none where the
/// second stage is not known.
std::vector<double> parameters_of(const moments::NormalEquations& equations, const moments::FlooredSolution& found,
                                  const SolvedModel& model) {
  if (!model.controls) return found.theta;
  auto parameters = moments::two_stage_least_squares(equations, found, *model.controls);
  if (!parameters) return {};
  const auto first_stage = static_cast<std::ptrdiff_t>(model.inputs * (model.responses - 1));
  parameters->insert(parameters->end(), found.theta.begin(), found.theta.begin() + first_stage);
  return *std::move(parameters);
}

NamedValues in_original_units(const std::vector<double>& parameters, const OriginalUnits& units) {
  NamedValues named;
  if (parameters.empty()) return named;
  std::vector<double> values;
  units.convert(parameters, values);
  for (std::size_t j = 0; j < values.size(); ++j) named.emplace_back(units.names()[j], values[j]);
  return named;
}

}  // namespace

std::optional<AddedSums> added_sums(std::span<const std::string> lines, const SolvedModel& model) {
  std::vector<moments::NormalEquations> parts;
  std::vector<moments::GapNoise> noises;
  std::uint64_t records = 0;
  double squares = 0;
  for (const std::string& line : lines) {
    auto shown = read_sums(line);
    const auto release = read_release(line);
    if (!shown || !release || !is_of(model, *shown)) return std::nullopt;
    records += release->sums.records;
    squares += shown->floor * shown->floor;
    if (shown->noise) noises.push_back(*std::move(shown->noise));
    parts.push_back(std::move(shown->equations));
  }
  if (parts.empty()) return std::nullopt;
  AddedSums added{{moments::added(parts), std::sqrt(squares)}, records, 0, {}};
  if (noises.size() == parts.size()) added.sums.noise = moments::added(noises, parts);
  if (!are_finite(added.sums.equations) || !std::isfinite(added.sums.floor)) return std::nullopt;
  const moments::FlooredSolution found = moments::solve(added.sums.equations, added.sums.floor);
  added.floored = found.floored;
  added.estimate = in_original_units(parameters_of(added.sums.equations, found, model), model.units);
  return added;
}

void append_added(const AddedSums& added, JsonWriter& json) {
  const auto moments = json.object("moments");
  json.field("records", added.records);
  json.field("floored", added.floored);
  append_sums(added.sums, json);
}

}  // namespace nustream::publish
