// Sensitivity of binary-tree aggregation: how many nodes a unit touches, and how often.
#pragma once

#include <memory>

#include "encoder_norm.h"

namespace nustream::privacy {

/// Σ over completed nodes of (participations below the node)², the largest that `participation` allows. A node
/// is a noisy sum of its leaves' gradients; both estimators, plain and Honaker's, are post-processing of the
/// completed nodes, so the bound holds for both (for Honaker's own B it is not the column norm but above it).
///
/// Restarted trees are the same dyadic nodes cut off at the tree's height: a unit that takes part in several
/// trees touches different nodes, whose squares add.
///
/// For one participation it is the number of completed levels, min(height, ⌊log2 T⌋) + 1. For several it is exact
/// while ⌈T/b⌉ ≤ 64 and there are at most 4096 trees (dynamic programme over the nodes), and beyond that the sum over
/// levels of what each level alone could reach: an upper bound, a few per cent above. Never falls as T grows.
///
/// Source: Kairouz et al. 2021, Appendix; Honaker 2015.
[[nodiscard]] std::unique_ptr<EncoderNorm> tree_norm(unsigned height, const Participation& participation);

}  // namespace nustream::privacy
