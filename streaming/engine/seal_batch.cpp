// Fills a state record in the order in which its parts depend on one another: the outbox is chained, then the
// ledger's line names the chain's head of before, then the record takes the heads of both chains, and is sealed last
// (docs/formats/state.md, docs/formats/ledger.md).
#include "engine/seal_batch.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "nustream/base/error.h"

namespace nustream::engine {
namespace {

/// Chains the outbox of `record` behind `releases`. Returns the head before it, which is what a ledger line of the
/// same batch may name: in topics whoever reads aborted transactions would have the hash of this batch's own releases
/// before they are durable.
journal::Hash chain_outbox(const secrets::Keyring& keys, journal::ReleaseChain& releases,
                           journal::StateRecord& record) {
  const journal::Hash durable = releases.head;
  record.outbox = journal::chained(record.outbox, releases, keys);
  record.release_head = releases.head;
  return durable;
}

/// Seals `record`, whose commit brings `lines` to the ledger. A crash may lose the lines of a ledger file, so that in
/// a folder the state holds them too, and the next start can write them again.
journal::Batch sealed(const secrets::Keyring& keys, const secrets::StateIdentity& identity,
                      journal::StateRecord& record, std::string lines, Keeping keeping) {
  if (keeping == Keeping::folder) record.ledger_entry = lines;
  return {
      journal::seal_state(keys, identity, record), record.position, std::move(lines), {}, std::move(record.outbox)};
}

/// As above, for a state in topics that waits for what its users bring.
journal::Batch sealed_with(std::function<UsersOfBatch()> users, const secrets::Keyring& keys,
                           secrets::StateIdentity identity, journal::StateRecord record, std::string lines) {
  journal::Batch batch{{}, record.position, std::move(lines), {}, {}};
  // A function that can be copied may only share what cannot be.
  const auto shared = std::make_shared<journal::StateRecord>(std::move(record));
  batch.finish = [users = std::move(users), &keys, identity = std::move(identity), shared](journal::Batch& whole) {
    UsersOfBatch brought = users();
    shared->users = std::move(brought.state);
    whole.user_records = std::move(brought.records);
    // The state vouches for the store with these records, and so comes behind them.
    whole.sealed_state = journal::seal_state(keys, identity, *shared);
    whole.outbox = std::move(shared->outbox);
  };
  return batch;
}

}  // namespace

journal::Batch seal_batch(const secrets::Keyring& keys, const Estimator& lane, EpochLedger& ledger,
                          journal::ReleaseChain& releases, journal::StateRecord record, const Sealing& sealing) {
  const StepCount steps = lane.steps();
  const EpochIdentity& epoch = ledger.identity();
  record.position = lane.position();
  record.start = epoch.start;
  record.lane = lane.encode();
  record.settings = epoch.settings;
  const journal::Hash durable = chain_outbox(keys, releases, record);
  // A ledger that closes has to name the lane's last release. Where this batch brings a release by cadence, its line
  // may not name that, and so does not close: a further commit does (Sealing::closes).
  const bool names_all = releases.head == durable;
  std::string lines =
      ledger.append_lines({steps, sealing.touched, sealing.before, sealing.closes && names_all}, keys, durable);
  // Behind the lines: a state vouches for a ledger that already ends with its own line.
  record.ledger_head = ledger.head();
  record.ledger_epochs = journal::enclosed_lines(ledger.with_own(steps, sealing.touched), keys);
  // The identity is sealed with the state. Whoever opens it says which stream, lane, epoch and settings are expected,
  // so that a state of another one does not pass for this one's.
  const secrets::StateIdentity identity{epoch.stream, epoch.lane, epoch.epoch, steps, epoch.digest, epoch.is_private};
  if (!sealing.users) return sealed(keys, identity, record, std::move(lines), sealing.keeping);
  NUSTREAM_REQUIRE(sealing.keeping == Keeping::topics, "a folder's store of users is durable before its state is");
  return sealed_with(sealing.users, keys, identity, std::move(record), std::move(lines));
}

journal::Batch seal_one_step(const secrets::Keyring& keys, const journal::LedgerEntry& spent, journal::Ledger& ledger,
                             journal::ReleaseChain& releases, journal::StateRecord record, Keeping keeping) {
  // The one step has read all records, so that the range of the spend is also the position.
  record.position = spent.to;
  record.start = spent.from;
  const journal::Hash durable = chain_outbox(keys, releases, record);
  std::string line = journal::ledger_line(spent, ledger.head, keys, durable);
  record.ledger_head = ledger.head = journal::hash_of(line);
  ledger.keep(spent);
  record.ledger_epochs = journal::enclosed_lines(ledger.epochs, keys);
  const secrets::StateIdentity identity{spent.stream,          spent.lane,       spent.epoch, spent.steps,
                                        spent.settings_digest, keys.is_private()};
  return sealed(keys, identity, record, std::move(line), keeping);
}

journal::Ledger ledger_of(const journal::StateRecord& record) {
  return {record.ledger_head, journal::read_entries(record.ledger_epochs)};
}

}  // namespace nustream::engine
