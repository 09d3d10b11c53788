// A state sealed anew under another key file, so that the old one can be destroyed.
#pragma once

#include <filesystem>

#include "journal/disk.h"
#include "journal/folder_witness.h"
#include "journal/ledger_chain.h"
#include "secrets/keyring.h"
#include "secrets/seal.h"

namespace nustream::journal {

/// What the new state's witness is to tell.
struct Rotated {
  secrets::StateIdentity identity;
  AccountId account{};
  Ledger ledger;
};

/// Opens the folder's state under `old_keys`, publishes what a crash left unpublished, and commits the same state
/// under `new_keys` with a ledger line that vouches for the ledger so far (docs/formats/ledger.md). When this
/// returns, the new state is durable and no file of the folder needs the old key. A crash on the way leaves a state
/// that opens under one of the two.
///
/// `witness`, where given, is found under the old key; Failure(data) where it tells that the state is an older one.
///
/// Failures as OutboxFolder::load(), open_state(), OutboxFolder::recover() and read_ledger(); Failure(data) where
/// there is no state; Failure(permission) where one of the keys is an insecure seed, or both are the same.
Rotated rotate_key(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& old_keys,
                   const secrets::Keyring& new_keys, FolderWitness* witness = nullptr);

}  // namespace nustream::journal
