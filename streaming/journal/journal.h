// Commit before release: the one interface behind which a batch becomes durable and its releases public.
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
  std::int64_t milliseconds = 0;  ///< the record's own time
  std::size_t bytes = 0;          ///< that it held when it was made
};

/// A record of the store of users as its topic has it.
struct KeyedRecord {
  std::string key;
  std::string value;
};

/// One batch on its way to durability. The sealed state already holds the outbox and the ledger entry, so
/// that whoever restores the state can publish exactly these bytes.
struct Batch {
  std::string sealed_state;
  Position position;                        ///< of the next record, for journals that keep offsets elsewhere
  std::string ledger_entry;                 ///< whole lines, mostly one; empty where the batch took no step
  std::string rejects;                      ///< lines; may repeat after a crash
  std::string outbox;                       ///< the batch's encoded releases, in step order
  std::vector<DeadLetter> dead_letters{};   ///< for journals that have a place for them
  std::vector<KeyedRecord> user_records{};  ///< for journals of topics: what the batch adds to the store of users
  /// Of journals in files, on their thread, before the state takes its place: makes durable what the state counts on.
  std::function<void()> before_state{};
};

/// What the opened state says of the journal: needed to finish what a crash interrupted.
struct Recovery {
  std::string bookmark;  ///< as bookmark() gave it when the state was sealed
  std::string outbox;
  std::string ledger_entry;
};

/// Called on the journal's own thread, once: with nullptr when durable, or with a Failure.
using Completion = std::function<void(std::exception_ptr)>;

/// One writer, one batch in flight: commit() is called again only after its completion. The steps of a run:
/// load(); if there was a state, recover(); then for each batch bookmark() → seal → commit(); flush() last.
class Journal {
 public:
  virtual ~Journal() = default;

  /// The last committed sealed state, or nothing. Takes and keeps the writer's lock (Failure locked).
  virtual std::optional<std::string> load() = 0;
  /// Checks that what is public is what the opened state allows, and publishes the rest of its outbox.
  /// Failure(data) otherwise: nothing cut, nothing published.
  virtual void recover(const Recovery& recovery) = 0;
  /// Where public files or topics will stand right before the next batch's outbox: goes into the sealed state.
  [[nodiscard]] virtual std::string bookmark() const = 0;
  /// When it completes, the batch is durable and every earlier outbox is published.
  virtual void commit(Batch batch, Completion done) = 0;
  /// Publishes the last outbox and makes it durable.
  virtual void flush(Completion done) = 0;
};

}  // namespace nustream::journal
