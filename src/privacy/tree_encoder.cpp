// The encoder of binary trees (Kairouz et al. 2021): each time that a record takes part it adds to one
// node on each level, and a node that holds n of these times costs n².
#include "encoders.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace nustream::privacy {
namespace {

/// The largest ⌈T/b⌉ and number of trees for which the dynamic programme runs: well below a second.
constexpr std::uint64_t most_exact_participations = 64;
constexpr std::uint64_t most_exact_trees = 4096;

/// One way to take part within a stretch of leaves: what it costs, and how far it blocks the leaves that follow,
/// because the separation still forbids the next participation there.
struct Choice {
  std::uint64_t times;    ///< participations inside
  std::uint64_t blocked;  ///< leaves blocked at the start of what follows
  double cost;            ///< Σ (participations below the node)²
};

/// Keeps the choices that no other one beats. Among those with the same `times`, a choice that blocks more must
/// cost more to be worth keeping: a larger cost is what the maximum looks for.
std::vector<Choice> undominated(std::vector<Choice> choices) {
  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    if (a.times != b.times) return a.times < b.times;
    return a.blocked != b.blocked ? a.blocked < b.blocked : a.cost > b.cost;
  });
  std::vector<Choice> kept;
  for (const Choice& choice : choices) {
    const bool beaten = !kept.empty() && kept.back().times == choice.times && kept.back().cost >= choice.cost;
    if (!beaten) kept.push_back(choice);
  }
  return kept;
}

/// The dynamic programme over subtrees. What a complete subtree offers depends on nothing but its level and how
/// many of its first leaves are blocked, so each such pair is computed once.
class Choices {
 public:
  explicit Choices(const Participation& participation)
      : most_(participation.times()), separation_(participation.separation()) {}

  /// The choices within a complete subtree of 2^level leaves, of which the first `blocked` may not be used.
  const std::vector<Choice>& of_subtree(unsigned level, std::uint64_t blocked) {
    const auto known = memory_.find({level, blocked});
    if (known != memory_.end()) return known->second;
    std::vector<Choice> choices = make(level, blocked);
    return memory_.emplace(std::pair{level, blocked}, std::move(choices)).first->second;
  }

  /// Every choice of `before`, followed by every choice that a subtree of this level offers after it.
  std::vector<Choice> followed_by(const std::vector<Choice>& before, unsigned level) {
    std::vector<Choice> all;
    for (const Choice& first : before) {
      for (const Choice& second : of_subtree(level, first.blocked)) {
        const std::uint64_t times = first.times + second.times;
        if (times <= most_) all.push_back({times, second.blocked, first.cost + second.cost});
      }
    }
    return undominated(std::move(all));
  }

 private:
  [[nodiscard]] std::vector<Choice> make(unsigned level, std::uint64_t blocked) {
    const std::uint64_t leaves = std::uint64_t{1} << level;
    if (blocked >= leaves) return {{0, blocked - leaves, 0}};
    if (leaves <= separation_) {
      // At most one participation fits. The earliest free leaf leaves most room for later ones, and each level's
      // node costs 1.
      return {{0, 0, 0}, {1, blocked + separation_ - leaves, static_cast<double>(level + 1)}};
    }
    const std::vector<Choice> left = of_subtree(level - 1, blocked);
    std::vector<Choice> choices = followed_by(left, level - 1);
    // The root of this subtree has all its participations below it: it costs their square.
    for (Choice& choice : choices) {
      choice.cost += static_cast<double>(choice.times) * static_cast<double>(choice.times);
    }
    return choices;
  }

  std::uint64_t most_;
  std::uint64_t separation_;
  std::map<std::pair<unsigned, std::uint64_t>, std::vector<Choice>> memory_;
};

class TreeNorm final : public EncoderNorm {
 public:
  TreeNorm(unsigned height, const Participation& participation) : height_(height), participation_(participation) {}

  double squared(std::uint64_t steps) override {
    // The work of the programme grows with the places that there are, ⌈T/b⌉, and not with k.
    const Participation every(std::numeric_limits<std::uint64_t>::max(), participation_.separation());
    const bool small =
        every.times_within(StepCount{steps}) <= most_exact_participations && (steps >> height_) <= most_exact_trees;
    return participation_.times() > 1 && small ? exact(steps) : level_by_level(steps);
  }

  /// The last leaf of a tree completes a node on every level at once, so a record of age 1 may already cost all of
  /// them.
  double squared_by_age(std::uint64_t /*age*/) override { return static_cast<double>(height_ + 1); }

  double squared_limit() override { return level_by_level(std::numeric_limits<std::uint64_t>::max()); }

 private:
  /// The first T leaves are the leaves of complete subtrees, from the largest down. Their roots and all nodes
  /// below them are exactly the completed nodes, so the subtrees' choices, one after the other, cover every cost.
  [[nodiscard]] double exact(std::uint64_t steps) const {
    Choices subtrees(participation_);
    std::vector<Choice> choices = {{0, 0, 0}};
    // 11 leaves, for example, are subtrees of 8, 2 and 1 leaves.
    for (std::uint64_t remaining = steps; remaining > 0;) {
      const unsigned level = std::min(height_, static_cast<unsigned>(std::bit_width(remaining)) - 1);
      choices = subtrees.followed_by(choices, level);
      remaining -= std::uint64_t{1} << level;
    }
    double largest = 0;
    for (const Choice& choice : choices) largest = std::max(largest, choice.cost);
    return largest;
  }

  /// A node of 2^ℓ leaves holds at most ⌈2^ℓ/b⌉ participations. Filling one node after the other makes the sum of
  /// squares on that level largest, as squares reward unevenness.
  [[nodiscard]] double level_by_level(std::uint64_t steps) const {
    const std::uint64_t times = participation_.times_within(StepCount{steps});
    double sum = 0;
    for (unsigned level = 0; level <= height_ && (steps >> level) > 0; ++level) {
      const std::uint64_t most = participation_.times_within(StepCount{std::uint64_t{1} << level});
      const std::uint64_t full = std::min(steps >> level, times / most);
      const std::uint64_t rest = full < (steps >> level) ? times - full * most : 0;
      sum += static_cast<double>(full) * static_cast<double>(most) * static_cast<double>(most) +
             static_cast<double>(rest) * static_cast<double>(rest);
    }
    return sum;
  }

  unsigned height_;
  Participation participation_;
};

}  // namespace

std::unique_ptr<EncoderNorm> tree_norm(unsigned height, const Participation& participation) {
  return std::make_unique<TreeNorm>(height, participation);
}

}  // namespace nustream::privacy
