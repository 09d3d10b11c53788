// The sums themselves in a release (release.moments), from which any reader can solve for subsets of features, with
// ridge, or with another feature as the target; and the sums of several lanes, added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nustream/moments/gap_noise.h"
#include "nustream/moments/normal_equations.h"
#include "publish/json_writer.h"
#include "publish/original_units.h"

namespace nustream::publish {

/// The sums as a reader of the release sees them.
struct ShownSums {
  moments::NormalEquations equations;  ///< about the last stage's centre
  double floor = 0;                    ///< λ: solve() raises eigenvalues to it
  /// How far noise may have moved what is solved from the sums of a linear model. Empty in older lines.
  std::optional<moments::GapNoise> noise{};
};
/// Writes "sums":{…} of a release that shows them, in working coordinates (docs/formats/releases.md).
void append_sums(const ShownSums& shown, JsonWriter& json);
/// Reads the sums of one encoded line. Empty where it shows none, where their sizes disagree, or where numbers are
/// missing.
[[nodiscard]] std::optional<ShownSums> read_sums(std::string_view line);

/// The model that the lanes' sums are of, and the units in which a solution of them is shown.
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
