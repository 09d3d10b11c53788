// Where the number of partitions changes, users move to other lanes. Each old lane then leaves a closing mark, and
// each new lane reads the marks of all old ones and takes over the users that are now its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_state.h"
#include "attach/users_partition.h"
#include "journal/ledger_chain.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"
#include "nustream/users/standings.h"
#include "users/closing_mark.h"
#include "users/user_key.h"

namespace nustream::attach {

/// Thrown where another lane has to do something first. The lane that waits is opened again soon.
class LaneHasToWait : public std::exception {
 public:
  explicit LaneHasToWait(std::string reason) : reason_(std::move(reason)) {}
  /// One line: for which lane this one waits, and what that lane has to do.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

/// What a lane begins its first epoch with after the number of lanes has changed.
struct MovedUsers {
  bool carries_over = false;  ///< false: everybody counts anew, and the epoch is charged beside those before
  std::vector<users::Entry> entries{};
  /// The most that a user of any old lane spent in all of its epochs. It stands in the new ledger for all of them.
  journal::LedgerEntry spent;
  std::string lost{};  ///< old lanes whose users closed by `users close` are not known any more, such as "0, 2"
};

/// Writes a lane's closing mark, and reads those of all old lanes, in the order that users::LaneChange asks for.
/// References outlive it.
class LanesBefore {
 public:
  /// `before`: how users were divided. `key`: the stream's.
  LanesBefore(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& place,
              const std::atomic<bool>& cancelled, users::UserKey key, const users::Division& before)
      : setup_(setup), client_(client), place_(place), cancelled_(cancelled), key_(std::move(key)), before_(before) {}

  /// The closing mark of `lane`, or nothing where that lane is not closed.
  [[nodiscard]] std::optional<users::ClosingMark> closing(LaneId lane) const;
  /// How users are divided after the change, by the closing mark of lane 0. All lanes follow that mark: instances
  /// that were started at different times may have seen different numbers of partitions. Throws LaneHasToWait until
  /// lane 0 is closed.
  [[nodiscard]] users::Division next() const;
  /// Makes the closing mark of the lane of `place` from its last `state` and its `ledger`. Where that state is the
  /// one of the measuring, which counted nobody, users bring what it cost along beside whatever they count elsewhere.
  [[nodiscard]] users::ClosingMark of_state(const journal::UsersOfState& state, const journal::Ledger& ledger,
                                            bool has_only_measured) const;
  /// Makes that mark where the lane's state is lost, or where the lane never took a step. The ledger tells what was
  /// spent.
  [[nodiscard]] users::ClosingMark without_state(const journal::Ledger& ledger) const;
  /// Makes the mark of a lane whose key of users is lost or was destroyed. It is charged `spent`, the most that was
  /// spent in any such lane.
  [[nodiscard]] users::ClosingMark of_lost_key(const journal::LedgerEntry& spent) const;
  /// Makes the closing mark of a lane that is skipped: a further change came before it took a step of the division
  /// `next()` or took its users over. After that nobody knows the counts of its users. So they are charged what a
  /// user of any old lane may have spent. The mark names the users who were closed, because the further change
  /// removes the stores that know them. Throws LaneHasToWait as read() does.
  [[nodiscard]] users::ClosingMark of_skipped() const;
  /// The record of the topic of users that closes the lane of `place`.
  [[nodiscard]] journal::KeyedRecord record_of(const users::ClosingMark& closing) const;
  /// The users that are this lane's own from now on. Throws LaneHasToWait until every old lane is closed, so that
  /// nobody counts in two lanes at once, and nobody's count is lost.
  [[nodiscard]] MovedUsers read() const;

 private:
  [[nodiscard]] UsersPartition partition(LaneId lane) const;
  [[nodiscard]] std::vector<users::ClosingMark> all_closed() const;
  [[nodiscard]] bool goes_on(const users::ClosingMark& closing) const;
  [[nodiscard]] journal::LedgerEntry most_spent(const std::vector<users::ClosingMark>& marks) const;
  [[nodiscard]] journal::LedgerEntry nothing_spent() const;
  [[nodiscard]] users::Division asked_next() const;
  [[nodiscard]] std::string line_of(const journal::LedgerEntry& spent) const;
  using Take = std::function<void(const users::Entry& entry)>;
  void visit_entries(std::uint32_t lane, const users::ClosingMark& closing, const Take& take) const;
  [[nodiscard]] std::vector<users::Entry> own_entries(const std::vector<users::ClosingMark>& marks) const;
  /// The users who were closed, and the lanes that may have closed others besides.
  struct ClosedUsers {
    std::vector<users::Entry> entries;
    std::vector<std::uint32_t> lost;
  };
  [[nodiscard]] ClosedUsers closed_in(const std::vector<users::ClosingMark>& marks) const;

  const Setup& setup_;
  const kafka::ClientSettings& client_;
  const kafka::LanePlace& place_;
  const std::atomic<bool>& cancelled_;
  users::UserKey key_;
  users::Division before_;
};

}  // namespace nustream::attach
