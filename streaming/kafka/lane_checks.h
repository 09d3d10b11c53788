// Whether a lane's topics agree with its committed state, and what they show where there is none.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "error.h"
#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "journal/sealed_state.h"
#include "kafka/lane_place.h"
#include "kafka/partition_reader.h"
#include "secrets/keyring.h"

namespace nustream::kafka {

/// The topics have gone on beyond the state.
class StateRolledBack : public Failure {
 public:
  using Failure::Failure;
};

/// Why a log that ends at `end` is not one of which records up to `position` were read.
[[nodiscard]] std::string shorter_log(std::uint64_t end, std::uint64_t position);

/// The line that tells of a group's committed offset that is not the state's: somebody may have reset it. `wait`: how
/// long the next offset is waited for.
[[nodiscard]] std::string other_offset(const std::string& lane, std::uint64_t committed, std::uint64_t position,
                                       std::chrono::milliseconds wait);

/// Looks at one lane's topics after KafkaJournal::load(), which has ended what other producers left open. Calls wait,
/// at most `time` for a broker's answer, or for records to go on coming however many there are; KafkaFailure where
/// there is none, Cancelled where nobody wants it any more.
class LaneChecks {
 public:
  LaneChecks(const ClientSettings& client, LanePlace place, const secrets::Keyring& keys,
             std::chrono::milliseconds time, const std::atomic<bool>& cancelled);

  /// StateRolledBack where a release of a later step than the state's is readable, or a ledger line behind the
  /// state's own. Failure(data) where a release of another kind is (private or not), or where releases or the state's
  /// ledger line are lost.
  void check_outputs(const journal::State& state);
  /// After check_outputs(): the state's own ledger line, where it reserves more than the state took.
  [[nodiscard]] const std::optional<journal::LedgerEntry>& reserving() const noexcept { return reserving_; }

  /// What is known of the input beside the state.
  struct Input {
    Watermarks log;  ///< first record, and last stable offset
    bool gap;        ///< the records right at the position are gone
    bool unproven;   ///< nothing is left that could tell whether the log is the one that was read
    /// Why it is another log than the state has read: shorter than its position, or with other records. Else empty.
    std::string changed;
  };
  /// StateRolledBack where the log is the one that was read, and the group's committed offset is beyond the state.
  /// `took_steps`: whether the lane ever did; one that did not has nothing to prove.
  [[nodiscard]] Input check_input(const journal::StateRecord& record, bool took_steps);

  /// What is public of a lane whose state is missing, or does not fit.
  struct Remains {
    journal::Ledger ledger;
    std::optional<journal::LastRelease> last_release;  ///< the furthest one that is readable, committed or not
    std::optional<Offset> committed;                   ///< the group's
    [[nodiscard]] bool any() const {
      return last_release.has_value() || !ledger.epochs.empty() || committed.has_value();
    }
  };
  [[nodiscard]] Remains remains();
  /// The ledger topic's lines of the lane alone.
  [[nodiscard]] journal::Ledger ledger();

  struct Published {
    std::string text;                          ///< as it was published, with its newline
    std::optional<std::int64_t> milliseconds;  ///< when, by the broker's or the producer's clock, since 1970
  };
  /// The last release that a reader of committed records finds; nothing for none. `from`: where to begin.
  [[nodiscard]] std::optional<Published> last_published(Offset from);
  /// Begin and last stable end of the input.
  [[nodiscard]] Watermarks input_log();
  /// The high watermark of the input.
  [[nodiscard]] Offset input_end();
  /// Whether the input has `count` committed records or more at `from` and behind it, below `to`: control records are
  /// none.
  [[nodiscard]] bool input_has_records(Offset from, Offset to, std::uint64_t count);
  /// The first record of that time or later; the end where all are earlier.
  [[nodiscard]] Offset input_offset_at(std::int64_t milliseconds);

 private:
  [[nodiscard]] Deadline deadline() const { return in(time_); }
  void check_releases(const journal::State& state, Offset from);
  void check_ledger(const journal::State& state, const std::optional<Offset>& line);
  void find_again(const journal::StateRecord& record, Input& input);
  [[nodiscard]] std::optional<Offset> check_committed_offset(const journal::StateRecord& record);
  [[noreturn]] void contradiction(const std::string& what) const;
  [[noreturn]] void rolled_back(const std::string& what) const;

  LanePlace place_;
  const secrets::Keyring& keys_;
  std::chrono::milliseconds time_;
  const std::atomic<bool>& cancelled_;
  PartitionReader committed_;
  PartitionReader uncommitted_;
  std::optional<journal::LedgerEntry> reserving_;
};

}  // namespace nustream::kafka
