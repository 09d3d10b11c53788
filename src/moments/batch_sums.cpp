#include "nustream/moments/batch_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "base/shown.h"
#include "descent/norm.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

/// A contribution then has at most 2^51 units of the grid, which a double holds exactly.
constexpr double smallest_spacing = 0x1p-51;
/// Sums of 64 bits are moved to 128 bits before they can reach this.
constexpr double largest_sum = 0x1p62;

void check_radius(const char* name, double radius) {
  const bool in_range = radius >= 0x1p-100 && radius <= 0x1p100;  // false for a NaN, too
  if (!in_range) throw InvalidParameter(name, shown(radius), "a number from 2^-100 to 2^100");
}

/// min(1/R, 1/‖v‖), or NaN where an entry is not finite.
double shrinking(std::span<const double> v, double radius) noexcept {
  double squares = 0;
  for (const double entry : v) squares += entry * entry;
  if (squares <= radius * radius) return 1 / radius;
  if (squares < std::numeric_limits<double>::infinity()) return 1 / std::sqrt(squares);
  const descent::ScaledNorm norm = descent::scaled_norm(v);
  return 1 / norm.scale / norm.fraction;
}

/// Adds trunc(units·uuᵀ) as an isometric triangle.
void add_triangle(std::span<const double> u, double units, std::int64_t* sum) noexcept {
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double diagonal = u[i] * units;
    *sum++ += static_cast<std::int64_t>(diagonal * u[i]);
    const double beside = diagonal * std::numbers::sqrt2;
    for (std::size_t j = i + 1; j < u.size(); ++j) *sum++ += static_cast<std::int64_t>(beside * u[j]);
  }
}

void add_multiple(std::span<const double> u, double units, std::int64_t* sum) noexcept {
  for (std::size_t j = 0; j < u.size(); ++j) sum[j] += static_cast<std::int64_t>(units * u[j]);
}

}  // namespace

void check(const Radii& radii) {
  check_radius("inputs' radius", radii.inputs);
  check_radius("regressors' radius", radii.regressors);
  check_radius("target's radius", radii.target);
  check_radius("tight target's radius", radii.tight_target);
}

// Each of two contributions may be off by one spacing in every entry, so their difference has the factor 2.
double clip_factor(const Design& design, const Spacings& spacings) {
  const std::vector<Block> all = blocks(design);
  double truncated = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    truncated += 2 * static_cast<double>(entries(design, all[i])) * spacings[i] * spacings[i];
  }
  const double rounded = (static_cast<double>(design.shape.row()) + 8) * 0x1p-50;
  return 1 - rounded - std::sqrt(truncated);
}

BatchSums::BatchSums(const Design& design, const Spacings& spacings)
    : design_(design),
      inputs_(design.shape.inputs),
      residuals_(design.shape.responses()),
      weighted_(design.shape.row()) {
  const std::vector<Block> all = blocks(design);
  if (spacings.size() != all.size()) {
    throw InvalidParameter("spacings", std::to_string(spacings.size()), "one for each block");
  }
  for (const double spacing : spacings) {
    const bool in_range = spacing >= smallest_spacing && spacing < 1;  // false for a NaN, too
    if (!in_range) {
      throw InvalidParameter("spacing", shown(spacing), "from 2^-51 to 1 of a radius: noise of 2^-19 to 2^31 radii");
    }
  }
  const double factor = clip_factor(design, spacings);
  if (!(factor > 0.5))
    throw InvalidParameter("spacing", "as coarse as a contribution", "less noise, or fewer inputs");
  whole_ = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Part& part = this->part(all[i]);
    part.spacing = spacings[i];
    part.units = factor / spacings[i];
    whole_ = std::min(whole_, static_cast<std::uint64_t>(largest_sum * spacings[i]));
    part.open.resize(entries(design, all[i]));
    part.sums.resize(part.open.size());
  }
  aim({}, std::vector<double>(design.shape.coefficients()));
}

