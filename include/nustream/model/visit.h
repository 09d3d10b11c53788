// Goes from a loss that is chosen at run time to its formula, which is known at compile time. This happens once a
// batch and not once a record.
#pragma once

#include "nustream/model/huber.h"
#include "nustream/model/linear.h"
#include "nustream/model/logistic.h"
#include "nustream/model/loss.h"
#include "nustream/model/mean.h"
#include "nustream/model/poisson.h"
#include "nustream/model/quantile.h"

namespace nustream::model {

/// Calls `visitor` with the formula of `loss` (Mean{}, Linear{}, …) and returns what it returns. The loss must have
/// one predictor.
template <class Visitor>
decltype(auto) visit(const Loss& loss, Visitor&& visitor) {
  switch (loss.kind) {
    case Loss::Kind::mean:
      return visitor(Mean{});
    case Loss::Kind::linear:
      return visitor(Linear{});
    case Loss::Kind::huber:
      return visitor(Huber{loss.threshold});
    case Loss::Kind::logistic:
      return visitor(Logistic{});
    case Loss::Kind::poisson:
      return visitor(Poisson{});
    case Loss::Kind::quantile:
      return visitor(Quantile{loss.level, loss.bandwidth});
    case Loss::Kind::multinomial:
      break;
  }
  __builtin_unreachable();
}

}  // namespace nustream::model
