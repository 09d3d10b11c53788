// Sizes and ρ of the parts of a fit, from n, the number of columns and ρ alone. The constants say how far counts must
// stand out of their noise; a fit that could not see its columns is refused before it spends anything.
#include "nustream/ranges/sizes.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "base/shown.h"
#include "nustream/base/error.h"

namespace nustream::ranges {
namespace {

/// How many rows a part needs, in standard deviations of the noise of its counts, and the largest part of all records
/// that a part of columns may need.
constexpr double deviations_of_columns = 60;
constexpr double deviations_of_rows = 200;
constexpr double largest_share = 0.1;
/// For a larger ρ there is hardly any noise, and the range of the grids ends.
constexpr double largest_rho = 1e6;
/// With fewer records the parts would have fewer than 50 rows and say nothing, whatever the noise.
constexpr std::uint64_t fewest_records = 500;

/// The shares of ρ where the parts add up: each histogram has the first, the pilot the second, the answer the rest.
constexpr double share_of_histogram = 0.1;
constexpr double share_of_pilot = 0.15;
constexpr std::size_t column_parts = 4;

/// ρ of one histogram of columns or lengths.
double rho_of_part(const MeasuredTable& design) {
  return part_rhos(design.rho, design.of_users, 2).columns.value();
}

/// The square of how far a record moves the histograms: m, or 2m under replace-one.
double moved_squares(const MeasuredTable& design) {
  return static_cast<double>(design.columns) * (design.adjacency == privacy::Adjacency::replace_one ? 2 : 1);
}

/// 60·√(m/2ρ): the noise of a count has the deviation √(m/2ρ), or √(2m/2ρ) under replace-one.
double needed_rows(const MeasuredTable& design) {
  return deviations_of_columns * std::sqrt(moved_squares(design) / (2 * rho_of_part(design)));
}

/// The value with three digits. Rounding could lower it by half a percent, which the factor makes up for.
std::string rounded_text(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value * 1.005;
  return text.str();
}

std::uint64_t rounded(double rows) {
  return static_cast<std::uint64_t>(std::ceil(rows));
}

}  // namespace

PartRhos part_rhos(Rho rho, bool of_users, std::size_t lengths) {
  if (!of_users) return {rho, rho, rho, rho};
  // The shares add up to 1 except for rounding, which must not make the parts cost more than ρ.
  const double all = rho.value() * (1 - 0x1p-40);
  const double of_answer = 1 - static_cast<double>(column_parts + lengths) * share_of_histogram - share_of_pilot;
  const Rho histogram{all * share_of_histogram};
  return {histogram, histogram, Rho{all * share_of_pilot}, Rho{all * of_answer}};
}

double least_rho(const MeasuredTable& design) {
  const double rows = largest_share * static_cast<double>(design.records);
  // The ρ at which needed_rows() are a tenth of all records.
  const double of_part = moved_squares(design) / 2 * std::pow(deviations_of_columns / rows, 2);
  return design.of_users ? of_part / share_of_histogram : of_part;
}

std::uint64_t least_records(const MeasuredTable& design) {
  return std::max(fewest_records, rounded(needed_rows(design) / largest_share));
}

std::uint64_t enough_users(const MeasuredTable& design) {
  return rounded(needed_rows(design));
}

Sizes sizes(const MeasuredTable& design) {
  const bool in_range = design.rho.value() > 0 && design.rho.value() <= largest_rho;
  if (!in_range) throw InvalidParameter("rho", shown(design.rho.value()), "a number > 0 and <= 1e6");
  if (design.records < fewest_records) {
    throw InvalidParameter("records", std::to_string(design.records),
                           "at least " + std::to_string(least_records(design)));
  }
  const auto n = static_cast<double>(design.records);
  const double needed = needed_rows(design);
  if (!(needed <= largest_share * n)) {
    throw InvalidParameter("rho", shown(design.rho.value()),
                           "at least " + rounded_text(least_rho(design)) + " to see " +
                               std::to_string(design.columns) + " columns of " + std::to_string(design.records) +
                               " records through the noise; " + std::to_string(least_records(design)) +
                               " records would do, or fewer columns");
  }
  const double replaced = design.adjacency == privacy::Adjacency::replace_one ? std::sqrt(2.0) : 1;
  if (design.of_users) return {rounded(0.08 * n), rounded(0.04 * n), rounded(0.15 * n)};
  const double columns = std::min(std::max({0.01 * n, 500.0, needed}), 0.08 * n);
  const double rows =
      std::min(std::max(replaced * deviations_of_rows / std::sqrt(2 * design.rho.value()), 0.005 * n), 0.04 * n);
  return {rounded(columns), rounded(rows), rounded(0.15 * n)};
}

}  // namespace nustream::ranges
