// The rotation of a folder's key (docs/formats/key.md#rotation). It is an ordinary commit of the same state under the
// new key, so that a crash leaves either the old state or the new one, and finish_rotation() goes on with the latter.
#include "journal/rotate_key.h"

#include <optional>
#include <string>
#include <utility>

#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "journal/state_record.h"
#include "located.h"

namespace nustream::journal {
namespace {

State load_state(OutboxFolder& files, const std::filesystem::path& folder, const secrets::Keyring& keys) {
  const std::optional<std::string> sealed = files.load();
  if (!sealed) throw Failure(Exit::data, "the folder " + folder.string() + " holds no state; check state.directory");
  return located(folder.string(), [&] { return open_state(keys, *sealed); });
}

/// Refuses a folder that its witness knows to be an older copy.
void require_newest(Disk& disk, const std::filesystem::path& folder, const State& state,
                    const FolderWitness& witness) {
  if (witness.is_held_by(disk, state.identity.epoch, state.identity.steps, state.record)) return;
  throw Failure(Exit::data, folder.string() + ": holds an older state than the last one that was committed (" +
                                witness.told() + ", as " + witness.file().string() +
                                " tells); restore the newest state before its key is rotated, or begin a new noise "
                                "epoch first, which charges what this state lacks (--new-epoch)");
}

/// Whether the witness under the new key knows the folder to be an older copy, which may be sealed under that key all
/// the same. It is refused where this witness lies in another place than the new key's: the folder leads to the new
/// place from then on, where nothing would show that it is an older copy.
bool is_older_copy(Disk& disk, const std::filesystem::path& folder, const State& state,
                   const FolderWitness& witness) {
  if (!witness.is_in_place()) require_newest(disk, folder, state, witness);
  return !witness.is_held_by(disk, state.identity.epoch, state.identity.steps, state.record);
}

/// Finds the witnesses under both keys, and gives the state the account that they are kept under. Returns true where
/// the folder is a copy from before an earlier rotation. Without looking under the new key, rotating such a copy
/// would make it the newest folder.
bool find_both(Disk& disk, const std::filesystem::path& folder, State& state, RotationWitnesses& witnesses) {
  try {
    witnesses.new_key.find(state.record.account, &state);
  } catch (const Failure&) {
    // Both keys may lie in one folder, where the file under the old key has the better message.
    witnesses.old_key.find(state.record.account, &state);
    require_newest(disk, folder, state, witnesses.old_key);
    throw;
  }
  const bool was_rotated = witnesses.new_key.found().has_value();
  // After an earlier rotation the old key's place holds the witness that the rotation left there, under the new key.
  // Then find() gets no state, since by that it would refuse this witness.
  witnesses.old_key.find(was_rotated ? witnesses.new_key.account() : state.record.account,
                         was_rotated ? nullptr : &state);
  state.record.account = witnesses.old_key.account();
  if (was_rotated && is_older_copy(disk, folder, state, witnesses.new_key)) return true;
  // The witness under the new key may be an old one, where the folder was rotated to that key and back again. The
  // witness under the old key then tells of more.
  require_newest(disk, folder, state, witnesses.old_key);
  return false;
}

/// The same for a state that is under the new key already. After a crash inside the rotation the witnesses are still
/// under the old key, and tell of a commit that the folder holds. If one of them tells of another commit, the folder
/// is no rotation that was cut short, but an older copy.
bool find_again(Disk& disk, const std::filesystem::path& folder, const State& state, RotationWitnesses& witnesses) {
  witnesses.new_key.find(state.record.account, &state);
  witnesses.old_key.find(state.record.account, &state);
  if (is_older_copy(disk, folder, state, witnesses.new_key)) return true;
  require_newest(disk, folder, state, witnesses.old_key);
  return false;
}

/// The last of whole lines.
std::string last_of(const std::string& lines) {
  const std::size_t before = lines.rfind('\n', lines.size() - 2);
  return before == std::string::npos ? lines : lines.substr(before + 1);
}

}  // namespace

std::string hand_over_lines(const std::string& stream, const StateRecord& record, const Hash& head, bool reserves,
                            const secrets::Keyring& old_keys, const secrets::Keyring& new_keys) {
  if (!reserves) return rotation_line(stream, head, old_keys, new_keys);
  std::string closing = ledger_line(read_entries(record.ledger_epochs).back(), head, old_keys, record.release_head);
  // The head of the second line is the hash of the first, since the two go into the ledger together.
  return closing + rotation_line(stream, hash_of(closing), old_keys, new_keys);
}

Rotated rotate_key(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& old_keys,
                   const secrets::Keyring& new_keys, RotationWitnesses* witnesses) {
  if (!old_keys.is_private() || !new_keys.is_private() || old_keys.fingerprint() == new_keys.fingerprint()) {
    throw Failure(Exit::permission, "a key is rotated from one key file to another; name two different ones");
  }
  OutboxFolder files(disk, {folder, true});
  State state = load_state(files, folder, old_keys);
  StateRecord& record = state.record;
  const bool is_older = witnesses != nullptr && find_both(disk, folder, state, *witnesses);
  // recover() publishes what the state still owes, under the old key. So the new state has an empty outbox, and its
  // only line is the one that hands the ledger on to the new key.
  files.recover(record.recovery());
  Ledger ledger = read_ledger(disk, folder, old_keys);
  settle(ledger, record);
  record.outbox.clear();
  // An older copy does not know which steps were taken after it was made.
  const bool reserves = ledger.reserving.has_value() && !is_older;
  record.ledger_entry = hand_over_lines(state.identity.stream, record, ledger.head, reserves, old_keys, new_keys);
  record.ledger_head = hash_of(last_of(record.ledger_entry));
  record.bookmark = files.bookmark();
  files.commit({seal_state(new_keys, state.identity, record), record.position, record.ledger_entry, "", ""});
  files.flush();
  ledger.head = record.ledger_head;
  return {state.identity, record.account, std::move(ledger), is_older};
}

Rotated finish_rotation(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& new_keys,
                        RotationWitnesses* witnesses) {
  OutboxFolder files(disk, {folder, true});
  const State state = load_state(files, folder, new_keys);
  const bool is_older = witnesses != nullptr && find_again(disk, folder, state, *witnesses);
  files.recover(state.record.recovery());
  files.flush();
  Ledger ledger = read_ledger(disk, folder, new_keys);
  settle(ledger, state.record);
  return {state.identity, state.record.account, std::move(ledger), is_older};
}

}  // namespace nustream::journal
