// Sensitivity of binary-tree aggregation: it follows from how many nodes a unit touches, and how often.
#pragma once

#include <memory>

#include "encoder_norm.h"

namespace nustream::privacy {

/// The norm is Σ over completed nodes of (participations below the node)², the largest that `participation`
/// allows. A node holds the noisy sum of its leaves' gradients. The plain estimator and Honaker's are both
/// post-processing of the completed nodes, so the bound holds for both. (For Honaker's own B it lies above the
/// column norm.)
///
/// Restarted trees have the same dyadic nodes, cut off at the height of one tree. A unit that takes part in
/// several trees touches different nodes in each of them, and their squares add.
///
/// For one participation the norm is the number of completed levels, min(height, ⌊log2 T⌋) + 1. For several it is
/// exact while ⌈T/b⌉ ≤ 64 and there are at most 4096 trees, by a dynamic programme over the nodes. Beyond that it
/// is the sum over levels of the most that each level alone could reach, an upper bound that is a few per cent
/// above. It never falls as T grows.
///
/// Source: Kairouz et al. 2021, Appendix; Honaker 2015.
[[nodiscard]] std::unique_ptr<EncoderNorm> tree_norm(unsigned height, const Participation& participation);

}  // namespace nustream::privacy
