// A row's way into the sums: it is scaled by its inputs alone, its residual is clipped, and its products are
// truncated to integers of each block's grid and added in 64 bits, several rows at once. From time to time flush()
// moves the 64-bit sums into 128 bits. No noise is added here; RunningSums does that for whole steps.
#include "nustream/moments/batch_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "base/shown.h"
#include "descent/private_step.h"
#include "moments/open_sums.h"
#include "moments/sum_kernel.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

/// A contribution then has at most 2^51 units of the grid, which a double holds exactly.
constexpr double smallest_spacing = 0x1p-51;
/// Sums of 64 bits are moved to 128 bits before they can reach this.
constexpr double largest_sum = 0x1p62;
/// This many rows are scaled before the first of them is added. Each step of scaling a row waits for the step before,
/// and the other rows fill that time.
constexpr std::size_t rows_at_once = 16;

void check_radius(const char* name, double radius) {
  const bool in_range = radius >= 0x1p-100 && radius <= 0x1p100;  // false for a NaN, too
  if (!in_range) throw InvalidParameter(name, shown(radius), "a number from 2^-100 to 2^100");
}

/// min(1/R, 1/‖v‖), or NaN where an entry is not finite.
double shrinking(const kernel::Variant& kernel, std::span<const double> v, double radius) noexcept {
  return descent::row_factor(v, kernel.squares(v.data(), v.size()), radius);
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
    : kernel_(&kernel::variants().front()),
      design_(design),
      inputs_(rows_at_once * descent::packed_size(design.shape.inputs)),
      residuals_(rows_at_once * descent::packed_size(design.shape.responses())),
      units_(rows_at_once),
      scratch_(std::max(inputs_.size(), residuals_.size())),
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
    // One multiplication takes the margin for rounding off a contribution and brings it into units of the grid.
    part.units = factor / spacings[i];
    // A row adds at most 1/spacing units to an entry, so this many rows stay below 2^62 in the finest block.
    whole_ = std::min(whole_, static_cast<std::uint64_t>(largest_sum * spacings[i]));
    part.open.resize(open_layout(design, all[i], kernel_->lanes).size());
    part.sums.resize(entries(design, all[i]));
  }
  aim({}, std::vector<double>(design.shape.coefficients()));
}

void BatchSums::aim(const Radii& radii, std::span<const double> centre, std::span<const double> scales) {
  check(radii);
  NUSTREAM_REQUIRE(centre.size() == design_.shape.coefficients(), "a centre has a coefficient for every response");
  // Larger entries could make infinities of both signs meet in a prediction.
  const auto is_in_range = [](double entry) { return std::fabs(entry) <= 0x1p100; };
  NUSTREAM_REQUIRE(std::ranges::all_of(centre, is_in_range), "a centre within ±2^100");
  NUSTREAM_REQUIRE(scales.empty() || scales.size() == design_.shape.inputs, "every input has a scale, or none");
  const auto is_power = [](double scale) {
    int exponent = 0;
    return scale >= 0x1p-100 && scale <= 0x1p100 && std::frexp(scale, &exponent) == 0.5;
  };
  NUSTREAM_REQUIRE(std::ranges::all_of(scales, is_power), "scales are powers of two");
  radii_ = radii;
  centre_.assign(centre.begin(), centre.end());
  inverse_scales_.clear();
  for (const double scale : scales) inverse_scales_.push_back(1 / scale);
}

void BatchSums::add(const record::RowSlice& rows) noexcept {
  NUSTREAM_REQUIRE(rows.dimension == design_.shape.row(), "rows have the numbers of the shape");
  for (std::size_t first = 0; first < rows.count; first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, rows.count - first);
    // The 64-bit sums are moved to 128 bits before any of them can reach 2^62.
    if (unflushed_ + count > whole_) flush();
    unflushed_ += count;
    std::size_t usable = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      // The place of an unusable row is taken by the next one: it would only add zeros. It counts among the records
      // all the same, since the number of usable rows is private.
      if (scale_weighted(rows.x + i * rows.dimension, rows.y[i], rows.weight(i), scaled(usable))) ++usable;
    }
    add_scaled(usable);
  }
  records_ += rows.count;
}

