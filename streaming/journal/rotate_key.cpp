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

void rotate_key(Disk& disk, const std::filesystem::path& folder, const secrets::Keyring& old_keys,
                const secrets::Keyring& new_keys) {
  if (!old_keys.is_private() || !new_keys.is_private() || old_keys.fingerprint() == new_keys.fingerprint()) {
    throw Failure(Exit::permission, "a key is rotated from one key file to another; name two different ones");
  }
  OutboxFolder files(disk, {folder, true});
  const std::optional<std::string> sealed = files.load();
  if (!sealed) throw Failure(Exit::data, "the folder " + folder.string() + " holds no state; check state.directory");
  State state = located(folder.string(), [&] { return open_state(old_keys, *sealed); });
  files.recover(state.record.recovery());
  const Hash head = read_ledger(disk, folder, old_keys).head;
  StateRecord& record = state.record;
  record.outbox.clear();
  record.ledger_entry = rotation_line(state.identity.stream, head, new_keys);
  record.ledger_head = hash_of(record.ledger_entry);
  record.bookmark = files.bookmark();
  files.commit({seal_state(new_keys, state.identity, record), record.position, record.ledger_entry, "", ""});
  files.flush();
}

}  // namespace nustream::journal
