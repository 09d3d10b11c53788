// The noise of one fit: each release has its own key stage and draws from it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/grid.h"
#include "nustream/noise/source.h"

namespace nustream::ranges {

/// The key stages of the releases of a fit (docs/formats/noise.md), in the order in which the releases are made. Only
/// the last one is out of order. Their numbers never change.
enum class KeyStage : std::uint32_t {
  octaves,     ///< histograms of octaves
  columns,     ///< histograms of equal bins
  first_zoom,  ///< histograms of equal bins, of columns that are looked at more closely
  second_zoom,
  first_lengths,    ///< histograms of lengths and residuals, before the pilot
  pilot_second,     ///< second moments of the pilot
  pilot_target,     ///< target moments of the pilot
  second_lengths,   ///< histograms of lengths and residuals, after the pilot
  second,           ///< second moments of the answer
  target,           ///< target moments of the answer
  spread,           ///< residual moments of the answer
  first_curvature,  ///< curvature of a likelihood at the start; later ones are at the end of the step before
  first_score,
  second_curvature,
  second_score,
  third_curvature,
  third_score,
  third_lengths,  ///< histograms of lengths and residuals before the last step
  last_curvature,
  last_score,
  tails,  ///< histogram of the residuals of the answer's rows, before `second`, or before `first_curvature` of counts
  last_tails  ///< the same before `last_curvature` of counts
};
inline constexpr std::size_t key_stages = 22;

/// Draws `entries` integers of `grid`: independent noise with the grid's standard deviation.
using DrawNoise =
    std::function<std::vector<std::int64_t>(KeyStage stage, const noise::Grid& grid, std::size_t entries)>;

/// Draws noise from the key of an epoch. Every stage has a key of its own and gives its noise once. If it is asked a
/// second time the process ends, because the same noise over two inputs would be a two-time pad. The key is wiped
/// with the last copy of what this returns; the caller wipes `epoch_key`. `secrets` holds the keys and must outlive
/// the result; the service passes locked memory.
[[nodiscard]] DrawNoise keyed_noise(const noise::KeyBytes& epoch_key, LaneId lane, EpochId epoch,
                                    std::pmr::memory_resource* secrets = std::pmr::get_default_resource());

}  // namespace nustream::ranges
