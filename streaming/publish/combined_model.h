// The lanes' releases as one model: a weighted average, computed from what is public alone (docs/formats/model.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "nustream/base/units.h"

namespace nustream::publish {

/// One JSON object on one line, newline excluded, from the last release of each lane; the weights are their steps.
/// Post-processing of public lines: it costs nothing, and one set of parts gives one value, byte for byte.
///
/// Nothing where one of `lanes` lanes has no release, has taken no step, or released under none of `digests`, which
/// are those of the settings by each rule of where an epoch begins, or where they promise different things (private
/// or not, about which neighbours).
[[nodiscard]] std::optional<std::string> combined_model(const std::map<LaneId, std::string>& releases,
                                                        std::uint32_t lanes, std::span<const std::string> digests);

}  // namespace nustream::publish
