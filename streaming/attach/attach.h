// `nustream attach`: the lanes of a topic, live, until told to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attach/host.h"
#include "config/config.h"
#include "error.h"

namespace nustream::attach {

struct Options {
  Renewal renewal;
  std::optional<std::uint64_t> insecure_seed;
  std::string write_config;               ///< a new file for the settings with what was measured; empty: none
  std::vector<std::string> properties{};  ///< what -X sets, NAME=VALUE, for commands that are printed
  /// For tests: wraps the noise supply of a lane. Empty in production.
  std::function<std::unique_ptr<engine::NoiseSupply>(LaneId, std::unique_ptr<engine::NoiseSupply>)> wrap_noise;
};

/// Measures first the settings that are "private" (measuring.h), then joins the group and runs the lanes that the
/// group assigns, until they are done or a signal comes. Returns the exit code: that of the lanes' end, 0 after
/// SIGTERM and 130 after SIGINT. Throws Failure, and console::StartAgain where the process is to begin anew.
[[nodiscard]] Exit run(config::Config config, const Options& options);

}  // namespace nustream::attach
