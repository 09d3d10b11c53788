// Holds the sums of all stages: a step is added with its noise, stages begin, and stages are brought to other units
// or to another centre. Whatever is in these sums is public or has its noise already, so everything here but step()
// is post-processing.
#include "nustream/moments/running_sums.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/shown.h"
#include "descent/private_step.h"
#include "moments/triangle.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

/// A stage before its first step: all sums are 0, and blocks that the design does not have are empty.
StageSums empty_stage(const Design& design, std::uint64_t first, const Radii& radii, std::span<const double> centre) {
  check(radii);
  NUSTREAM_REQUIRE(centre.size() == design.shape.coefficients(), "a centre has a coefficient for every response");
  StageSums stage{first, radii, {centre.begin(), centre.end()}, {}, {}, {}, {}, {}};
  stage.second.resize(entries(design, Block::second));
  stage.cross.resize(design.shape.coefficients());
  stage.spread.resize(entries(design, Block::spread));
  stage.eigenvalue.resize(entries(design, Block::eigenvalue));
  return stage;
}

/// The product of radii that the unit of a block's grid stands for. Residual moments, and a tight sandwich with its
/// sum of squares, are scaled entry by entry instead.
double scale_of(Block block, Spread spread, const Radii& radii) {
  if (block == Block::second || block == Block::eigenvalue) return radii.inputs * radii.inputs;
  if (block == Block::regressors) return radii.inputs * radii.regressors;
  if (block == Block::target) return radii.inputs * radii.target;
  return spread == Spread::sandwich ? radii.target * radii.inputs * radii.target * radii.inputs : 1;
}

}  // namespace

double share_of_scale(const std::vector<StageSums>& stages, std::size_t stage, std::size_t input) {
  return stages[stage].scale(input) / stages.back().scale(input);
}

RunningSums::RunningSums(const Design& design, const Spacings& spacings, const Memory& memory, const Radii& radii,
                         std::span<const double> centre)
    : design_(design), spacings_(spacings), memory_(memory), stages_{empty_stage(design, 0, radii, centre)} {
  const bool in_range = memory.kept > 0 && memory.kept <= 1;  // false for a NaN, too
  if (!in_range) throw InvalidParameter("kept", shown(memory.kept), "a number > 0 and <= 1");
  NUSTREAM_REQUIRE(spacings.size() == blocks(design).size(), "every block has a spacing");
}

/// Where a block's sums stand in the newest stage, what one unit of its grid is worth there, and whether it has
/// noise. The cross moments of regressors and of the target lie in one vector.
RunningSums::Cells RunningSums::cells(Block block) {
  StageSums& stage = stages_.back();
  const std::vector<Block> all = blocks(design_);
  const auto index = static_cast<std::size_t>(std::ranges::find(all, block) - all.begin());
  const double unit = spacings_[index] * scale_of(block, design_.spread, stage.radii);
  const std::size_t regressors = entries(design_, Block::regressors);
  const bool noised = is_noised(design_, block);
  if (block == Block::second) return {stage.second, unit, noised};
  if (block == Block::spread) return {stage.spread, unit, noised};
  if (block == Block::eigenvalue) return {stage.eigenvalue, unit, noised};
  const std::span<double> cross = stage.cross;
  return {block == Block::regressors ? cross.first(regressors) : cross.subspan(regressors), unit, noised};
}

void RunningSums::step(BatchSums& batch, StepNoise noise) {
  std::size_t next = 0;
  for (const Block block : blocks(design_)) {
    const Cells of = cells(block);
    const std::span<const Wide> sums = batch.sums(block);
    std::span<const std::int64_t> added;
    if (of.noised) {
      NUSTREAM_REQUIRE(next < noise.size() && noise[next].size() == sums.size(), "every noised block has its noise");
      added = noise[next++];
    }
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const double noisy = of.noised ? descent::add_noise(sums[j], Wide{added[j]}) : static_cast<double>(sums[j]);
      of.sums[j] = memory_.kept * of.sums[j] + of.unit * noisy;
    }
  }
  NUSTREAM_REQUIRE(next == noise.size(), "no noise is left over");
}

void RunningSums::begin_stage(std::uint64_t first, const Radii& radii, std::span<const double> centre,
                              std::span<const double> scales) {
  NUSTREAM_REQUIRE(first > stages_.back().first, "stages follow each other");
  StageSums next = empty_stage(design_, first, radii, centre);
  if (!scales.empty()) {
    NUSTREAM_REQUIRE(!memory_.forgets() && design_.shape.endogenous == 0, "scales of plain sums of a linear model");
    NUSTREAM_REQUIRE(scales.size() == design_.shape.inputs, "every input has a scale");
    std::vector<double> growth(scales.begin(), scales.end());
    for (std::size_t j = 0; j < growth.size(); ++j) {
      growth[j] /= stages_.back().scale(j);
      NUSTREAM_REQUIRE(growth[j] >= 1, "a scale only grows");
    }
    // All stages are kept in the units of the newest, so that they can be added up as they are.
    for (StageSums& stage : stages_) divide(growth, stage);
    for (std::size_t j = 0; j < growth.size(); ++j) next.centre[j] *= growth[j];
    next.scales.assign(scales.begin(), scales.end());
  }
  NUSTREAM_REQUIRE(!scales.empty() || stages_.back().scales.empty(), "a scale only grows");
  if (memory_.forgets()) {
    // Forgetting sums live in the newest stage alone, at its centre. The earlier stages stay as centres and radii
    // without sums, since their noise is still in it.
    move(stages_.back(), next);
    StageSums& last = stages_.back();
    last.second = last.cross = last.spread = {};
    // What lies further back than the reach weighs less than 2^-60 of a new step, so its stage is dropped.
    std::size_t stale = 0;
    while (stale + 1 < stages_.size() && first - stages_[stale + 1].first > memory_.reach) ++stale;
    stages_.erase(stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(stale));
  }
  stages_.push_back(std::move(next));
}

/// Brings a stage's sums and centre into units that are `growth` times as large: x/growth goes with growth·θ. Powers
/// of two make it exact.
void RunningSums::divide(std::span<const double> growth, StageSums& stage) const {
  const auto divide_triangle = [&](std::vector<double>& triangle) {
    std::size_t entry = 0;
    for (std::size_t i = 0; i < growth.size(); ++i) {
      for (std::size_t j = i; j < growth.size(); ++j) triangle[entry++] /= growth[i] * growth[j];
    }
  };
  divide_triangle(stage.second);
  if (design_.spread == Spread::sandwich) divide_triangle(stage.spread);
  for (std::size_t j = 0; j < growth.size(); ++j) {
    stage.cross[j] /= growth[j];
    stage.centre[j] *= growth[j];
  }
}

/// Moves the sums of `from` to the centre of `to`: G − H(θ′ − θ). The spread moves too, unless it is that of the
/// first stage, as residuals about the start are no estimate of it.
void RunningSums::move(const StageSums& from, StageSums& to) const {
  const std::size_t d = design_.shape.inputs;
  to.second = from.second;
  to.cross = from.cross;
  if (from.first > 0) to.spread = from.spread;
  std::vector<double> moved(d);
  for (std::size_t response = 0; response < design_.shape.responses(); ++response) {
    for (std::size_t j = 0; j < d; ++j) moved[j] = to.centre[response * d + j] - from.centre[response * d + j];
    const std::vector<double> change = times_triangle(to.second, moved);
    for (std::size_t j = 0; j < d; ++j) to.cross[response * d + j] -= change[j];
  }
}

}  // namespace nustream::moments
