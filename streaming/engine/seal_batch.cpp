#include "engine/seal_batch.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/sealed_state.h"

namespace nustream::engine {
namespace {

/// One line an epoch, without a place in the chain: they are inside the seal.
std::string lines_of(const std::vector<journal::LedgerEntry>& epochs, const secrets::Keyring& keys) {
  std::string lines;
  for (const journal::LedgerEntry& entry : epochs) {
    lines += journal::enclosed_line(entry, keys);
  }
  return lines;
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
  record.outbox = journal::chained(record.outbox, releases, keys);
  record.release_head = releases.head;
  std::string lines;
  if (sealing.with_line) lines = ledger.append_lines(steps, sealing.touched, keys, releases.head);
  record.ledger_head = ledger.head();
  if (sealing.keeping == Keeping::folder) {
    record.ledger_entry = lines;
  } else {
    record.ledger_epochs = lines_of(ledger.with_own(steps, sealing.touched), keys);
  }
  const secrets::StateIdentity identity{epoch.stream, epoch.lane, epoch.epoch, steps, epoch.digest, epoch.is_private};
  return {
      journal::seal_state(keys, identity, record), record.position, std::move(lines), {}, std::move(record.outbox)};
}

journal::Ledger ledger_of(const journal::StateRecord& record) {
  journal::Ledger ledger{record.ledger_head, {}};
  std::string_view lines = record.ledger_epochs;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    ledger.epochs.push_back(journal::read_entry(lines.substr(0, end)));
    lines.remove_prefix(end + 1);
  }
  return ledger;
}

}  // namespace nustream::engine
