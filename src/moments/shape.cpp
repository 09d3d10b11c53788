// Which blocks a design has, which of them get noise, and how many numbers each holds. Everything that walks through
// blocks, such as grids, shares, states and sums, relies on the one order of blocks().
#include "nustream/moments/shape.h"

#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"

namespace nustream::moments {

std::string_view name(Block block) noexcept {
  switch (block) {
    case Block::second:
      return "second moments";
    case Block::regressors:
      return "regressor moments";
    case Block::target:
      return "target moments";
    case Block::eigenvalue:
      return "smallest eigenvalue";
    case Block::spread:
      break;
  }
  return "residual moments";
}

void check(const Design& design) {
  if (design.shape.inputs == 0) throw InvalidParameter("inputs", "0", "at least one number of a row");
  const bool is_sandwich = design.spread == Spread::sandwich || design.spread == Spread::tight_sandwich;
  if (is_sandwich && design.shape.endogenous > 0) {
    throw InvalidParameter("spread", "sandwich, beside endogenous regressors", "residuals or none");
  }
  if (design.spread == Spread::tight_sandwich && (design.neighbours.target_only || design.neighbours.of_user)) {
    throw InvalidParameter("spread", "tight sandwich, of public inputs or users", "sandwich, residuals or none");
  }
  // The smallest eigenvalue's sensitivity is known for sums of single private records (BatchSums::sums()).
  const bool is_plain = design.shape.endogenous == 0 && design.spread == Spread::none &&
                        !design.neighbours.target_only && !design.neighbours.of_user;
  if (design.solution == Solution::adassp && !is_plain) {
    throw InvalidParameter("solution", "adassp, beside instruments, a spread, public inputs or users",
                           "floored, or a plain linear model of private records");
  }
}

std::vector<Block> blocks(const Design& design) {
  std::vector<Block> all{Block::second};
  if (design.shape.endogenous > 0) all.push_back(Block::regressors);
  all.push_back(Block::target);
  if (design.spread != Spread::none) all.push_back(Block::spread);
  if (design.solution == Solution::adassp) all.push_back(Block::eigenvalue);
  return all;
}

bool is_noised(const Design& design, Block block) noexcept {
  // Where the inputs are public, only what reads the target is private.
  const bool reads_target = block == Block::target || block == Block::spread;
  return reads_target || !design.neighbours.target_only;
}

std::vector<Block> noised_blocks(const Design& design) {
  std::vector<Block> noised;
  for (const Block block : blocks(design)) {
    if (is_noised(design, block)) noised.push_back(block);
  }
  return noised;
}

std::size_t entries(const Design& design, Block block) noexcept {
  const Shape& shape = design.shape;
  switch (block) {
    case Block::second:
      return descent::triangle_size(shape.inputs);
    case Block::regressors:
      return shape.inputs * shape.endogenous;
    case Block::target:
      return shape.inputs;
    case Block::eigenvalue:
      return design.solution == Solution::adassp ? 1 : 0;
    case Block::spread:
      break;
  }
  if (design.spread == Spread::sandwich) return descent::triangle_size(shape.inputs);
  if (design.spread == Spread::tight_sandwich) return descent::triangle_size(shape.inputs) + 1;
  return design.spread == Spread::residuals ? descent::triangle_size(shape.responses()) : 0;
}

}  // namespace nustream::moments
