// The checks that every loop makes.
#pragma once

#include <cstddef>
#include <span>

#include "nustream/descent/loop.h"

namespace nustream::descent {

/// Throws InvalidParameter where the rule is out of range for an iterate of `start`'s size, or where `start` is empty
/// or not finite.
void check_rule(const StepRule& rule, std::span<const double> start);
/// The part of that check which does not concern the rule.
void check_start(std::span<const double> start);
/// Throws InvalidParameter where λ is not a finite number ≥ 0.
void check_l2(double l2);

}  // namespace nustream::descent
