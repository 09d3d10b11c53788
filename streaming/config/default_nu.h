// The ν that is used where the settings do not give one: the best for what a release is quoted for.
#pragma once

#include "config/settings_tree.h"
#include "nustream/base/units.h"

namespace nustream::config {

/// The best ν for the average where `descent.average` asks for one, else for the last iterate, as a plan suggests it.
/// It follows from [descent], plan.second_moment_eigenvalues (or else all 1) and plan.records alone, for records that
/// take part once. It is rounded to two digits, so that every machine has the same. Where there is no such ν, it
/// refuses the settings because noise.nu is missing.
[[nodiscard]] Damping default_nu(const Section& root);

}  // namespace nustream::config
