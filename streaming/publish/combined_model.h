// Combines the lanes' releases into one model, from what is public alone (docs/formats/model.md): a weighted average,
// or the solution of all lanes' sums.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "publish/promise.h"
#include "publish/released_sums.h"

namespace nustream::publish {

/// The combined model, or why there is none yet.
struct CombinedModel {
  /// One JSON object on one line, without a newline. Empty where a lane holds the model up, and where no lane has a
  /// weight.
  std::optional<std::string> json;
  /// The lanes that hold the model up.
  std::vector<LaneId> waits_for;
};

/// Combines the last releases of `lanes` lanes, weighted by their steps. A lane without a release, whose partition
/// may be empty for ever, has weight 0 and is named as empty. Combining is post-processing of public lines: it costs
/// nothing, and equal parts give equal bytes. With `solved`, where all releases show running sums, there are no
/// weights: the sums are added and solved once more.
///
/// A lane holds the model up in three cases: its last line is not a release; the line's digest is none of `digests`,
/// which are the digests of the settings, one for each rule of where an epoch begins; or it promises something else
/// than the first lane's (private or not, about which neighbours).
[[nodiscard]] CombinedModel combined_model(const std::map<LaneId, std::string>& releases, std::uint32_t lanes,
                                           std::span<const std::string> digests,
                                           const std::optional<SolvedModel>& solved = {});

/// What a reader of a combined model sees beside its coefficients.
struct ShownModel {
  std::uint64_t lanes = 0;  ///< how many lanes it is made of
  double rho = 0;           ///< of the lane that spent most
  Promise promise{};
  std::string model{};  ///< digest of what the coefficients mean; empty where the line does not say
};
/// Reads one encoded line; empty where it is not a combined model.
[[nodiscard]] std::optional<ShownModel> read_model(std::string_view line);

}  // namespace nustream::publish
