// How the users of a lane of a topic are opened: their key, which all lanes share, and their table, before any step.
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
#include "journal/sealed_state.h"
#include "kafka/client_settings.h"
#include "kafka/lane_place.h"

namespace nustream::attach {

/// What an epoch of users begins with.
struct EpochUsers {
  std::unique_ptr<TopicUsers> users;
  bool carries_over = false;                    ///< with the counts and masses of the epoch before it
  std::optional<journal::LedgerEntry> spent{};  ///< where users came from other lanes: what they spent, at most
};

/// What a lane leaves of the epochs before the one that begins. Neither has to be there.
struct LanePast {
  const journal::StateRecord* state = nullptr;  ///< null where it is lost, or there was none
  const journal::Ledger& ledger;
  bool has_remains = false;   ///< of a lane whose state is lost, or knows no users: there was one that did
  bool may_change = false;    ///< --new-epoch: users may be divided otherwise than before
  bool accepts_loss = false;  ///< --accept-gap: nobody knows whom `users close` closed in some lane
};

/// Opens the users of one lane once its older producers are fenced. Calls wait; they throw KafkaFailure where no
/// broker answers, and Cancelled. All references outlive it.
class UsersOpening {
 public:
  UsersOpening(const Setup& setup, const kafka::ClientSettings& client, const kafka::LanePlace& place,
               const std::atomic<bool>& cancelled)
      : setup_(setup), client_(client), place_(place), cancelled_(cancelled) {}

  /// Commits a record of the lane's store by itself.
  using Write = std::function<void(journal::KeyedRecord record)>;

  /// Of a state that is gone on from. Failure(data) where its store is lost, thinned out, older, newer or another's,
  /// and where the lane was closed.
  [[nodiscard]] std::unique_ptr<TopicUsers> resumed(const journal::StateRecord& record) const;
  /// Of an epoch that begins. Counts carry over where it has the same users, limits of the same kind and a whole
  /// store; from all old lanes together where their number changed. LaneHasToWait where another lane has to draw the
  /// stream's key first, or to be closed.
  [[nodiscard]] EpochUsers of_epoch(const LanePast& past, const Write& write) const;

 private:
  /// How users are divided by some state, and under which key.
  struct Divided {
    users::UserKey key;
    users::Division division;
  };

  [[nodiscard]] UserStore store(std::uint32_t change) const;
  [[nodiscard]] UsersPartition partition() const {
    return {client_, place_, setup_.config.kafka.transaction, cancelled_};
  }
  [[nodiscard]] std::unique_ptr<TopicUsers> rebuilt(const journal::UsersOfState& before) const;
  [[nodiscard]] EpochUsers of_same_lanes(const journal::UsersOfState& known, const journal::Ledger& ledger) const;
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

/// What stands in the ledger of `lane` as the epoch before the one that begins at `start`, so that nobody who comes
/// from another lane has spent more than it says; nothing where users did not move.
[[nodiscard]] std::optional<journal::LedgerEntry> owed_by(const EpochUsers& epoch, const journal::Ledger& ledger,
                                                          LaneId lane, Position start);
/// Whether the ledger says that an epoch of users began with the counts of the one before.
[[nodiscard]] bool began_with_counts(const journal::Ledger& ledger, EpochId epoch);

}  // namespace nustream::attach
