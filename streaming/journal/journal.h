// The interface by which a batch becomes durable and its releases public. It keeps one rule, commit before release:
// no release can be read before the state that accounts for it is durable.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::journal {

/// A record that could not be used, as a dead letter shows it.
struct DeadLetter {
  Position position;
  std::string reason;
  std::optional<std::string> key;
  std::optional<std::string> value;  ///< cut to the settings' size
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  std::int64_t milliseconds = 0;  ///< the record's own time, since 1970
  std::size_t bytes = 0;          ///< its size when it was made
};

/// A record of the store of users, as the topic of users holds it.
struct KeyedRecord {
  std::string key;
  std::string value;
};

/// One batch on its way to durability. The sealed state already holds the outbox and the ledger entry. So a run that
/// restores the state can publish exactly these bytes, and no others.
struct Batch {
  std::string sealed_state;
  Position position;                        ///< of the next record, for journals that also commit an offset
  std::string ledger_entry;                 ///< whole lines, mostly one; empty where the batch took no step
  std::string rejects;                      ///< lines; the same ones may be written again after a crash
  std::string outbox;                       ///< the batch's encoded releases, in step order
  std::vector<DeadLetter> dead_letters{};   ///< for journals that have a place for them
  std::vector<KeyedRecord> user_records{};  ///< for journals of topics: what the batch adds to the store of users
  /// Fills in what takes long to make, such as seals: of the state, the outbox and the records of users. For journals
  /// of topics, which call it once, on a thread of their own, before they write anything of the batch. It then is
  /// empty, so that a batch that is sent again has the same bytes.
  std::function<void(Batch&)> finish{};
  /// Makes durable what the state relies on, such as a store of users. Journals in files call it on their thread,
  /// before the new state replaces the old one.
  std::function<void()> before_state{};
};

/// What the opened state says that its journal needs to finish a commit that a crash interrupted.
struct Recovery {
  std::string bookmark;  ///< as bookmark() gave it when the state was sealed
  std::string outbox;
  std::string ledger_entry;
};

/// Called once, on the journal's own thread: with nullptr when the commit is durable, or with a Failure.
using Completion = std::function<void(std::exception_ptr)>;

/// A journal has one writer, and one batch in flight: commit() may be called again only after the completion of the
/// one before. A run calls load(); then recover(), if there was a state; then for each batch bookmark(), seals the
/// state, and calls commit(); and flush() at the end.
class Journal {
 public:
  virtual ~Journal() = default;

  /// Returns the last committed sealed state, or nothing. Takes the writer's lock and keeps it. Throws
  /// Failure(locked) where another run has it.
  virtual std::optional<std::string> load() = 0;
  /// Checks that what is public is what the opened state allows, and publishes the rest of the state's outbox.
  /// Otherwise throws Failure(data), and has neither removed nor published anything.
  virtual void recover(const Recovery& recovery) = 0;
  /// Where the public files or topics will end right before the next batch's outbox. It goes into the sealed state.
  [[nodiscard]] virtual std::string bookmark() const = 0;
  /// When it completes, the batch is durable and every earlier outbox is published.
  virtual void commit(Batch batch, Completion done) = 0;
  /// Publishes the last outbox and makes it durable.
  virtual void flush(Completion done) = 0;
};

}  // namespace nustream::journal
