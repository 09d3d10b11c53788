#include "publish/released_sums.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

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

}  // namespace nustream::publish
