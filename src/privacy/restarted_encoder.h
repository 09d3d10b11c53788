// The sensitivity of a correlation that is begun anew every R steps.
#pragma once

#include <memory>

#include "encoder_norm.h"

namespace nustream::privacy {

/// C is block diagonal with blocks of R steps, so columns of different blocks are orthogonal and
///
///     ‖Σ_{t∈π} C e_t‖² = Σ_blocks ‖Σ_{t∈π in the block} C e_t‖².
///
/// For one participation this is the block's own γ². For several, let f(m) be the block's squared sensitivity to m
/// participations that are at least b steps apart, and g(m) that of the last block as far as it has come. Then the
/// norm is
///
///     max Σ_blocks f(m_i) + g(m_0)   over  m_i ≤ ⌈R/b⌉,  Σ m_i ≤ min(k, ⌈T/b⌉),
///
/// found by a dynamic programme while k ≤ 512, ⌈R/b⌉ ≤ 64 and ⌈R/b⌉·R ≤ 2^22, or at any k where R ≤ b. It is what
/// the worst pattern costs where b divides R and the block's f is exact. Otherwise it is an upper bound, as a
/// pattern that is the worst in each of two neighbouring blocks may come closer than b at their border.
///
/// Beyond those sizes the norm is the lesser of two upper bounds. One fills every block as far as it can be
/// filled. The other is K γ √f(⌈R/b⌉) for K participations, since f(m) ≤ min(m²γ², f(⌈R/b⌉)) ≤ m γ √f(⌈R/b⌉).
[[nodiscard]] std::unique_ptr<EncoderNorm> restarted_norm(const noise::Restarted& restarted,
                                                          const Participation& participation);

}  // namespace nustream::privacy
