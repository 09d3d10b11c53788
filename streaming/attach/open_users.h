// Opens the users of a lane of a topic before its first step: the key, which all lanes share, and the lane's own
// table.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "attach/lane_change.h"
#include "attach/lane_state.h"
#include "attach/rebuild_users.h"
#include "attach/topic_users.h"
#include "error.h"
#include "journal/ledger_chain.h"
#include "journal/state_record.h"
#include "kafka/client_settings.h"
#include "kafka/partition.h"

namespace nustream::attach {

/// What an epoch of users begins with.
struct EpochUsers {
  std::unique_ptr<TopicUsers> users;
  bool carries_over = false;  ///< true where it goes on with the counts and masses of the epoch before it
  /// Where users came from other lanes, the most that any of them spent there.
  std::optional<journal::LedgerEntry> spent{};
};

/// What is left of a lane's epochs before the one that begins: a state and a ledger, either of which may be missing.
struct LanePast {
  const journal::StateRecord* state = nullptr;  ///< null where it is lost, or there was none
  const journal::Ledger& ledger;
  bool has_remains = false;  ///< true where the topics show that the lane had a state once
  bool may_change = false;   ///< --new-epoch: users may be divided otherwise than before
  /// has_only_measured() of the state: it counted nobody, so that nothing carries over.
  bool has_only_measured = false;
  bool accepts_loss = false;  ///< --accept-gap: go on where nobody knows whom `users close` closed in some lane
};

/// Opens the users of one lane once its older producers are fenced. Calls wait for brokers; they throw KafkaFailure
/// where none answers, and Cancelled once the opening is cancelled. All references outlive it.
class UsersOpening {
 public:
  UsersOpening(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& place,
               const std::atomic<bool>& cancelled)
      : setup_(setup), client_(client), place_(place), cancelled_(cancelled) {}

  /// Commits a record of the lane's store by itself.
  using Write = std::function<void(journal::KeyedRecord record)>;

  /// Rebuilds the users of a state that the lane goes on from. Throws Failure(data) where the store is lost, lacks
  /// records, is older or newer than the state or another lane's, and where the lane was closed.
  [[nodiscard]] std::unique_ptr<TopicUsers> resumed(const journal::StateRecord& record) const;
  /// Opens the users of an epoch that begins. Their counts carry over where the epoch has the same column of users,
  /// limits of the same kind and a whole store; where the number of lanes changed, they are gathered from all old
  /// lanes. Throws LaneHasToWait where another lane has to draw the stream's key first, or has to be closed first.
  [[nodiscard]] EpochUsers of_epoch(const LanePast& past, const Write& write) const;

 private:
  /// How a state says that users are divided, and under which key.
  struct Divided {
    users::UserKey key;
    users::Division division;
  };

  [[nodiscard]] UserStore store(std::uint32_t change) const;
  [[nodiscard]] UsersPartition partition() const {
    return {client_, place_, setup_.config.kafka.transaction, cancelled_};
  }
  [[nodiscard]] std::unique_ptr<TopicUsers> rebuilt(const journal::UsersOfState& before) const;
  [[nodiscard]] EpochUsers of_same_lanes(const journal::UsersOfState& known, const LanePast& past) const;
  [[nodiscard]] EpochUsers of_lost_state(const LanePast& past, const Write& write) const;
  [[nodiscard]] EpochUsers of_lost_state(const LanePast& past, const Divided& newest, const Write& write) const;
  [[nodiscard]] EpochUsers of_new_key(const LanePast& past, const Write& write) const;
  [[nodiscard]] EpochUsers begun_by_others(const LanePast& past, const Divided& newest, const Write& write) const;
  [[nodiscard]] EpochUsers passed_over(const LanePast& past, const Divided& passed, const LanesBefore& before,
                                       const Write& write) const;
  [[nodiscard]] EpochUsers of_new_lane(const LanePast& past, const Divided& now) const;
  [[nodiscard]] EpochUsers changed(const LanePast& past, const Divided& before,
                                   const std::optional<users::ClosingMark>& own, const Write& write) const;
  [[nodiscard]] EpochUsers anew(const Divided& now) const;
  [[nodiscard]] LanesBefore lanes_of(const Divided& division) const;
  [[nodiscard]] Divided division_before(const Divided& now) const;
  [[nodiscard]] bool is_divided_so(const users::Division& division) const;
  [[nodiscard]] std::optional<Divided> newer_than(const Divided& own) const;
  [[nodiscard]] std::optional<Divided> divided_by_others() const;
  [[nodiscard]] std::optional<Divided> divided_by(LaneId lane) const;

  const Setup& setup_;
  const kafka::ClientSettings& client_;
  const kafka::LanePlace& place_;
  const std::atomic<bool>& cancelled_;
};

}  // namespace nustream::attach
