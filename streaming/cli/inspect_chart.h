// What `nustream inspect --chart` draws in the terminal.
#pragma once

#include <string>

#include "serve/history.h"

namespace nustream::cli {

/// The path of the main coefficient of an epoch, in letters, below an empty line. `stream`: the picture's title.
/// `release`: the epoch's last release as published; nothing is drawn where it is none.
void print_chart(const std::string& stream, const std::string& release, const serve::History& history);

}  // namespace nustream::cli
