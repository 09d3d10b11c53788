// Noise of a recurrent correlation is a linear system with a few states, so the covariance of states and stage sums
// after L steps follows by squaring: a block of 2^k steps is two blocks of half the length. When a stage begins, one
// more sum joins the vector, and the blocks are made anew for its size.
#include "moments/recurrent_stages.h"

#include <bit>
#include <utility>

namespace nustream::moments {

RecurrentStages::RecurrentStages(noise::Recurrence noise, double kept) : noise_(std::move(noise)), kept_(kept) {
  const auto m = static_cast<Eigen::Index>(noise_.p.size());
  // Before the first stage there are states alone: they take in the seed noise, but nothing is summed.
  stages_.push_back({0, {one_step(m, false)}, {0}, {Matrix::Zero(m, m)}});
}

/// P·C·Pᵀ with the block's matrix P = diag(factors) + e·into_lastᵀ, e the last unit vector.
RecurrentStages::Matrix RecurrentStages::Block::after(const Matrix& before) const {
  if (before.size() == 0) return before;  // white noise before the first stage has no state
  const Eigen::Index last = before.rows() - 1;
  Matrix moved = factors.asDiagonal() * before;
  moved.row(last) += into_last.transpose() * before;
  Matrix covariance = moved * factors.asDiagonal();
  covariance.col(last) += moved * into_last;
  return covariance + spread;
}

/// One step: s_i ← p_i s_i + w and N_j ← κ N_j; the last N also gets z = w − Σ a_i s_i.
RecurrentStages::Block RecurrentStages::one_step(Eigen::Index size, bool in_a_stage) const {
  const auto m = static_cast<Eigen::Index>(noise_.p.size());
  // The states' own factors, their poles, are set below; what stays at κ are the stage sums.
  Block step{Vector::Constant(size, kept_), Vector::Zero(size), {}};
  Vector input = Vector::Zero(size);
  for (Eigen::Index i = 0; i < m; ++i) {
    const auto pole = static_cast<std::size_t>(i);
    step.factors(i) = noise_.p[pole];
    input(i) = 1;
    if (in_a_stage) step.into_last(i) = -static_cast<Real>(noise_.a[pole]);
  }
  // z holds the fresh w_t besides the states, since β_0 = 1.
  if (in_a_stage) input(size - 1) = 1;
  step.spread = input * input.transpose();
  return step;
}

/// The covariance after `steps` steps, by the blocks of their binary digits, the longest first. Blocks that an
/// earlier call has in common with this one are kept.
const RecurrentStages::Matrix& RecurrentStages::after(Stage& stage, std::uint64_t steps) {
  const auto is_on_the_way = [&](std::uint64_t reached) {
    const std::uint64_t left = steps ^ reached;  // the digits still missing lie below all those that are there
    return (reached & ~steps) == 0 && (reached == 0 || left < (reached & (~reached + 1)));
  };
  // Way points that are no prefix of the binary digits of `steps`, longest first, do not lead there. The way to 6 = 4
  // + 2 goes over 4; the way to 5 = 4 + 1 goes over 4 too, but not over 6.
  while (!is_on_the_way(stage.steps.back())) {
    stage.steps.pop_back();
    stage.reached.pop_back();
  }
  while (stage.steps.back() != steps) {
    const auto digit = static_cast<std::size_t>(std::bit_width(steps ^ stage.steps.back()) - 1);
    while (stage.blocks.size() <= digit) {
      const Block& half = stage.blocks.back();
      // P² = diag(f)² + e·(f∘r + f_last r)ᵀ, for the last entry of r is 0.
      const Real last = half.factors.size() == 0 ? 0 : half.factors(half.factors.size() - 1);
      Block whole{half.factors.cwiseProduct(half.factors),
                  half.into_last.cwiseProduct(half.factors) + last * half.into_last, half.after(half.spread)};
      stage.blocks.push_back(std::move(whole));
    }
    stage.reached.push_back(stage.blocks[digit].after(stage.reached.back()));
    stage.steps.push_back(stage.steps.back() + (std::uint64_t{1} << digit));
  }
  return stage.reached.back();
}

void RecurrentStages::open(std::uint64_t first) {
  const Matrix& before = after(stages_.back(), first - stages_.back().first);
  const Eigen::Index size = before.rows() + 1;
  Matrix start = Matrix::Zero(size, size);
  // The new stage's sum is 0, and so has no covariance with anything yet.
  start.topLeftCorner(size - 1, size - 1) = before;
  stages_.push_back({first, {one_step(size, true)}, {0}, {std::move(start)}});
}

std::vector<double> RecurrentStages::covariance(std::span<const std::uint64_t> firsts, std::uint64_t steps) {
  std::size_t known = 0;
  // Stages that the last call had too are kept with all they have reached; from the first different one on they are
  // opened anew.
  while (known < firsts.size() && known + 1 < stages_.size() && stages_[known + 1].first == firsts[known]) ++known;
  stages_.resize(known + 1);
  for (; known < firsts.size(); ++known) open(firsts[known]);
  const Matrix& last = after(stages_.back(), steps - stages_.back().first);
  const auto m = static_cast<Eigen::Index>(noise_.p.size());
  const auto count = static_cast<Eigen::Index>(firsts.size());
  std::vector<double> all;
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      // Products of matrices round the two halves of a symmetric matrix differently, so their mean is taken.
      all.push_back(static_cast<double>((last(m + i, m + j) + last(m + j, m + i)) / 2));
    }
  }
  return all;
}

}  // namespace nustream::moments
