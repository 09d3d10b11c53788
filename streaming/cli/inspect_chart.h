// Draws what `nustream inspect --chart` shows in the terminal.
#pragma once

#include <string>

#include "serve/history.h"

namespace nustream::cli {

/// Prints an empty line and the path of the main coefficient of an epoch, in letters. `stream` is the picture's
/// title, and `release` the epoch's last release as it was published. Draws nothing where `release` is not one.
void print_chart(const std::string& stream, const std::string& release, const serve::History& history);

}  // namespace nustream::cli
