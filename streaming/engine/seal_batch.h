// Puts the state of an epoch together and seals it, for its journal to commit: that of a lane between two batches, or
// that of an epoch of one step, which no lane takes. There is no other place where a spend and its state become a
// batch. A rotation of keys (journal/rotate_key.h, kafka/rotate_keys.h) and a change of users (folder/user_edits.h,
// attach/edit_users.h) seal a state anew that was committed already, and spend nothing.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/epoch_decision.h"
#include "engine/epoch_ledger.h"
#include "engine/estimator.h"
#include "journal/journal.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "secrets/keyring.h"

namespace nustream::engine {

/// What the unit "user" brings to a batch of a topic.
struct UsersOfBatch {
  journal::UsersOfState state;
  std::vector<journal::KeyedRecord> records;
};

/// What sealing needs to know beside the record.
struct Sealing {
  /// In a folder the state also holds the batch's ledger lines, since a crash may keep them from the ledger's file.
  /// In topics state and lines are written in one transaction.
  Keeping keeping;
  Position touched;                   ///< one past the furthest record that the epoch has read
  std::optional<StepCount> before{};  ///< steps of the committed state before; nothing for the epoch's first state
  /// The run ends with this batch, and the ledger says which steps were taken. A batch with releases by cadence does
  /// not close, since its line must not name them: another batch follows (EpochLedger::reserves_beyond()).
  bool closes = false;
  /// Where the lane is of users and in topics: seals what they bring, which takes as long as the steps of the batch.
  /// It is called by the batch's journal (journal::Batch::finish), so that the lane may go on meanwhile.
  std::function<UsersOfBatch()> users{};
};

/// Seals `lane` after its last step as the next committed state. `record` brings what the lane does not know: the
/// noise checkpoints of the next step, outbox, bookmark, stop, marks and counts. Position, start, lane and all of the
/// ledger, with the spend of each epoch, are filled in here. The outbox is chained, and the chains of ledger and
/// releases move on.
///
/// The batch that it returns holds state, position, outbox and ledger lines, which name the last release by cadence
/// of the states before this one; the caller adds rejects and dead letters. With Sealing::users, state and outbox
/// come with Batch::finish; `keys` outlives the batch then.
[[nodiscard]] journal::Batch seal_batch(const secrets::Keyring& keys, const Estimator& lane, EpochLedger& ledger,
                                        journal::ReleaseChain& releases, journal::StateRecord record,
                                        const Sealing& sealing);

/// Seals an epoch of one step that no lane takes, over records `spent.from` to `spent.to`: a fit, or ranges that are
/// measured. `record` brings what was found (ranges, outbox), bookmark, marks and counts. Position, start and all of
/// the ledger are filled in here. The outbox is chained, and the chains of ledger and releases move on. `spent`
/// becomes the last entry of `ledger`.
[[nodiscard]] journal::Batch seal_one_step(const secrets::Keyring& keys, const journal::LedgerEntry& spent,
                                           journal::Ledger& ledger, journal::ReleaseChain& releases,
                                           journal::StateRecord record, Keeping keeping);

/// The ledger as a state knows it: the head of its chain, and what each epoch has spent.
[[nodiscard]] journal::Ledger ledger_of(const journal::StateRecord& record);

}  // namespace nustream::engine
