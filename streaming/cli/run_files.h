// What `nustream check` finds of the files beside the records that a run needs: its key, tokens, log and account. A
// file that is there has to be what a run takes. One that is not there may be on another machine, and is warned of.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace nustream::cli {

/// Throws Failure(permission) where the key that the settings name is there and is none that a run would take. It
/// reads the key; nothing is made.
void require_key(const config::Config& config);

/// Throws what attach would throw, before it asks a broker, of the files of its log, of its listeners' tokens and of
/// its own token for the brokers, where these are there or their folders are. Nothing is made.
void require_files_of_service(const config::Config& config);

/// A sentence for each file or program that the settings name and that is not there, or could not be made for want of
/// a folder. A run on this machine would be refused.
[[nodiscard]] std::vector<std::string> missing_files(const config::Config& config);

}  // namespace nustream::cli
