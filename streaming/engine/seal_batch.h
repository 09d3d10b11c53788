// From a lane between two batches to what its journal commits: the one place where a state is put together and
// sealed.
#pragma once

#include <optional>

#include "engine/epoch_decision.h"
#include "engine/epoch_ledger.h"
#include "engine/estimator.h"
#include "journal/journal.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "secrets/keyring.h"

namespace nustream::engine {

/// What sealing needs beside the record.
struct Sealing {
  /// In a folder the state holds the batch's own ledger lines, which a crash may keep from the file. Those of topics
  /// are of the state's own transaction.
  Keeping keeping;
  Position touched;                   ///< one past the furthest record that the epoch has read
  std::optional<StepCount> before{};  ///< steps of the committed state before this one; nothing: the epoch's first
  bool closes = false;                ///< the run ends with it: the ledger says what was taken
};

/// Seals `lane` after its last step as the next committed state. `record` brings what the lane does not know: noise
/// checkpoints of the next step, outbox, bookmark, stop, marks, counts; position, start, lane and everything of the
/// ledger, each epoch's spend included, are filled in here; the outbox is chained, and both chains move on. The batch
/// holds state, position, outbox and ledger lines; rejects and dead letters are the caller's.
[[nodiscard]] journal::Batch seal_batch(const secrets::Keyring& keys, const Estimator& lane, EpochLedger& ledger,
                                        journal::ReleaseChain& releases, journal::StateRecord record,
                                        const Sealing& sealing);

/// The ledger as a state tells it: its head, and what it knows each epoch to have spent.
[[nodiscard]] journal::Ledger ledger_of(const journal::StateRecord& record);

}  // namespace nustream::engine
