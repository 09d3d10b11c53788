// The encoders of each family of correlations, and their squared sensitivities: encoder_norm() chooses among these.
// Each family has a source of its own; private to the privacy room.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "encoder_norm.h"
#include "nustream/noise/dense.h"

namespace nustream::privacy {

/// The first column c of an encoder, or an upper bound of it entry by entry.
struct EncoderColumn {
  std::vector<double> c;  ///< entries 0 … c.size() − 1, at least one
  double beyond = 0;      ///< bound of later entries: |c_t| ≤ beyond · ratio^{t − c.size()} for t ≥ c.size()
  double ratio = 0;       ///< 0 ≤ ratio ≤ 1; with 1 the column has no limit
  double rounding_per_step = 0;  ///< relative error of entry t is at most this times t + 1
  double absolute_error = 0;     ///< bound of ‖c − exact‖₂, on top of the relative error
};

/// Replaces |c_t| for t ≥ 1 by the largest |c_s| with s ≥ t. The result is non-negative and non-increasing from
/// c_1 on, and it is c itself where c has that shape already. Its sensitivity bounds that of c for any
/// participation, since Σ_ij |⟨C_i, C_j⟩| grows with every |c_t|.
[[nodiscard]] EncoderColumn envelope(EncoderColumn column);

/// Gives a column of at least `count` entries, or a shorter one with a bound for the entries beyond its end. Two
/// calls must agree on the entries that both of them give.
using ColumnSource = std::function<EncoderColumn(std::uint64_t count)>;

/// The norm ‖Σ_{i<k'} S^{ib} c‖² (Kalinin and Lampert 2024, Theorem 2). The column must be non-negative and, where
/// `participation` allows several times, non-increasing from c_1 on.
///
/// The theorem asks for a column that falls from c_0 on, but c_0 < c_1 changes nothing. For i < j, ⟨C_i, C_j⟩ over
/// T steps is Σ_{t<T−j} c_t c_{t+j−i}. Each of its terms has j − i ≥ 1, so it falls with the lag and with j; and
/// ⟨C_i, C_i⟩ falls with i. The earliest, evenly spaced participations have all lags and places at their smallest
/// at once.
///
/// No column of more than `reach` entries is needed, because what lies beyond is negligible. The table takes O(T)
/// time and doubles its length as T grows; after that a call is O(1).
[[nodiscard]] std::unique_ptr<EncoderNorm> numeric_norm(ColumnSource source, std::uint64_t reach,
                                                        const Participation& participation);

/// The `reach` of a column that never becomes negligible.
inline constexpr std::uint64_t endless_reach = std::numeric_limits<std::uint64_t>::max();

/// The largest r > 1 that was found with Σ_{t≥1} |β_t| r^t ≤ 1, where the sum is rounded outward. Empty where
/// there is no such r, that is unless Σ_{t≥1} |β_t| is below 1 by more than rounding.
[[nodiscard]] std::optional<double> certified_growth(const std::vector<double>& beta);

/// The column c = 1/β with its error bounds. It has `most_steps` entries, or only so many that the rest, even
/// `times` times over, has a norm of about 1e-15. Throws Unsupported where there is neither a certified tail nor a
/// number of steps that can be computed, and where β is so ill-conditioned that the bound would mean nothing.
///
/// Tail: c_t = −Σ_s β_s c_{t−s}. With Σ|β_s| r^s ≤ 1, |c_t| r^t is at most the largest |c_j| r^j of the W − 1
/// entries before t. By induction it is therefore at most the largest of the last W − 1 entries that were
/// computed.
///
/// Rounding: the computed ĉ satisfies Σ_s β_s ĉ_{t−s} = [t = 0] + δ_t with |δ_t| ≤ κ Σ_{s≥1} |β_s ĉ_{t−s}|, where
/// κ is the error of one dot product. So ĉ − c = c ∗ δ, and ‖δ‖ ≤ κ s ‖ĉ‖ in either norm, with s = Σ_{t≥1}|β_t|.
/// If ζ = κ s ‖ĉ‖₁ < 1, then ‖ĉ − c‖₂ ≤ ‖ĉ‖₂ ζ/(1 − ζ). The same holds for the first entries of c alone.
[[nodiscard]] EncoderColumn window_column(const std::vector<double>& beta, std::optional<StepCount> most_steps,
                                          std::uint64_t times);

/// The given column c of a Strategy, over at most `most_steps` steps, with a bound of its distance from the encoder
/// of the noise that is generated. Contract: the correlation is a Strategy. Throws Unsupported where the noise's
/// coefficients are too large to be computed.
[[nodiscard]] EncoderColumn strategy_column(const noise::Correlation& correlation,
                                            std::optional<StepCount> most_steps);

/// The norm Σ_{t<T} c_t² for one participation, c_t = (1−ν)^t·C(2t, t)/4^t (CDP+ eq. (7)). For ν > 0 its limit is
/// 1/AGM(1, √(1 − (1−ν)²)).
[[nodiscard]] std::unique_ptr<EncoderNorm> nu_column_norm(Damping nu);

/// The first n = `count` entries of the column c, with c_n·(1−ν)^{t − n} as the bound of the entries t ≥ n. The
/// entries are computed in long double, so that they are accurate to a few units in the last place for the first
/// few thousand steps.
[[nodiscard]] EncoderColumn nu_column(Damping nu, std::uint64_t count);

/// The number of entries after which what is left of c has a norm below 1e-16, even `times` times over. For ν = 0
/// it is endless_reach.
[[nodiscard]] std::uint64_t nu_reach(Damping nu, std::uint64_t times);

/// c_0 = 1 and c_t = Σ_i weights_i · decays_i^{t−1} for t ≥ 1, with weights > 0 and 0 < decays ≤ 1. This form
/// covers independent noise (no terms), anti-PGD (decay 1), damped anti-PGD (one term) and rational correlations.
struct ExponentialEncoder {
  std::vector<double> decays;   ///< q_i
  std::vector<double> weights;  ///< b_i
  /// Relative error of a term for each step that it decays over. The noise is generated from rounded p and a, and
  /// the accounting uses q and b, which are rounded on their own; this covers the difference. It counts for at
  /// most 1/(1 − q) steps of the slowest term, since a term has vanished after that.
  double rounding_per_step = 0;
};

/// The encoder of a correlation of this form; empty for the other correlations.
[[nodiscard]] std::optional<ExponentialEncoder> exponential_encoder(const noise::Correlation& correlation);

/// The norm is exact also for c_1 > c_0: it is enough that c falls from c_1 on, as numeric_norm() shows. A call
/// takes O(terms²) for one participation, and O(terms²) for each further one that it reaches beyond the last call.
[[nodiscard]] std::unique_ptr<EncoderNorm> exponential_norm(ExponentialEncoder encoder,
                                                            const Participation& participation);

/// Let x_s(T) = Σ_{t<T} C_ts² be the squared norm of column s within T steps. The squared sensitivity is max_s x_s
/// for one participation. For several it is
///
///     min(k', ⌈bands/b⌉) · max_π Σ_{s∈π} x_s,   k' = min(k, ⌈T/b⌉),
///
/// where a dynamic programme finds the maximum. This is exact where the bands do not reach from one participation
/// to the next (bands ≤ b), because the columns are then orthogonal. Otherwise it is an upper bound: split the
/// participations into m = ⌈bands/b⌉ classes, each of every m-th one; the columns of a class are orthogonal, and
/// ‖Σ_{i≤m} v_i‖² ≤ m Σ ‖v_i‖².
///
/// Noise is generated by substitution with C itself, so nothing has to be inverted here. All rising numbers of
/// steps together take O(T · bands), and each takes O(T k') more where k > 1.
[[nodiscard]] std::unique_ptr<EncoderNorm> dense_norm(const noise::Dense& encoder,
                                                      const Participation& participation);

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
