// What a state folder spent before it was deleted or emptied, by the witnesses that name the folder's path
// (docs/formats/witness.md). A folder that holds none of it would begin at a spend of nothing, so it is refused.
#pragma once

#include <filesystem>
#include <string>

#include "error.h"
#include "journal/folder_witness.h"
#include "journal/witness.h"

namespace nustream::journal {

/// The refusal of a folder that lacks what the witness in `file` claims. `why` says why no run can go on behind it,
/// such as "under a key that is not this one".
[[nodiscard]] Failure lost_account(const std::filesystem::path& file, const Witness& claimed, const std::string& why);

/// Looks in the places of the settings for a witness of another stream or lane that names the folder's path. Needs no
/// key. To be called for a folder without a state, before a key and the link to it are made there: the link would
/// lead later runs away from the old account's key.
///
/// Throws Failure(data) where there is such a witness. This stream cannot be charged for what the other one spent,
/// since a ledger is about one stream and lane.
void require_no_other_stream(const WitnessSettings& settings);

}  // namespace nustream::journal
