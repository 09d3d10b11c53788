// The generator of binary trees: P_t is a sum of estimates of complete subtrees, and only those that make up the
// present prefix are remembered. A node is drawn at the step that completes it.
#include "generator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

class TreeGenerator final : public Generator {
 public:
  TreeGenerator(const Tree& tree, std::size_t dimension)
      : dimension_(dimension), levels_(tree.height + 1), leaves_(std::uint64_t{1} << tree.height) {
    for (unsigned level = 0; level < levels_; ++level) weights_.push_back(own_weight(level, tree.estimator));
    subtree_.assign(tree.height * dimension_, 0.0);
  }

  [[nodiscard]] std::size_t seed_width() const override { return levels_ * dimension_; }
  // Nodes are never drawn again, so no earlier key is needed.
  [[nodiscard]] StepIndex oldest_needed(StepIndex block_first) const override { return block_first; }
  [[nodiscard]] std::vector<double> memory() const override { return subtree_; }
  void copy_memory(std::vector<double>& out) const override { out = subtree_; }

  void restore(StepIndex block_first, std::span<const double> memory) override {
    // A tree of which no step was taken has nothing to take back.
    const bool fresh = block_first.value() == 0 && memory.empty();
    if (!fresh && memory.size() != subtree_.size()) {
      throw InvalidParameter("checkpoint", "a memory of another size", "height x dimension values for a tree");
    }
    std::fill(subtree_.begin(), subtree_.end(), 0.0);
    std::copy(memory.begin(), memory.end(), subtree_.begin());
    next_ = block_first;
  }

  void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) override {
    NUSTREAM_REQUIRE(block_first == next_, "noise blocks are generated in order");
    NUSTREAM_REQUIRE(z.size() == steps * dimension_, "a block of noise has its place");
    // The seed noise of a step is one node on each level. Only those that the step completes are used.
    seed_.resize(steps * seed_width());
    seed.fill(block_first, steps, seed_);
    for (std::size_t step = 0; step < steps; ++step) {
      // The place of the step within its own tree.
      const std::uint64_t leaf = (block_first.value() + step) % leaves_;
      take_step(leaf, std::span<const double>(seed_).subspan(step * seed_width(), seed_width()),
                z.subspan(step * dimension_, dimension_));
    }
    next_ = StepIndex{block_first.value() + steps};
  }

 private:
  // Takes the step of one leaf. The leaf completes one node on each level up to `top`. The subtrees below `top` that
  // stood beside it were part of the prefix until now, and give way to the larger subtree that holds them. A whole
  // tree is in the prefix for good: its estimate is not kept, and leaf 0 of the next tree has nothing beside it.
  void take_step(std::uint64_t leaf, std::span<const double> nodes, std::span<double> z) {
    // Leaf 3, for example, completes a node on the levels 0, 1 and 2, so that `top` is 2.
    const auto top = static_cast<std::size_t>(std::countr_one(leaf));
    for (std::size_t j = 0; j < dimension_; ++j) {
      double estimate = nodes[j];
      double replaced = 0;
      for (std::size_t level = 1; level <= top; ++level) {
        double& sibling = subtree_[(level - 1) * dimension_ + j];
        const double own = weights_[level];
        estimate = own * nodes[level * dimension_ + j] + (1 - own) * (sibling + estimate);
        replaced += sibling;
        sibling = 0;
      }
      if (top + 1 < levels_) subtree_[top * dimension_ + j] = estimate;
      z[j] = estimate - replaced;
    }
  }

  std::size_t dimension_;
  std::size_t levels_;
  std::uint64_t leaves_;
  std::vector<double> weights_;
  std::vector<double> subtree_;  // height × dimension: estimates of the subtrees that are part of the prefix
  std::vector<double> seed_;
  StepIndex next_{0};
};

}  // namespace

// The node itself has variance 1, and the sum of its children's estimates has 2v, with v theirs. The best mix of both
// has the weight 2v/(1 + 2v) on the node, which is its variance too. From v = 1 at a leaf follows 1/(2 − 2^−ℓ).
double own_weight(unsigned level, Tree::Estimator estimator) {
  if (estimator == Tree::Estimator::plain) return 1;
  return 1 / (2 - std::ldexp(1.0, -static_cast<int>(level)));
}

std::unique_ptr<Generator> make_tree(const Tree& tree, std::size_t dimension) {
  return std::make_unique<TreeGenerator>(tree, dimension);
}

// z_t differs from leaf to leaf by how many levels its step completes. Each such `top` is tried.
double largest_tree_stddev(const Tree& tree) {
  double largest = 1;
  for (unsigned top = 1; top <= tree.height; ++top) {
    // z = Σ_ℓ below_ℓ own_ℓ node_ℓ + Σ_ℓ (below_ℓ − 1) sibling_ℓ, where below_ℓ is the weight that level ℓ keeps in
    // the estimate of level `top`. A sibling's variance is its own weight under Honaker, and 1 under plain.
    double below = 1;
    double variance = 0;
    for (unsigned level = top + 1; level-- > 0;) {
      const double own = own_weight(level, tree.estimator);
      variance += below * own * (below * own);
      if (level < top) variance += own * (below - 1) * (below - 1);
      below *= 1 - own;
    }
    largest = std::max(largest, variance);
  }
  return std::sqrt(largest);
}

}  // namespace nustream::noise
