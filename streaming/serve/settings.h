// What the settings of the two listeners have to be.
#pragma once

#include "config/serve.h"

namespace nustream::serve {

using Limits = config::ServeLimits;
using Settings = config::Serve;

/// Throws InvalidParameter with the setting's name where a limit is out of range.
void check(const Limits& limits);

/// Throws InvalidParameter("serve.operator_token_file") where the operator's address can be reached from elsewhere:
/// for listeners that ask for no token.
void require_loopback(const Settings& settings);

/// The limits and the addresses; an operator's listener beyond this machine may not do without a token. Reads no
/// file.
void check(const Settings& settings);

}  // namespace nustream::serve