void BatchSums::aim(const Radii& radii, std::span<const double> centre) {
  check(radii);
  NUSTREAM_REQUIRE(centre.size() == design_.shape.coefficients(), "a centre has a coefficient for every response");
  NUSTREAM_REQUIRE(std::ranges::all_of(centre, [](double entry) { return std::isfinite(entry); }), "a finite centre");
  radii_ = radii;
  centre_.assign(centre.begin(), centre.end());
}

void BatchSums::add(const record::RowSlice& rows) noexcept {
  NUSTREAM_REQUIRE(rows.dimension == design_.shape.row(), "rows have the numbers of the shape");
  for (std::size_t i = 0; i < rows.count; ++i) {
    // The 64-bit sums are moved to 128 bits before any of them can reach 2^62.
    if (unflushed_ == whole_) flush();
    ++unflushed_;
    add_row(rows.x + i * rows.dimension, rows.y[i], rows.weight(i));
  }
  records_ += rows.count;
}

double BatchSums::residual(std::size_t response, double value, double scale) const noexcept {
  const double* const theta = centre_.data() + response * inputs_.size();
  double prediction = 0;
  for (std::size_t j = 0; j < inputs_.size(); ++j) prediction += inputs_[j] * theta[j];
  return scale * value - radii_.inputs * prediction;
}

void BatchSums::add_row(const double* row, double target, double weight) noexcept {
  if (scale_weighted(row, target, weight)) add_scaled();
}

/// scale_row() of the row times the root of its weight. The weight comes before the scaling, so that no weight can
/// make the row longer than R_x.
bool BatchSums::scale_weighted(const double* row, double target, double weight) noexcept {
  if (weight == 1) return scale_row(row, target);
  const double root = std::sqrt(weight);
  for (std::size_t j = 0; j < weighted_.size(); ++j) weighted_[j] = root * row[j];
  return scale_row(weighted_.data(), root * target);
}

/// Sets the scaled inputs and the residuals of the row. Returns false for a row that contributes zeros.
bool BatchSums::scale_row(const double* row, double target) noexcept {
  const std::size_t d = inputs_.size();
  const std::size_t endogenous = design_.shape.endogenous;
  const double inverse = shrinking({row, d}, radii_.inputs);
  const bool has_target = std::isfinite(target);
  if (!std::isfinite(inverse) || (!has_target && !design_.neighbours.target_only)) return false;
  for (std::size_t j = 0; j < d; ++j) inputs_[j] = row[j] * inverse;
  const double scale = inverse * radii_.inputs;  // 1 except for rounding, if the row is short
  if (endogenous > 0) {
    const std::span<double> v = std::span(residuals_).first(endogenous);
    for (std::size_t k = 0; k < endogenous; ++k) v[k] = residual(k, row[d + k], scale);
    const double shorter = shrinking(v, radii_.regressors);
    if (!std::isfinite(shorter)) return false;
    for (double& entry : v) entry *= shorter;
  }
  const double error = has_target ? residual(endogenous, target, scale) / radii_.target : 0;
  residuals_.back() = std::clamp(error, -1.0, 1.0);
  // The margin is far above rounding, so that a row of length R_x does not count as scaled.
  scaled_ += inverse * radii_.inputs < 1 - 0x1p-40 ? 1 : 0;
  clipped_ += std::fabs(error) > 1 ? 1 : 0;
  return true;
}

bool BatchSums::contribution(const double* row, double target, double weight, std::span<double> entries) noexcept {
  const std::size_t d = inputs_.size();
  NUSTREAM_REQUIRE(design_.shape.endogenous == 0 && design_.spread == Spread::none, "two blocks, and no other");
  NUSTREAM_REQUIRE(entries.size() == d * (d + 1) / 2 + d, "room for both blocks");
  if (!scale_weighted(row, target, weight)) return false;
  double* entry = entries.data();
  for (std::size_t i = 0; i < d; ++i) {
    *entry++ = inputs_[i] * inputs_[i];
    for (std::size_t j = i + 1; j < d; ++j) *entry++ = std::numbers::sqrt2 * inputs_[i] * inputs_[j];
  }
  for (std::size_t j = 0; j < d; ++j) *entry++ = residuals_.back() * inputs_[j];
  return true;
}

