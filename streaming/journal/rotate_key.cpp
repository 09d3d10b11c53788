#include "journal/rotate_key.h"

#include <optional>
#include <string>
#include <utility>

#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/outbox_folder.h"
#include "journal/sealed_state.h"
#include "located.h"

namespace nustream::journal {

Rotated rotate_key(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& old_keys,
                   const secrets::Keyring& new_keys, FolderWitness* witness) {
  if (!old_keys.is_private() || !new_keys.is_private() || old_keys.fingerprint() == new_keys.fingerprint()) {
    throw Failure(Exit::permission, "a key is rotated from one key file to another; name two different ones");
  }
  OutboxFolder files(disk, {folder, true});
  const std::optional<std::string> sealed = files.load();
  if (!sealed) throw Failure(Exit::data, "the folder " + folder.string() + " holds no state; check state.directory");
  State state = located(folder.string(), [&] { return open_state(old_keys, *sealed); });
  StateRecord& record = state.record;
  if (witness != nullptr) {
    witness->find(record.account);
    record.account = witness->account();
    if (!witness->is_held_by(disk, record)) {
      throw Failure(Exit::data, folder.string() + ": holds an older state than the last one that was committed (" +
                                    witness->told() + ", as " + witness->file().string() +
                                    " tells); restore the newest state before its key is rotated");
    }
  }
  files.recover(record.recovery());
  Ledger ledger = read_ledger(disk, folder, old_keys);
  record.outbox.clear();
  record.ledger_entry = rotation_line(state.identity.stream, ledger.head, new_keys);
  record.ledger_head = hash_of(record.ledger_entry);
  record.bookmark = files.bookmark();
  files.commit({seal_state(new_keys, state.identity, record), record.position, record.ledger_entry, "", ""});
  files.flush();
  ledger.head = record.ledger_head;
  return {state.identity, record.account, std::move(ledger)};
}

}  // namespace nustream::journal
