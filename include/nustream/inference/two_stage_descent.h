// Two-stage descent without clips and noise. Private two-stage descents are compared with it.
#pragma once

#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/schedule.h"
#include "nustream/descent/two_stage_loop.h"
#include "nustream/inference/least_squares.h"

namespace nustream::inference {

/// Full-batch steps of both stages, each from the iterates of the same step.
struct TwoStageDescent {
  descent::TwoStageShape shape;
  descent::Schedule first_schedule;  ///< η_t
  descent::Schedule schedule;        ///< α_t
  double first_l2 = 0;
  double l2 = 0;
  descent::Projection projection;  ///< applied to β
  std::vector<double> start;       ///< [β, Θ], shape.dimension() entries; empty: zeros
  StepCount steps{0};              ///< T
};

/// β_T: the controls first, then the endogenous regressors. Rows are [z, x]. A row whose target is NaN is a row of
/// zeros to both stages, even where a private descent's public first stage would take it. The result is not private.
/// Its limit is two_stage_least_squares(). Source: the IV paper, Algorithm 2.
[[nodiscard]] std::vector<double> two_stage_descent(const TableView& table, const TwoStageDescent& descent);

}  // namespace nustream::inference
