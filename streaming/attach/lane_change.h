// Another number of partitions gives users other lanes: what each old lane says last, and what a new one takes over.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_state.h"
#include "attach/users_partition.h"
#include "journal/ledger_chain.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"
#include "nustream/users/table.h"
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
  /// The most that a user of any old lane spent in all of its epochs; nothing where that is not known.
  std::optional<journal::LedgerEntry> spent{};
};

/// The closing mark of a lane by its last `state` and its `ledger`.
[[nodiscard]] users::ClosingMark closing_of(const journal::UsersOfState& state, const journal::Ledger& ledger,
                                            const secrets::Keyring& keys);

/// Reads what all old lanes left, in the order that users::LaneChange asks for. References outlive it.
class LanesBefore {
 public:
  /// `before`: how users were divided. `key`: the stream's.
  LanesBefore(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& place,
              const std::atomic<bool>& cancelled, users::UserKey key, const users::Division& before)
      : setup_(setup), client_(client), place_(place), cancelled_(cancelled), key_(std::move(key)), before_(before) {}

  /// Nothing where the lane is not closed.
  [[nodiscard]] std::optional<users::ClosingMark> closing(LaneId lane) const;
  /// The record by which the lane of `place` is closed.
  [[nodiscard]] journal::KeyedRecord record_of(const users::ClosingMark& closing) const;
  /// The users that are now this lane's own. LaneHasToWait until every old lane is closed: so nobody counts in two
  /// lanes at once, and nobody's count is lost.
  [[nodiscard]] MovedUsers read() const;

 private:
  [[nodiscard]] UsersPartition partition(LaneId lane) const;
  [[nodiscard]] bool goes_on(const users::ClosingMark& closing) const;
  [[nodiscard]] std::optional<journal::LedgerEntry> most_spent(const std::vector<users::ClosingMark>& marks) const;
  void take_entries(LaneId lane, const users::ClosingMark& closing, MovedUsers& moved) const;

  const Setup& setup_;
  const kafka::ClientSettings& client_;
  const kafka::LanePlace& place_;
  const std::atomic<bool>& cancelled_;
  users::UserKey key_;
  users::Division before_;
};

}  // namespace nustream::attach