BatchSums::Scaled BatchSums::scaled(std::size_t row) noexcept {
  return {inputs_.data() + row * descent::packed_size(design_.shape.inputs),
          residuals_.data() + row * descent::packed_size(design_.shape.responses())};
}

/// Sets the scaled inputs, inverse·x, and returns the response's residual.
double BatchSums::residual(const double* row, std::size_t response, double value, double inverse,
                           double* inputs) const noexcept {
  const std::size_t d = design_.shape.inputs;
  const double* const theta = centre_.data() + response * d;
  const double prediction = kernel_->scaled_product(row, d, inverse, theta, inputs);
  const double scale = inverse * radii_.inputs;  // 1 except for rounding, if the row is short
  return scale * value - radii_.inputs * prediction;
}

/// scale_row() of the row times the root of its weight, in the units of the scales. Both come before the scaling, so
/// that neither a weight nor a scale can make the row longer than R_x.
bool BatchSums::scale_weighted(const double* row, double target, double weight, const Scaled& scaled) noexcept {
  if (weight == 1 && inverse_scales_.empty()) return scale_row(row, target, scaled);
  const double root = weight == 1 ? 1 : std::sqrt(weight);
  // √w on inputs and target alike makes w the weight of the row's square.
  for (std::size_t j = 0; j < weighted_.size(); ++j) weighted_[j] = root * row[j];
  for (std::size_t j = 0; j < inverse_scales_.size(); ++j) weighted_[j] *= inverse_scales_[j];
  return scale_row(weighted_.data(), root * target, scaled);
}

/// Sets the scaled inputs and the residuals of the row. Returns false for a row that contributes zeros.
bool BatchSums::scale_row(const double* row, double target, const Scaled& scaled) noexcept {
  const std::size_t d = design_.shape.inputs;
  const std::size_t endogenous = design_.shape.endogenous;
  const double inverse = shrinking(*kernel_, {row, d}, radii_.inputs);
  const bool has_target = std::isfinite(target);
  if (!std::isfinite(inverse) || (!has_target && !design_.neighbours.target_only)) return false;
  if (endogenous > 0) {
    const std::span<double> v(scaled.residuals, endogenous);
    for (std::size_t k = 0; k < endogenous; ++k) v[k] = residual(row, k, row[d + k], inverse, scaled.inputs);
    const double shorter = shrinking(*kernel_, v, radii_.regressors);
    if (!std::isfinite(shorter)) return false;
    for (double& entry : v) entry *= shorter;
  }
  const double left = residual(row, endogenous, has_target ? target : 0, inverse, scaled.inputs);
  const double error = has_target ? left * (1 / radii_.target) : 0;  // the quotient does not wait for the row
  scaled.residuals[endogenous] = descent::clamp_to(error, 1);
  // The margin is far above rounding, so that a row of length R_x does not count as scaled.
  scaled_ += inverse * radii_.inputs < 1 - 0x1p-40 ? 1 : 0;
  clipped_ += std::fabs(error) > 1 ? 1 : 0;
  return true;
}

bool BatchSums::contribution(const double* row, double target, double weight, std::span<double> entries) noexcept {
  const std::size_t d = design_.shape.inputs;
  NUSTREAM_REQUIRE(design_.shape.endogenous == 0 && design_.spread == Spread::none, "two blocks, and no other");
  NUSTREAM_REQUIRE(entries.size() == d * (d + 1) / 2 + d, "room for both blocks");
  const Scaled one = scaled(0);
  if (!scale_weighted(row, target, weight, one)) return false;
  double* entry = entries.data();
  for (std::size_t i = 0; i < d; ++i) {
    *entry++ = one.inputs[i] * one.inputs[i];
    // With √2 beside the diagonal, the triangle's Euclidean length is the Frobenius norm of xxᵀ.
    for (std::size_t j = i + 1; j < d; ++j) *entry++ = std::numbers::sqrt2 * one.inputs[i] * one.inputs[j];
  }
  for (std::size_t j = 0; j < d; ++j) *entry++ = one.residuals[0] * one.inputs[j];
  return true;
}

