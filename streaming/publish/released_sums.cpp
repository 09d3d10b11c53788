// The sums of a release in JSON, read back and added. In memory a symmetric matrix is an isometric triangle, whose
// off-diagonal entries are multiplied by √2 so that its norm is the matrix's; in JSON it is the plain upper triangle.
#include "publish/released_sums.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "nustream/descent/second_moments.h"
#include "nustream/moments/instruments.h"
#include "nustream/moments/normal_equations.h"
#include "publish/release_json.h"

namespace nustream::publish {
namespace {

/// The numbers of an array; empty where the object has no such array.
std::vector<double> numbers_of(simdjson::dom::element object, const char* key) {
  simdjson::dom::array array;
  std::vector<double> values;
  if (object[key].get(array) != simdjson::SUCCESS) return values;
  for (const simdjson::dom::element each : array) {
    double value = 0;
    // An entry that is null was not finite. Sums without it cannot be solved, so that all of them count as missing.
    if (each.get(value) != simdjson::SUCCESS) return {};
    values.push_back(value);
  }
  return values;
}

/// The upper triangle of a symmetric matrix, row by row.
std::vector<double> upper_of(std::span<const double> isometric, std::size_t dimension) {
  const std::vector<double> matrix = descent::symmetric_matrix(isometric, dimension);
  std::vector<double> upper;
  for (std::size_t i = 0; i < dimension; ++i) {
    for (std::size_t j = i; j < dimension; ++j) upper.push_back(matrix[i * dimension + j]);
  }
  return upper;
}

/// The inverse of upper_of(): back to the triangle that the solver takes.
std::vector<double> isometric_of(std::span<const double> upper, std::size_t dimension) {
  std::vector<double> triangle;
  std::size_t next = 0;
  for (std::size_t i = 0; i < dimension; ++i) {
    for (std::size_t j = i; j < dimension; ++j) {
      triangle.push_back(i == j ? upper[next] : upper[next] * std::numbers::sqrt2);
      ++next;
    }
  }
  return triangle;
}

/// Writes the noise. Where all stages have one centre, `moved` and `spread` are zeros and are left out.
void append_noise(const moments::GapNoise& noise, std::size_t dimension, JsonWriter& json) {
  const auto object = json.object("noise");
  json.field("second", noise.second);
  json.field("target", noise.target);
  if (std::ranges::any_of(noise.spread, [](double entry) { return entry != 0; })) {
    json.elements("moved", noise.moved);
    json.elements("spread", upper_of(noise.spread, dimension));
  }
}

/// Reads the noise; empty where the line does not tell it, or not all of it.
std::optional<moments::GapNoise> noise_of(simdjson::dom::element sums, std::size_t inputs) {
  simdjson::dom::element told;
  moments::GapNoise noise;
  if (sums["noise"].get(told) != simdjson::SUCCESS || told["second"].get(noise.second) != simdjson::SUCCESS ||
      told["target"].get(noise.target) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  noise.moved.resize(inputs);
  noise.spread.resize(descent::triangle_size(inputs));
  simdjson::dom::element spread;
  // All stages had one centre: moved and spread stay zeros, as append_noise() left them out.
  if (told["spread"].get(spread) != simdjson::SUCCESS) return noise;
  const std::vector<double> upper = numbers_of(told, "spread");
  noise.moved = numbers_of(told, "moved");
  if (noise.moved.size() != inputs || upper.size() != noise.spread.size()) return std::nullopt;
  noise.spread = isometric_of(upper, inputs);
  return noise;
}

}  // namespace

void append_sums(const ShownSums& shown, JsonWriter& json) {
  const moments::NormalEquations& sums = shown.equations;
  const auto object = json.object("sums");
  json.field("inputs", sums.dimension);
  json.elements("second", upper_of(sums.second, sums.dimension));
  json.elements("gap", sums.gap);
  json.elements("centre", sums.centre);
  json.field("floor", shown.floor);
  if (shown.noise) append_noise(*shown.noise, sums.dimension, json);
}

std::optional<ShownSums> read_sums(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::element sums;
  ShownSums shown;
  std::uint64_t inputs = 0;
  if (parser.parse(line.data(), line.size())["moments"]["sums"].get(sums) != simdjson::SUCCESS ||
      sums["inputs"].get(inputs) != simdjson::SUCCESS || sums["floor"].get(shown.floor) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  // The bound keeps d(d+1)/2 from overflowing on a line that somebody made up.
  constexpr std::uint64_t most = 1 << 16;
  const auto upper = numbers_of(sums, "second");
  if (inputs == 0 || inputs > most || upper.size() != descent::triangle_size(inputs)) return std::nullopt;
  shown.equations = {static_cast<std::size_t>(inputs), {}, numbers_of(sums, "gap"), numbers_of(sums, "centre")};
  // There are d numbers for each response, and the centre has as many.
  const std::size_t gaps = shown.equations.gap.size();
  if (gaps == 0 || gaps % inputs != 0 || shown.equations.centre.size() != gaps) return std::nullopt;
  // Sizes were compared before this, so that no entry is read beyond the numbers of the line.
  shown.equations.second = isometric_of(upper, shown.equations.dimension);
  shown.noise = noise_of(sums, shown.equations.dimension);
  return shown;
}

namespace {

/// Whether sums have the sizes of the model. The sums say nothing about the names of the features.
bool is_of(const SolvedModel& model, const ShownSums& shown) {
  return shown.equations.dimension == model.inputs && shown.equations.columns() == model.responses;
}

/// Finite summands can overflow in their sum, and the solver needs finite numbers.
bool are_finite(const moments::NormalEquations& equations) {
  const auto finite = [](double entry) { return std::isfinite(entry); };
  return std::ranges::all_of(equations.second, finite) && std::ranges::all_of(equations.gap, finite);
}

/// The coefficients of the solution. With instrumental variables they are those of both stages, or none where the
/// second stage is not known.
std::vector<double> parameters_of(const moments::NormalEquations& equations, const moments::FlooredSolution& found,
                                  const SolvedModel& model) {
  if (!model.controls) return found.theta;
  // The columns are the regressors' first stages, then the target's reduced form, which is dropped for β.
  auto parameters = moments::two_stage_least_squares(equations, found, *model.controls);
  if (!parameters) return {};
  const auto first_stage = static_cast<std::ptrdiff_t>(model.inputs * (model.responses - 1));
  parameters->insert(parameters->end(), found.theta.begin(), found.theta.begin() + first_stage);
  return *std::move(parameters);
}

/// The coefficients by name, as releases show them; none where there are no parameters.
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
    // λ is a multiple of the noise's deviation, and independent noises of the lanes add up in their squares.
    squares += shown->floor * shown->floor;
    if (shown->noise) noises.push_back(*std::move(shown->noise));
    parts.push_back(std::move(shown->equations));
  }
  if (parts.empty()) return std::nullopt;
  // The sums of disjoint records add up to those of all of them, about the first part's centre.
  AddedSums added{{moments::added(parts), std::sqrt(squares)}, records, 0, {}};
  // The noise of the whole is known only if that of every part is; older lines do not tell it.
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
