#include "engine/seal_batch.h"

#include <string>
#include <utility>
#include <vector>

#include "journal/ledger_chain.h"
#include "journal/state_record.h"

namespace nustream::engine {
journal::Batch seal_batch(const secrets::Keyring& keys, const Estimator& lane, EpochLedger& ledger,
                          journal::ReleaseChain& releases, journal::StateRecord record, const Sealing& sealing) {
  const StepCount steps = lane.steps();
  const EpochIdentity& epoch = ledger.identity();
  record.position = lane.position();
  record.start = epoch.start;
  record.lane = lane.encode();
  record.settings = epoch.settings;
  // Not this batch's own: in topics whoever reads aborted transactions would have its hash before it is durable.
  const journal::Hash durable = releases.head;
  record.outbox = journal::chained(record.outbox, releases, keys);
  record.release_head = releases.head;
  const bool names_all = releases.head == durable;
  std::string lines =
      ledger.append_lines({steps, sealing.touched, sealing.before, sealing.closes && names_all}, keys, durable);
  record.ledger_head = ledger.head();
  // A crash may lose the lines of a ledger file. The state holds them too, so that the next start can write them
  // again.
  if (sealing.keeping == Keeping::folder) record.ledger_entry = lines;
  record.ledger_epochs = journal::enclosed_lines(ledger.with_own(steps, sealing.touched), keys);
  const secrets::StateIdentity identity{epoch.stream, epoch.lane, epoch.epoch, steps, epoch.digest, epoch.is_private};
  return {
      journal::seal_state(keys, identity, record), record.position, std::move(lines), {}, std::move(record.outbox)};
}

journal::Ledger ledger_of(const journal::StateRecord& record) {
  return {record.ledger_head, journal::read_entries(record.ledger_epochs)};
}

}  // namespace nustream::engine
