// Binary-tree aggregation as a generator; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>

#include "generator.h"

namespace nustream::noise {

/// z_t = P_t − P_{t−1}, P_t the noise of the prefix sum up to t, estimated from the completed nodes of the tree
/// (plain: the fewest that cover [0, t]; honaker: the least variance). Seed noise is levels × dimension wide,
/// levels = height + 1: the node of level ℓ is drawn at the step that completes it. Remembers one value for every
/// level below the root and coordinate, never an older step's seed noise. Past its last step a tree without restarts
/// goes on as if it had them: the horizon is kept by who takes the steps.
///
/// Source: Kairouz et al. 2021, Appendix B; Honaker 2015 ("online").
[[nodiscard]] std::unique_ptr<Generator> make_tree(const Tree& tree, std::size_t dimension);

/// Weight of a completed node of this level in its subtree's estimate, and that estimate's variance in units of
/// the seed noise's: 1/(2 − 2^−ℓ).
[[nodiscard]] double own_weight(unsigned level, Tree::Estimator estimator);

/// Largest standard deviation of any z_t, in units of the seed noise's.
[[nodiscard]] double largest_tree_stddev(const Tree& tree);

}  // namespace nustream::noise
