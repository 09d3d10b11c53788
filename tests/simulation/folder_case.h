// What one history of `replay` to a folder works on, before anything goes wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "draws.h"
#include "history.h"
#include "play.h"
#include "replay/input.h"

namespace nustream::tests {

namespace folder_paths {
inline const std::string folder = "/run";
inline const std::string releases = folder + "/releases.jsonl";
inline const std::string ledger = folder + "/ledger";
inline const std::string state = folder + "/state";
inline const std::string rejects = folder + "/rejects.jsonl";
}  // namespace folder_paths

struct FolderCase {
  Settings settings;
  folder::Window window;
  secrets::Keyring keys;
  bool fresh_keys = false;
};

/// Draws a case and writes its input. Empty where no settings were accepted in many tries: not every correlation can
/// be combined with every other setting. `given_passes` is the number of passes over given records.
[[nodiscard]] std::optional<FolderCase> draw_folder_case(Draws& draws, std::uint64_t seed, const Given* given,
                                                         std::uint64_t given_passes);

}  // namespace nustream::tests
