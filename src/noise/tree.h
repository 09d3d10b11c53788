// Binary-tree aggregation as a generator; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>

#include "generator.h"

namespace nustream::noise {

/// z_t = P_t − P_{t−1}, where P_t is the noise of the prefix sum up to t. P_t is estimated from the completed nodes
/// of the tree: from the fewest that cover [0, t] (plain), or with the least variance (honaker). Seed noise is levels
/// × dimension wide with levels = height + 1, and the node of level ℓ is drawn at the step that completes it. The
/// generator remembers one value for each coordinate and each level below the root, never the seed noise of an older
/// step.
///
/// A tree without restarts goes on past its last step as if it had them. The caller who takes the steps keeps the
/// horizon.
///
/// Source: Kairouz et al. 2021, Appendix B; Honaker 2015 ("online").
[[nodiscard]] std::unique_ptr<Generator> make_tree(const Tree& tree, std::size_t dimension);

/// The weight of a completed node of this level in the estimate of its subtree. It is also the variance of that
/// estimate in units of the seed noise's variance. Under Honaker it is 1/(2 − 2^−ℓ).
[[nodiscard]] double own_weight(unsigned level, Tree::Estimator estimator);

/// The largest standard deviation of any z_t, in units of the seed noise's standard deviation.
[[nodiscard]] double largest_tree_stddev(const Tree& tree);

}  // namespace nustream::noise
