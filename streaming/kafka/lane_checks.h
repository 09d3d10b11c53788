// Checks whether a lane's topics agree with its committed state, and finds out what they show where there is no
// state.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "error.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "kafka/partition.h"
#include "kafka/partition_reader.h"
#include "secrets/keyring.h"

namespace nustream::kafka {

/// Thrown where the topics have gone on beyond the state.
class StateRolledBack : public Failure {
 public:
  using Failure::Failure;
};

/// The message about a log that ends at `end` although records up to `position` were read: it is another log.
[[nodiscard]] std::string shorter_log(std::uint64_t end, std::uint64_t position);

/// What to type so that the group's committed offset is `position` again, where somebody has reset it.
[[nodiscard]] std::string command_to_set_back(const std::string& brokers, const LanePlace& place,
                                              std::uint64_t position);
/// The log line about a group's committed offset that is not the state's, since somebody may have reset it. `wait` is
/// how long the lane waits for an offset that may be on its way.
[[nodiscard]] std::string other_offset(const std::string& lane, std::uint64_t committed, std::uint64_t position,
                                       std::chrono::milliseconds wait);

/// What leads on from a ledger that lost lines, as the end of a sentence: to restore it, or to begin elsewhere with
/// what is left of the budget. `shown_by` says where a person reads what was spent.
[[nodiscard]] std::string without_ledger(const std::string& shown_by);

/// Looks at one lane's topics, after KafkaJournal::load() has ended what other producers left open. Calls wait for a
/// broker's answer, or for the next record, for `time` at most each. They throw KafkaFailure where no answer comes,
/// and Cancelled once `cancelled` is true. References outlive it.
class LaneChecks {
 public:
  LaneChecks(const ClientSettings& client, LanePlace place, const secrets::Keyring& keys,
             std::chrono::milliseconds time, const std::atomic<bool>& cancelled);

  /// Checks the releases and the ledger against the state. Throws StateRolledBack where a release of a later step
  /// than the state's can be read, or a ledger line behind the state's own. Throws Failure(data) where a release of
  /// another kind can be read (private or not), and where releases or the state's ledger line are lost.
  void check_outputs(const journal::State& state);
  /// After check_outputs(): the state's own ledger line, if it reserves steps; else nothing.
  [[nodiscard]] const std::optional<journal::LedgerEntry>& reserving() const noexcept { return reserving_; }

  /// What is known of the input beside the state.
  struct Input {
    Watermarks log;  ///< the first record, and the last stable offset
    bool gap;        ///< true where the records at the state's position are gone
    bool unproven;   ///< true where nothing is left that could tell whether the log is the one that was read
    /// Why it is another log than the one that was read: it is shorter, or has other records. Empty where it is not.
    std::string changed;
  };
  /// Finds out whether the input is the one that was read. If it is, and the group's committed offset is beyond the
  /// state, this throws StateRolledBack. `took_steps` says whether the lane has ever taken a step; a lane that has
  /// neither taken a step nor read a record has nothing to prove.
  [[nodiscard]] Input check_input(const journal::StateRecord& record, bool took_steps);

  /// What is public of a lane whose state is missing or cannot be used.
  struct Remains {
    journal::Ledger ledger;
    std::optional<journal::LastRelease> last_release;  ///< the furthest one that can be read, committed or not
    std::optional<Offset> committed;                   ///< the group's committed offset
    [[nodiscard]] bool any() const {
      return last_release.has_value() || !ledger.epochs.empty() || committed.has_value();
    }
  };
  [[nodiscard]] Remains remains();
  /// The ledger by the lines in the lane's partition of the ledger topic. Throws as journal::LedgerVerifier does.
  [[nodiscard]] journal::Ledger ledger();

  struct Published {
    std::string text;                          ///< as it was published, with its newline
    std::optional<std::int64_t> milliseconds;  ///< when, since 1970, by the broker's or the producer's clock
  };
  /// The last release that a reader of committed records finds at or behind `from`; nothing where there is none.
  [[nodiscard]] std::optional<Published> last_published(Offset from);
  /// The first offset and the last stable offset of the input.
  [[nodiscard]] Watermarks input_log();
  /// The high watermark of the input.
  [[nodiscard]] Offset input_end();
  /// Whether the input has at least `count` committed records from `from` on, below `to`. Control records do not
  /// count.
  [[nodiscard]] bool input_has_records(Offset from, Offset to, std::uint64_t count);
  /// The offset of the first record at `milliseconds` since 1970 or later; the end where all records are earlier.
  [[nodiscard]] Offset input_offset_at(std::int64_t milliseconds);

 private:
  [[nodiscard]] Deadline deadline() const { return in(time_); }
  void check_releases(const journal::State& state, Offset from);
  void check_ledger(const journal::State& state, const std::optional<Offset>& line);
  void find_again(const journal::StateRecord& record, Input& input);
  [[nodiscard]] std::optional<Offset> check_committed_offset(const journal::StateRecord& record);
  [[noreturn]] void contradiction(const std::string& what) const;
  [[noreturn]] void ledger_lost(const std::string& what) const;
  [[noreturn]] void rolled_back(const std::string& what) const;

  std::string brokers_;
  LanePlace place_;
  const secrets::Keyring& keys_;
  std::chrono::milliseconds time_;
  const std::atomic<bool>& cancelled_;
  PartitionReader committed_;
  PartitionReader uncommitted_;
  std::optional<journal::LedgerEntry> reserving_;
};

}  // namespace nustream::kafka
