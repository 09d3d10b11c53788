// Another number of partitions gives users other lanes: what each old lane says last, and what a new one takes over.
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
#include "kafka/lane_place.h"
#include "nustream/users/standings.h"
#include "users/closing_mark.h"
#include "users/user_key.h"

namespace nustream::attach {

/// Another lane has to do something first: looked for again soon.
class LaneHasToWait : public std::exception {
 public:
  explicit LaneHasToWait(std::string reason) : reason_(std::move(reason)) {}
  /// One line: for which lane, and what it has to do.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

/// What a lane begins an epoch of another number of lanes with.
struct MovedUsers {
  bool carries_over = false;  ///< false: everybody counts anew, and the epoch is charged beside those before
  std::vector<users::Entry> entries{};
  /// The most that a user of any old lane spent in all of its epochs, in the place of them all.
  journal::LedgerEntry spent;
  std::string lost{};  ///< old lanes of which nobody knows whom `users close` closed: "0, 2"
};

/// Reads what all old lanes left, in the order that users::LaneChange asks for. References outlive it.
class LanesBefore {
 public:
  /// `before`: how users were divided. `key`: the stream's.
  LanesBefore(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& place,
              const std::atomic<bool>& cancelled, users::UserKey key, const users::Division& before)
      : setup_(setup), client_(client), place_(place), cancelled_(cancelled), key_(std::move(key)), before_(before) {}

  /// Nothing where the lane is not closed.
  [[nodiscard]] std::optional<users::ClosingMark> closing(LaneId lane) const;
  /// How users are divided after this: as lane 0 says, whatever an instance that was started at another time sees.
  /// LaneHasToWait until it is closed.
  [[nodiscard]] users::Division next() const;
  /// The closing mark of the lane of `place` by its last `state` and its `ledger`.
  [[nodiscard]] users::ClosingMark of_state(const journal::UsersOfState& state, const journal::Ledger& ledger) const;
  /// The same where its state is lost, and where it never took a step: its ledger tells what was spent.
  [[nodiscard]] users::ClosingMark without_state(const journal::Ledger& ledger) const;
  /// In the place of the closing marks of lanes whose key is lost, or was destroyed: what was `spent` in any of them.
  [[nodiscard]] users::ClosingMark of_lost_key(const journal::LedgerEntry& spent) const;
  /// The closing mark of a lane that takes no step of `next()`, nor takes its users over: under `change` + 1 nobody
  /// knows their counts, and they may have spent what a user of any old lane did. It names those who were closed,
  /// since the next change takes the stores that know them away. LaneHasToWait as read().
  [[nodiscard]] users::ClosingMark of_skipped() const;
  /// The record by which the lane of `place` is closed.
  [[nodiscard]] journal::KeyedRecord record_of(const users::ClosingMark& closing) const;
  /// The users that are now this lane's own. LaneHasToWait until every old lane is closed: so nobody counts in two
  /// lanes at once, and nobody's count is lost.
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
  /// Whoever was closed, and the lanes that may have closed more.
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
