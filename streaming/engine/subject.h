// Says in a sentence what a stream estimates.
#pragma once

#include <string>

#include "config/config.h"

namespace nustream::engine {

/// For example "Linear regression of count on temperature, humidity and wind." The names are the settings' own. Of
/// more than six features the first six are named, and the others counted.
[[nodiscard]] std::string subject_of(const config::Config& config);

}  // namespace nustream::engine
