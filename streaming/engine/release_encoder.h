// The encoder that the settings ask for.
#pragma once

#include "config/mechanism.h"
#include "publish/release_json.h"

namespace nustream::engine {

[[nodiscard]] publish::ReleaseEncoder release_encoder(const config::Config& config,
                                                      const config::Mechanism& mechanism,
                                                      publish::ReleaseHeader header);

}  // namespace nustream::engine
