// The lanes' releases as one model, computed from what is public alone (docs/formats/model.md): a weighted average,
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
#include "publish/added_sums.h"
#include "publish/promise.h"

namespace nustream::publish {

/// What the lanes' releases come to.
struct CombinedModel {
  /// One JSON object on one line, newline excluded; nothing where a lane holds it up, and where no lane has a weight.
  std::optional<std::string> json;
  /// The lanes that hold it up.
  std::vector<LaneId> waits_for;
};

/// From the last release of each of `lanes` lanes; the weights are their steps, so that a lane without a release,
/// whose partition may be empty for ever, has none and is named as empty. Post-processing of public lines: it costs
/// nothing, and one set of parts gives one value, byte for byte. Of running sums, `solved`, whose releases all show
/// them, there are no weights: the sums are added and solved once more.
///
/// A lane holds the model up where its last release is under none of `digests`, which are those of the settings by
/// each rule of where an epoch begins, where it promises something else than the first lane's (private or not, about
/// which neighbours), and where it is no release.
[[nodiscard]] CombinedModel combined_model(const std::map<LaneId, std::string>& releases, std::uint32_t lanes,
                                           std::span<const std::string> digests,
                                           const std::optional<SolvedModel>& solved = {});

/// What a reader of a combined model sees of it beside its coefficients.
struct ShownModel {
  std::uint64_t lanes = 0;  ///< that it is made of
  double rho = 0;           ///< of the dearest of them
  Promise promise{};
  std::string model{};  ///< of what the coefficients are of; empty where the line does not say
};
/// Of one encoded line; nothing where it is none.
[[nodiscard]] std::optional<ShownModel> read_model(std::string_view line);

}  // namespace nustream::publish
