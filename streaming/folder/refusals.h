// Says in words why a run does not begin: what is wrong, where, and what to do.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "error.h"
#include "folder/options.h"
#include "journal/file_journal.h"
#include "journal/folder_witness.h"
#include "journal/ledger_chain.h"
#include "secrets/seal.h"

namespace nustream::folder {

/// Throws Failure(io), which names the key, where state.directory is there and is no folder.
void require_folder(const config::Config& config);
/// A first run was asked for, in a folder that holds a state. `new_epoch` is the option that begins a new epoch
/// behind it.
[[nodiscard]] Failure state_is_there(const secrets::StateIdentity& state, const config::Config& config,
                                     const Options& options, const std::string& new_epoch = "--new-epoch");
/// --resume was given, and the folder holds no state.
[[nodiscard]] Failure nothing_to_resume(const std::filesystem::path& folder);
/// The folder holds releases or a ledger without a state, and no new epoch was asked for.
[[nodiscard]] Failure remains_without_state(const config::Config& config, const Options& options,
                                            const std::string& new_epoch);
/// The folder holds a private state and the run is not private, or the other way round. `is_private` is the run's.
[[nodiscard]] Failure other_kind(const std::string& folder, bool is_private);
/// The folder's ledger lacks spends that the witness knows of. `new_epoch` is the command that goes on in a new
/// epoch.
[[nodiscard]] Failure is_older(const journal::FolderWitness& witness, const secrets::StateIdentity& state,
                               const config::Config& config, const std::string& new_epoch);
/// The folder is empty, but the witness knows that it was not empty before.
[[nodiscard]] Failure is_forgotten(const journal::FolderWitness& witness, const config::Config& config,
                                   const std::string& new_epoch);

/// The line that has to be added to the ledger before anything else is spent; nothing where the ledger pays for all
/// that the adopted files show. A power failure may have kept a release and lost its ledger line. The release itself
/// then says what its epoch has spent, and the line is written anew, over an unknown range. `is_private` is the
/// run's. Throws Failure(data) where a spend is not known at all.
[[nodiscard]] std::optional<journal::LedgerEntry> owed_by(const journal::Adopted& adopted,
                                                          const journal::Ledger& ledger, const config::Config& config,
                                                          bool is_private);

}  // namespace nustream::folder
