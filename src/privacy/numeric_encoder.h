// Encoders whose column is known only as a list of numbers: windows, strategies of the user's own, and exact
// ν-FTRL with several participations.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "encoder_norm.h"

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

}  // namespace nustream::privacy
