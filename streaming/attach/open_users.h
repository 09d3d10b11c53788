// How the users of a lane of a topic are opened: their key, which all lanes share, and their table, before any step.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "attach/lane_state.h"
#include "attach/topic_users.h"
#include "journal/ledger_chain.h"
#include "journal/sealed_state.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"
#include "kafka/partition.h"
#include "users/new_epoch.h"

namespace nustream::attach {

/// Another lane has to do something first, which takes moments: looked for again soon.
class LaneHasToWait : public std::exception {
 public:
  explicit LaneHasToWait(std::string reason) : reason_(std::move(reason)) {}
  /// One line: for which lane, and what it has to do.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return reason_.c_str(); }

 private:
  std::string reason_;
};

/// Opens the users of one lane once its older producers are fenced. Calls wait; they throw KafkaFailure where no
/// broker answers, and Cancelled. All references outlive it.
class UsersOpening {
 public:
  UsersOpening(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& place,
               const std::atomic<bool>& cancelled)
      : setup_(setup), client_(client), place_(place), cancelled_(cancelled) {}

  /// Of a state that is gone on from. Failure(data) where its store is lost, thinned out, older, newer or another's.
  [[nodiscard]] std::unique_ptr<TopicUsers> resumed(const journal::StateRecord& record) const;
  /// Of an epoch that begins behind `before`, or without a state. `carries_over` becomes false where counts do not go
  /// on: other users, other limits, another number of lanes, or a store that is lost. LaneHasToWait where the lane
  /// that draws the stream's key has not done so.
  [[nodiscard]] std::unique_ptr<TopicUsers> of_epoch(const journal::StateRecord* before,
                                                     const std::optional<users::Limits>& limits_before,
                                                     bool& carries_over) const;

 private:
  [[nodiscard]] UserStore store() const;
  [[nodiscard]] users::TopicLog::ReadFrom reader(kafka::Offset end) const;
  [[nodiscard]] std::unique_ptr<TopicUsers> rebuilt(const journal::UsersOfState& before) const;
  [[nodiscard]] bool are_divided_as(const journal::StateRecord& before) const;
  [[nodiscard]] users::UserKey key_of_stream() const;
  [[nodiscard]] std::optional<users::UserKey> key_of(LaneId lane) const;

  const Setup& setup_;
  const kafka::ClientSettings& client_;
  const kafka::LanePlace& place_;
  const std::atomic<bool>& cancelled_;
};

/// What the ledger says of an epoch of users: under which limits it was, and whether it began with the counts of the
/// one before.
[[nodiscard]] std::optional<users::Limits> last_limits(const journal::Ledger& ledger);
[[nodiscard]] bool began_with_counts(const journal::Ledger& ledger, EpochId epoch);

}  // namespace nustream::attach
