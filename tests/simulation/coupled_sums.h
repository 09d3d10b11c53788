// What a record moves in running sums: the counterpart of gradient_difference() for models that are solved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nustream/moments/lane.h"
#include "nustream/record/batch.h"

namespace nustream::tests {

/// By how many grid units the sums of a step change, where row `row` of `here` takes the place of that row in
/// `there`: Σ(here) − Σ(there), one vector for each noised block. `state` is the lane's state before the step, which
/// determines the step's radii and centre. Throws where a block without noise changes.
[[nodiscard]] std::vector<std::vector<std::int64_t>> sums_difference(const moments::Settings& settings,
                                                                     const std::string& state,
                                                                     const record::RowBatch& here,
                                                                     const record::RowBatch& there, std::size_t row);

}  // namespace nustream::tests
