// Encoders whose column is known as numbers only: windows, user-given strategies, and exact ν-FTRL with several
// participations.
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
  std::vector<double> c;         ///< entries 0 … c.size() − 1, at least one
  double beyond = 0;             ///< |c_t| ≤ beyond · ratio^{t − c.size()} for t ≥ c.size()
  double ratio = 0;              ///< 0 ≤ ratio ≤ 1; at 1 the column has no limit
  double rounding_per_step = 0;  ///< relative error of entry t, divided by t + 1
  double absolute_error = 0;     ///< largest ‖c − exact‖₂, on top of the relative one
};

/// |c_t| for t ≥ 1 replaced by the largest |c_s|, s ≥ t: non-negative, non-increasing from c_1 on, and c itself where
/// c is so already. The envelope's sensitivity bounds that of c for any participation, since Σ_ij |⟨C_i, C_j⟩| grows
/// with every |c_t|.
[[nodiscard]] EncoderColumn envelope(EncoderColumn column);

/// Gives a column of at least `count` entries, or a shorter one with a bound for what lies beyond; the entries
/// that two calls share agree.
using ColumnSource = std::function<EncoderColumn(std::uint64_t count)>;

/// ‖Σ_{i<k'} S^{ib} c‖² (Kalinin and Lampert 2024, Theorem 2), for a column that is non-negative and, where
/// `participation` allows several times, non-increasing from c_1 on. That c_0 may be smaller than c_1 changes
/// nothing: ⟨C_i, C_j⟩ over T steps, i < j, is Σ_{t<T−j} c_t c_{t+j−i}; each of its terms has j − i ≥ 1, so it falls
/// with the lag and with j, and so does ⟨C_i, C_i⟩ with i. The earliest, evenly spaced participations have all lags
/// and places at their smallest at once.
///
/// `reach`: no column of more entries is needed, as
/// what lies beyond is negligible. O(T) time, doubles as T grows; then O(1).
[[nodiscard]] std::unique_ptr<EncoderNorm> numeric_norm(ColumnSource source, std::uint64_t reach,
                                                        const Participation& participation);

/// The `reach` of a column that has no end.
inline constexpr std::uint64_t endless_reach = std::numeric_limits<std::uint64_t>::max();

}  // namespace nustream::privacy
