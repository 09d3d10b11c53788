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
  /// The witness under the new key tells of more than the folder holds: it was rotated before, and this is a copy
  /// from before that. Its witness stays as it is, so that the copy is refused until a new epoch charges what it
  /// lacks.
  bool is_older = false;
};

/// One folder's witness as it is under both keys; nothing of them is found yet.
struct RotationWitnesses {
  FolderWitness old_key;
  FolderWitness new_key;
};

/// Opens the folder's state under `old_keys`, publishes what a crash left unpublished, and commits the same state
/// under `new_keys` with a ledger line that vouches for the ledger so far (docs/formats/ledger.md). When this
/// returns, the new state is durable and no file of the folder needs the old key. A crash on the way leaves a state
/// that opens under one of the two.
///
/// `witnesses`, where given, are found, the new key's before anything is changed. Failure(data) where the old key's
/// tells that the state is an older one, and the new key's tells nothing.
///
/// Failures as OutboxFolder::load(), open_state(), OutboxFolder::recover() and read_ledger(); Failure(data) where
/// there is no state; Failure(permission) where one of the keys is an insecure seed, or both are the same.
Rotated rotate_key(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& old_keys,
                   const secrets::Keyring& new_keys, RotationWitnesses* witnesses = nullptr);

/// What a rotation left that a crash ended behind its state: publishes what is unpublished of a state that is under
/// `new_keys` already, and returns the same as rotate_key(). Failures as there.
Rotated finish_rotation(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& new_keys);

}  // namespace nustream::journal
