// Adds the sums of several lanes: a model of running sums is solved once more from what all lanes have released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "publish/json_writer.h"
#include "publish/original_units.h"
#include "publish/released_sums.h"

namespace nustream::publish {

/// What the lanes' sums are of, and how a solution of them is shown.
struct SolvedModel {
  OriginalUnits units;
  std::size_t inputs;     ///< of a row; with instrumental variables, controls and instruments
  std::size_t responses;  ///< endogenous regressors, and the target
  /// With instrumental variables, how many of the inputs are controls; else empty.
  std::optional<std::size_t> controls{};
};

/// The sums as if all lanes' records had been one run's.
struct AddedSums {
  ShownSums sums;         ///< about the centre of the first part
  std::uint64_t records;  ///< of all lanes, usable or not
  std::uint64_t floored;  ///< directions that the noise of all lanes together hides
  NamedValues estimate;   ///< in original units; empty where noise hides the instruments
};

/// Adds the sums of encoded releases of lanes, whose records are disjoint. This is post-processing: the noise adds up
/// as the sums do, so that λ is the root of the sum of the parts' squares. Empty where a part shows no sums, or sums
/// of another model.
[[nodiscard]] std::optional<AddedSums> added_sums(std::span<const std::string> lines, const SolvedModel& model);

/// Writes "moments":{…} of a combined model (docs/formats/model.md).
void append_added(const AddedSums& added, JsonWriter& json);

}  // namespace nustream::publish
