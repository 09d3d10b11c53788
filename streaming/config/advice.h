// Advice that follows from settings alone. It is given before a record is read, so that nothing of it depends on
// data.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "publish/json_writer.h"

namespace nustream::config {

/// A sentence where the first steps overshoot, that is, where η_0 times the largest curvature is 2 or more. Second
/// moments are those of [plan], or else of size 1 in every coordinate. Empty where the steps do not overshoot, or the
/// loss has no bounded curvature.
[[nodiscard]] std::string overshoot(const Config& config);
/// Whether the steps overshoot wherever the records can be used: those of constant size of a mean, or of a linear
/// model that has an intercept (a constant 1, whose curvature is 1). False where the settings leave the curvature
/// open, as weights and users' limits do. What [plan] guesses has no say. It is not only advice: no path of such
/// steps is called settled.
[[nodiscard]] bool surely_overshoots(const Config& config);

/// A sentence where the name of a JSON member has a dot, which may be meant for a member inside another one. Empty
/// where no name has a dot.
[[nodiscard]] std::string dotted_member(const Config& config);

/// A sentence where intervals are asked for with so few batches, or so few released iterates of checkpoints or runs,
/// that it can never be told whether the path has settled, so that no interval is ever shown. Empty where there are
/// enough, or no intervals are asked for.
[[nodiscard]] std::string too_few_batches(const Config& config);

/// A sentence where `records` records of a stream are fewer than one step takes, so that no step is taken. Empty
/// where they are enough, where their number is 0 because nobody knows it, and for a table, whose steps fit its size.
[[nodiscard]] std::string too_few_for_a_step(const Config& config, std::uint64_t records);

/// A sentence where the noise was meant to begin anew, but the stream ends all the same, because descent.horizon ends
/// the steps of a correlation that has no horizon of its own. Else empty.
[[nodiscard]] std::string restarts_in_vain(const Config& config);
/// A sentence where the settings say who a user is or what a user may do, although the unit is the record and so the
/// promise is not about users. Else empty.
[[nodiscard]] std::string unit_is_the_record(const Config& config);

/// Writes "warnings":[…] with the sentences of `advice` that are not empty.
inline void append_warnings(const std::vector<std::string>& advice, publish::JsonWriter& json) {
  const auto warnings = json.array("warnings");
  for (const std::string& each : advice) {
    if (!each.empty()) json.element(each);
  }
}

}  // namespace nustream::config
