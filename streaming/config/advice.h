// What settings alone tell of trouble ahead: before a record is read, so that nothing of it depends on data.
#pragma once

#include <string>

#include "config/config.h"

namespace nustream::config {

/// One sentence where the first steps overshoot: η_0 times the largest curvature is 2 or more, for second moments as
/// [plan] says or else of size 1 in every coordinate. Empty where they do not, or where the loss has no bounded
/// curvature.
[[nodiscard]] std::string overshoot(const Config& config);

/// One sentence where a member of JSON has a dot in its name and may be meant as one inside another. Empty where none
/// has.
[[nodiscard]] std::string dotted_member(const Config& config);

/// One sentence where intervals are asked for whose batches are too few to tell that a path has settled, so that none
/// is ever shown. Empty where they are enough, or none are asked for.
[[nodiscard]] std::string too_few_batches(const Config& config);

}  // namespace nustream::config