void BatchSums::add_units(Block block, std::span<const std::int64_t> units) noexcept {
  std::vector<Wide>& sums = part(block).sums;
  NUSTREAM_REQUIRE(units.size() == sums.size(), "a block's sums have its entries");
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += units[j];
}

/// Adds the row's tight sandwich, and the square of its residual, each of a length of at most 1/√2.
void BatchSums::add_tight_sandwich() noexcept {
  Part& spread = part(Block::spread);
  const double units = spread.units / std::numbers::sqrt2;
  const double r = residuals_.back();
  spread.open.back() += static_cast<std::int64_t>(units * (r * r));
  const double tight = std::clamp(r * radii_.target / radii_.tight_target, -1.0, 1.0);
  add_triangle(inputs_, units * (tight * tight), spread.open.data());
}

/// Adds the row whose scaled inputs and residuals are set.
void BatchSums::add_scaled() noexcept {
  Part& second = part(Block::second);
  add_triangle(inputs_, second.units, second.open.data());
  const std::size_t d = inputs_.size();
  for (std::size_t k = 0; k < design_.shape.endogenous; ++k) {
    Part& regressors = part(Block::regressors);
    add_multiple(inputs_, regressors.units * residuals_[k], regressors.open.data() + k * d);
  }
  Part& of_target = part(Block::target);
  const double r = residuals_.back();
  add_multiple(inputs_, of_target.units * r, of_target.open.data());
  Part& spread = part(Block::spread);
  if (design_.spread == Spread::sandwich) add_triangle(inputs_, spread.units * (r * r), spread.open.data());
  if (design_.spread == Spread::tight_sandwich) add_tight_sandwich();
  if (design_.spread == Spread::residuals) {
    // Each clipped group adds at most 1 to ‖w‖², so dividing by their number keeps the contribution within length 1.
    const double groups = design_.shape.endogenous > 0 ? 2 : 1;
    add_triangle(residuals_, spread.units / groups, spread.open.data());
  }
}

void BatchSums::flush() noexcept {
  for (Part& part : parts_) {
    for (std::size_t j = 0; j < part.sums.size(); ++j) part.sums[j] += part.open[j];
    std::ranges::fill(part.open, 0);
  }
  unflushed_ = 0;
}

void BatchSums::clear() noexcept {
  for (Part& part : parts_) {
    std::ranges::fill(part.open, 0);
    std::ranges::fill(part.sums, 0);
  }
  unflushed_ = 0;
  records_ = 0;
}

/// Computes the eigenvalue block. λ_min is 1-Lipschitz in the spectral norm; so is the clamp, and the truncation adds
/// at most one unit. The factor `shorter` makes room for the truncation and for the solver's error.
void BatchSums::take_eigenvalue() {
  const Part& second = part(Block::second);
  std::vector<double> triangle;
  for (const Wide sum : second.sums) triangle.push_back(second.spacing * static_cast<double>(sum));
  const double smallest = smallest_eigenvalue(triangle, inputs_.size());
  const auto rows = static_cast<double>(records_);
  const auto d = static_cast<double>(inputs_.size());
  const double error = 64 * d * d * rows * 0x1p-53;
  Part& own = part(Block::eigenvalue);
  const double shorter = (1 - own.spacing) / (1 + 2 * error);
  own.sums.front() = static_cast<Wide>(shorter * std::clamp(smallest, 0.0, rows) / own.spacing);
}

std::span<const Wide> BatchSums::sums(Block block) {
  flush();
  if (block == Block::eigenvalue) take_eigenvalue();
  return part(block).sums;
}

}  // namespace nustream::moments
