// The generator of a correlation that is begun anew every so many steps; private to the noise room.
#pragma once

#include <cstddef>
#include <memory>

#include "generator.h"

namespace nustream::noise {

/// Generates z of consecutive stretches of `every` steps, each as `block` generates it from its own step 0 on. The
/// seed noise is still that of the absolute step, and no seed noise of an earlier stretch is read again.
[[nodiscard]] std::unique_ptr<Generator> make_restarted(std::unique_ptr<Generator> block, StepCount every,
                                                        std::size_t dimension);

}  // namespace nustream::noise
