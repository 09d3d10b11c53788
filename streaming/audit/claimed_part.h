// Which part of the claim two worlds of a game can show.
#pragma once

#include <cstdint>

#include "config/config.h"
#include "config/mechanism.h"

namespace nustream::audit {

/// What stands in the canary's place in the world without it.
enum class Absent : std::uint8_t {
  neighbour,  ///< with replace-one: a record as far from the canary as can be; with zero-out: nothing
  nothing,    ///< a record that cannot be used; with replace-one the second pair of worlds
};

/// How far apart the two worlds can be, as a part of the displacement that is claimed for a stage. It is 1, except
/// where neighbours are replace-one and one of the two has nothing. There it is 1 for a count, half for a descent,
/// and one radius over the displacement in running sums.
[[nodiscard]] double part_of_displacement(const config::Config& config, const config::CalibratedStage& stage,
                                          Absent absent);
/// The part of ρ, of all stages together, that two such worlds can show.
[[nodiscard]] double part_of_rho(const config::Config& config, const config::Mechanism& mechanism, Absent absent);

}  // namespace nustream::audit
