// A program that links simulated_posix_disk.cpp has no other file system for its state.
#pragma once

#include "simulated_disk.h"

namespace nustream::tests {

/// The disk that journal::posix_disk() gives from now on.
[[nodiscard]] SimulatedDisk*& present_disk();

}  // namespace nustream::tests
