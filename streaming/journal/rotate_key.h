// Seals a state anew under another key file, so that the old key can be destroyed.
#pragma once

#include <filesystem>
#include <string>

#include "journal/disk.h"
#include "journal/folder_witness.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "secrets/keyring.h"
#include "secrets/seal.h"

namespace nustream::journal {

/// What the witness of the rotated state has to tell.
struct Rotated {
  secrets::StateIdentity identity;
  AccountId account{};
  Ledger ledger;
  /// True where the witness under the new key tells of more than the folder holds. The folder is then an older copy.
  /// The witness stays as it is, so that the copy is refused until a new epoch charges what it lacks.
  bool is_older = false;
};

/// The witnesses of one folder where the old and the new key lie. Each is looked for under its own key. Where the
/// state is under the new key already, both are looked for under that one. find() has not been called on them yet.
struct RotationWitnesses {
  FolderWitness old_key;
  FolderWitness new_key;
};

/// The lines that hand a ledger with the head `head` on to the new key, behind the committed state `record`. The last
/// of them is the rotation's line. If the ledger's last line `reserves` steps, another line comes first, under the
/// old key: it says what was taken and names the state's last release, so that the old key signs nothing later.
[[nodiscard]] std::string hand_over_lines(const std::string& stream, const StateRecord& record, const Hash& head,
                                          bool reserves, const secrets::Keyring& old_keys,
                                          const secrets::Keyring& new_keys);

/// Opens the folder's state under `old_keys`, publishes what a crash left unpublished, and commits the same state
/// under `new_keys` with hand_over_lines(), which vouch for the ledger so far (docs/formats/ledger.md). When this
/// returns, the new state is durable and no file of the folder needs the old key. A crash on the way leaves a state
/// that opens under one of the two.
///
/// `witnesses`, where given, are looked for before anything is changed. Throws Failure(data) where the witness under
/// the old key tells that the state is not the newest, and there is none under the new key. Throws Failure(data) also
/// where the one under the new key tells so from another place than the new key's: the folder would lead there no
/// more.
///
/// Throws as OutboxFolder::load(), open_state(), OutboxFolder::recover() and read_ledger(); Failure(data) where there
/// is no state; Failure(permission) where one of the keys is an insecure seed, or both are the same.
Rotated rotate_key(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& old_keys,
                   const secrets::Keyring& new_keys, RotationWitnesses* witnesses = nullptr);

/// Finishes a rotation that a crash ended after its state was committed: the state is under `new_keys` already, and
/// what is left of its outbox is published. Nothing but the witnesses can tell such a state from an older copy that
/// is under the same key. Returns and throws as rotate_key(), and throws Failure(data) as well where a witness under
/// another key tells of a commit that the folder does not hold.
Rotated finish_rotation(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& new_keys,
                        RotationWitnesses* witnesses = nullptr);

}  // namespace nustream::journal
