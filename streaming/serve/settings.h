// What the settings of the two listeners have to be.
#pragma once

#include "config/serve.h"

namespace nustream::serve {

using Limits = config::ServeLimits;
using Settings = config::Serve;

/// Throws InvalidParameter with the setting's name where a limit is out of range.
void check(const Limits& limits);

/// The same for addresses, and for an operator's listener beyond this machine that has no token. Reads no file.
void check(const Settings& settings);

}  // namespace nustream::serve
