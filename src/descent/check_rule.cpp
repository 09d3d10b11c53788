// Checks what the loops of all losses have in common, once, when a loop is made. The steps themselves check nothing.
#include "descent/check_rule.h"

#include <cmath>
#include <string>

#include "nustream/base/error.h"

namespace nustream::descent {

// An iterate that is not finite stays so, and its gradients are zero. So a start has to be finite.
void check_start(std::span<const double> start) {
  if (start.empty()) throw InvalidParameter("dimension", "0", "at least one coefficient");
  for (const double entry : start) {
    if (!std::isfinite(entry)) throw InvalidParameter("start", std::to_string(entry), "finite numbers");
  }
}

void check_l2(double l2) {
  if (!std::isfinite(l2) || l2 < 0) throw InvalidParameter("l2", std::to_string(l2), "a finite number >= 0");
}

void check_rule(const StepRule& rule, std::span<const double> start) {
  model::check(rule.loss);
  check_start(start);
  rule.projection.check(start.size());
  check_l2(rule.l2);
  if (rule.minibatch == 0) throw InvalidParameter("minibatch", "0", "at least one record");
  // The condition is negated as a whole, so that a NaN is refused too. At 1 the velocity would never forget anything.
  if (!(rule.momentum >= 0 && rule.momentum < 1)) {
    throw InvalidParameter("momentum", std::to_string(rule.momentum), "a number with 0 <= momentum < 1");
  }
}

}  // namespace nustream::descent
