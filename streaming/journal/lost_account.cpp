// The refusals. They need no key, since a key would be made for a run that is refused.
#include "journal/lost_account.h"

#include <optional>
#include <string>
#include <system_error>

#include "journal/witness_files.h"
#include "secrets/key_place.h"

namespace nustream::journal {
namespace {

namespace fs = std::filesystem;

}  // namespace

Failure lost_account(const fs::path& file, const Witness& claimed, const std::string& why) {
  const std::string tells = "tells of epoch " + std::to_string(claimed.epoch.value()) + ", step " +
                            std::to_string(claimed.steps.value()) + " of stream " + claimed.stream + ", lane " +
                            std::to_string(claimed.lane.value());
  return {Exit::data,
          "the witness " + file.string() + " " + tells + " in the state folder " + claimed.folder +
              ", which holds none of it, " + why +
              ": restore that folder, its key and its settings; or choose another state folder, for other "
              "records; or move the witness away once you know that its spend is not to be counted"};
}

void require_no_other_stream(const WitnessSettings& settings) {
  if (settings.place.empty()) return;  // nobody keeps a witness, and none is asked
  const std::string folder = secrets::real_path(settings.folder).string();
  for (const fs::path& place : {settings.place, settings.beside_own_key, settings.usual}) {
    if (place.empty()) continue;
    std::error_code unknown;  // FolderWitness::find() says what a place means that cannot be listed
    for (const fs::path& file : witness_files(place, unknown)) {
      const std::optional<Witness> claimed = claims_in(file);
      if (!claimed || claimed->folder != folder) continue;
      if (claimed->stream == settings.stream && claimed->lane == settings.lane) continue;
      throw lost_account(file, *claimed, "for a stream or lane that is not this one");
    }
  }
}

}  // namespace nustream::journal
