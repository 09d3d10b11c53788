// What a stream estimates, in a sentence for people.
#pragma once

#include <string>

#include "config/config.h"

namespace nustream::engine {

/// "Linear regression of count on temperature, humidity and wind." Names are the settings' own; of more than six the
/// others are counted.
[[nodiscard]] std::string subject_of(const config::Config& config);

}  // namespace nustream::engine
