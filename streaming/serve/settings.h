// Checks the settings of the two listeners.
#pragma once

#include "config/serve.h"

namespace nustream::serve {

using Limits = config::ServeLimits;
using Settings = config::Serve;

/// Throws InvalidParameter with the setting's name where a limit is out of range.
void check(const Limits& limits);

/// Throws InvalidParameter("serve.operator_token_file") where the operator's address can be reached from elsewhere.
/// To be called for listeners that ask for no token.
void require_loopback(const Settings& settings);

/// Checks the limits and the addresses, and that an operator's listener beyond this machine has a token. Reads no
/// file.
void check(const Settings& settings);

}  // namespace nustream::serve
