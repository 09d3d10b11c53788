// `nustream attach`: the lanes of a topic, live, until told to stop.
#pragma once

#include <cstdint>
#include <optional>

#include "attach/host.h"
#include "config/config.h"
#include "error.h"

namespace nustream::attach {

struct Options {
  Renewal renewal;
  std::optional<std::uint64_t> insecure_seed;
  std::string write_config;  ///< a new file for the settings with what was measured; empty: none
  /// For tests: what stands between a lane and its noise. Empty in production.
  std::function<std::unique_ptr<engine::NoiseSupply>(LaneId, std::unique_ptr<engine::NoiseSupply>)> wrap_noise;
};

/// Measures first what is "private" (measuring.h), then joins the group and runs its lanes until they are done,
/// SIGTERM (0) or SIGINT (130). Throws Failure, and console::StartAgain where the process is to begin anew.
[[nodiscard]] Exit run(config::Config config, const Options& options);

}  // namespace nustream::attach
