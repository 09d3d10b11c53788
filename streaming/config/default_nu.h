// ν where the settings do not say it: the one that is best for what a release is quoted for.
#pragma once

#include "config/settings_tree.h"
#include "nustream/base/units.h"

namespace nustream::config {

/// For the average where `descent.average` asks for one, else for the last iterate, as a plan suggests it: of
/// [descent], plan.second_moment_eigenvalues (else all 1) and plan.records alone, for records that take part once,
/// and rounded to two digits, so that every machine has the same. Refuses where there is none, as noise.nu missing.
[[nodiscard]] Damping default_nu(const Section& root);

}  // namespace nustream::config
