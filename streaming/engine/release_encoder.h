// Makes the encoder of releases that the settings ask for.
#pragma once

#include <optional>
#include <string>

#include "config/mechanism.h"
#include "publish/release_json.h"
#include "publish/released_sums.h"

namespace nustream::engine {

/// What the settings promise, in the form in which a release says it.
[[nodiscard]] publish::Promise promise_of(const config::Config& config, bool is_private);

/// What identifies a lane's releases in addition to the settings.
struct ReleaseIdentity {
  LaneId lane;
  EpochId epoch;
  std::string settings_digest;
  bool is_private;
};
[[nodiscard]] publish::ReleaseHeader release_header(const config::Config& config, const ReleaseIdentity& of);

[[nodiscard]] publish::ReleaseEncoder release_encoder(const config::Config& config,
                                                      const config::Mechanism& mechanism, const ReleaseIdentity& of,
                                                      publish::LedgerTotal ledger_total = {});

/// How a model is solved from the running sums that releases show; nothing for a descent.
[[nodiscard]] std::optional<publish::SolvedModel> solved_model(const config::Config& config);

}  // namespace nustream::engine