/// Users' sums come here: they were shortened and truncated elsewhere, in units of the same grid.
void BatchSums::add_units(Block block, std::span<const std::int64_t> units) noexcept {
  std::vector<Wide>& sums = part(block).sums;
  NUSTREAM_REQUIRE(units.size() == sums.size(), "a block's sums have its entries");
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += units[j];
}

/// Sets `units_` to factor(k, r) for each of the rows, r its target's residual.
template <class Factor>
void BatchSums::set_units(std::size_t rows, const Factor& factor) noexcept {
  for (std::size_t k = 0; k < rows; ++k) units_[k] = factor(k, scaled(k).residuals[design_.shape.endogenous]);
}

void BatchSums::add_outers(const descent::Packed<double>& u, std::size_t rows, std::size_t d, Part& part) noexcept {
  kernel_->add_outers(u.data(), rows, d, units_.data(), scratch_.data(), part.open.data());
}

/// Adds tight sandwiches, and squares of residuals, each of a length of at most 1/√2.
void BatchSums::add_tight_sandwiches(std::size_t rows) noexcept {
  Part& spread = part(Block::spread);
  const double units = spread.units / std::numbers::sqrt2;
  const OpenLayout layout = open_layout(design_, Block::spread, kernel_->lanes);
  std::int64_t& squares = spread.open[layout.vector(0)];
  for (std::size_t k = 0; k < rows; ++k) {
    const double r = scaled(k).residuals[0];
    squares += static_cast<std::int64_t>(units * (r * r));
  }
  set_units(rows, [&](std::size_t, double r) {
    const double tight = descent::clamp_to(r * radii_.target / radii_.tight_target, 1);
    return units * (tight * tight);
  });
  add_outers(inputs_, rows, design_.shape.inputs, spread);
}

/// Adds the rows to the spread, in the form that the design asks for.
void BatchSums::add_spread(std::size_t rows) noexcept {
  Part& spread = part(Block::spread);
  switch (design_.spread) {
    case Spread::none:
      return;
    case Spread::residuals: {
      // Each clipped group adds at most 1 to ‖w‖², so dividing by their number keeps the contribution within
      // length 1.
      const double groups = design_.shape.endogenous > 0 ? 2 : 1;
      set_units(rows, [&](std::size_t, double) { return spread.units / groups; });
      return add_outers(residuals_, rows, design_.shape.responses(), spread);
    }
    case Spread::sandwich:
      set_units(rows, [&](std::size_t, double r) { return spread.units * (r * r); });
      return add_outers(inputs_, rows, design_.shape.inputs, spread);
    case Spread::tight_sandwich:
      return add_tight_sandwiches(rows);
  }
}

/// Adds the first `rows` of the scaled rows to all blocks.
void BatchSums::add_scaled(std::size_t rows) noexcept {
  const std::size_t d = design_.shape.inputs;
  Part& second = part(Block::second);
  set_units(rows, [&](std::size_t, double) { return second.units; });
  add_outers(inputs_, rows, d, second);
  Part& regressors = part(Block::regressors);
  const OpenLayout layout = open_layout(design_, Block::regressors, kernel_->lanes);
  for (std::size_t j = 0; j < design_.shape.endogenous; ++j) {
    set_units(rows, [&](std::size_t k, double) { return regressors.units * scaled(k).residuals[j]; });
    kernel_->add_vectors(inputs_.data(), rows, d, units_.data(), regressors.open.data() + layout.vector(j));
  }
  Part& of_target = part(Block::target);
  set_units(rows, [&](std::size_t, double r) { return of_target.units * r; });
  kernel_->add_vectors(inputs_.data(), rows, d, units_.data(), of_target.open.data());
  add_spread(rows);
}

/// Brings the 64-bit sums into the 128-bit ones. Afterwards another whole_ rows have room.
void BatchSums::flush() noexcept {
  // The smallest eigenvalue is not among them: it is no sum over rows, and is computed from the whole second moments.
  for (const Block block : {Block::second, Block::regressors, Block::target, Block::spread}) {
    Part& part = this->part(block);
    move(open_layout(design_, block, kernel_->lanes), part.open, part.sums);
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
  const double smallest = smallest_eigenvalue(triangle, design_.shape.inputs);
  const auto rows = static_cast<double>(records_);
  const auto d = static_cast<double>(design_.shape.inputs);
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
