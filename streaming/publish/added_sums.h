// The sums of several lanes as one: a model of running sums is solved once more from what all of them have released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "publish/json_text.h"
#include "publish/original_units.h"
#include "publish/released_sums.h"

namespace nustream::publish {

/// What the lanes' sums are of, and how a solution of theirs is shown.
struct SolvedModel {
  OriginalUnits units;
  std::size_t inputs;                     ///< of a row; of instrumental variables controls and instruments
  std::size_t responses;                  ///< the endogenous regressors and the target
  std::optional<std::size_t> controls{};  ///< of instrumental variables, the first inputs; else nothing
};

/// All lanes' records as one run's.
struct AddedSums {
  ShownSums sums;         ///< about the first part's centre
  std::uint64_t records;  ///< usable or not
  std::uint64_t floored;  ///< directions that the noise of all lanes hides
  NamedValues estimate;   ///< in original units; empty where noise hides the instruments
};

/// From encoded releases of lanes over records of their own. A post-processing: the noise adds up as the sums do, so
/// that λ is the root of the sum of the parts' squares. Nothing where a part shows no sums, or others than `model`'s.
[[nodiscard]] std::optional<AddedSums> added_sums(std::span<const std::string> lines, const SolvedModel& model);

/// ,"moments":{…} of a combined model (docs/formats/model.md).
void append_added(const AddedSums& added, std::string& out);

}  // namespace nustream::publish
