#include "attach/lane_state.h"

#include <utility>

namespace nustream::attach {
namespace {

/// One line an epoch, without a place in the chain: they are inside the seal.
std::string lines_of(const std::vector<journal::LedgerEntry>& epochs, const secrets::Keyring& keys) {
  std::string lines;
  for (const journal::LedgerEntry& entry : epochs) {
    lines += journal::ledger_line(entry, journal::empty_ledger_head, keys);
  }
  return lines;
}

}  // namespace

journal::Batch seal_batch(const Setup& setup, LaneState& state, BatchContent content, const std::string& bookmark) {
  const StepCount steps = state.lane.steps();
  const engine::EpochIdentity& epoch = state.ledger.identity();
  journal::StateRecord record;
  record.position = state.lane.position();
  record.start = epoch.start;
  record.stop = state.stop;
  record.stop_asked = state.stop_asked;
  record.rejected = state.rejected;
  record.lane = state.lane.encode();
  record.noise = std::move(content.noise);
  record.outbox = content.outbox;
  record.bookmark = bookmark;
  record.released = content.released;
  record.partitions = state.partitions;
  record.seen = state.seen.below(record.position);
  std::string ledger_lines;
  if (state.steps_on_ledger != steps) {
    ledger_lines = state.ledger.append_lines(steps, record.position, setup.keys);
    state.steps_on_ledger = steps;
  }
  record.ledger_head = state.ledger.head();
  record.ledger_epochs = lines_of(state.ledger.with_own(steps, record.position), setup.keys);
  const secrets::StateIdentity identity{epoch.stream, epoch.lane, epoch.epoch, steps, epoch.digest, epoch.is_private};
  return {journal::seal_state(setup.keys, identity, record),
          record.position,
          std::move(ledger_lines),
          {},
          std::move(content.outbox),
          std::move(content.dead_letters)};
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

}  // namespace nustream::attach
