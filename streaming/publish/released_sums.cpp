#include "publish/released_sums.h"

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "nustream/descent/second_moments.h"
#include "publish/json_text.h"

namespace nustream::publish {
namespace {

void append_array(std::string_view key, std::span<const double> values, std::string& out) {
  out += ",\"" + std::string(key) + "\":[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_number(values[i], out);
  }
  out += ']';
}

/// Empty where there is no such array of numbers.
std::vector<double> numbers_of(simdjson::dom::element object, const char* key) {
  simdjson::dom::array array;
  std::vector<double> values;
  if (object[key].get(array) != simdjson::SUCCESS) return values;
  for (const simdjson::dom::element each : array) {
    double value = 0;
    if (each.get(value) != simdjson::SUCCESS) return {};
    values.push_back(value);
  }
  return values;
}

}  // namespace

void append_sums(const moments::Release& release, std::string& out) {
  const moments::NormalEquations& sums = *release.sums;
  const std::vector<double> matrix = descent::symmetric_matrix(sums.second, sums.dimension);
  std::vector<double> upper;
  for (std::size_t i = 0; i < sums.dimension; ++i) {
    for (std::size_t j = i; j < sums.dimension; ++j) upper.push_back(matrix[i * sums.dimension + j]);
  }
  out += ",\"sums\":{\"inputs\":";
  append_number(std::uint64_t{sums.dimension}, out);
  append_array("second", upper, out);
  append_array("gap", sums.gap, out);
  append_array("centre", sums.centre, out);
  append_field("floor", release.floor, out);
  out += '}';
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
  constexpr std::uint64_t most = 1 << 16;
  const auto upper = numbers_of(sums, "second");
  if (inputs == 0 || inputs > most || upper.size() != descent::triangle_size(inputs)) return std::nullopt;
  shown.equations = {static_cast<std::size_t>(inputs), {}, numbers_of(sums, "gap"), numbers_of(sums, "centre")};
  const std::size_t gaps = shown.equations.gap.size();
  if (gaps == 0 || gaps % inputs != 0 || shown.equations.centre.size() != gaps) return std::nullopt;
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < inputs; ++i) {
    for (std::uint64_t j = i; j < inputs; ++j) {
      shown.equations.second.push_back(i == j ? upper[next] : upper[next] * std::numbers::sqrt2);
      ++next;
    }
  }
  return shown;
}

}  // namespace nustream::publish
