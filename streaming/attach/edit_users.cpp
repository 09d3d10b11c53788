// Edits of users in topics. A lane is fenced, its state and its store are changed in one transaction under its own
// transactional id, and nothing is published or spent. Closing goes through the same code as a running lane's batch,
// so that the store stays what the lane would have written.
#include "attach/edit_users.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "attach/rebuild_users.h"
#include "attach/record_sizes.h"
#include "attach/topic_requirements.h"
#include "journal/state_record.h"
#include "kafka/kafka_journal.h"
#include "kafka/lane_checks.h"
#include "kafka/lane_edit.h"
#include "users/closing.h"
#include "users/closing_mark.h"

namespace nustream::attach {
namespace {

// Nothing cancels these calls: they end by their deadlines.
constexpr std::atomic<bool> never{false};

[[noreturn]] void refuse(const kafka::LanePlace& place, const std::string& why) {
  throw Failure(Exit::data, fmt::format("lane {}: {}", place.name(), why));
}

/// One lane whose state and store of users are changed together, in one transaction.
class UsersEdit {
 public:
  UsersEdit(const config::Config& config, const kafka::ClientSettings& client, const secrets::Keyring& keys,
            LaneId lane)
      : config_(config),
        keys_(keys),
        edit_(client, config.kafka, {config.stream, lane, config.kafka.group, config.kafka.topics},
              {config.kafka.topics.state, config.kafka.topics.users}),
        checks_(client, place(), keys, config.kafka.transaction, never),
        partition_(client, place(), config.kafka.transaction, never) {}

  [[nodiscard]] const kafka::LanePlace& place() const { return edit_.place(); }
  [[nodiscard]] const UsersPartition& partition() const noexcept { return partition_; }

  /// The users of the state that is committed now, read without taking the lane over. Nothing where the lane never
  /// began, or where its state holds no users any more.
  [[nodiscard]] std::optional<journal::UsersOfState> users() const {
    const std::optional<std::string> sealed = edit_.load();
    if (!sealed) return std::nullopt;
    return journal::open_state(keys_, *sealed).record.users;
  }

  /// Makes the lane this process's own (no other producer can write to it afterwards), and checks that its topics
  /// agree with its state. Returns false where the lane never began. Throws Failure(data) where it has no state
  /// although its topics hold something of it.
  [[nodiscard]] bool take_over() {
    const std::optional<std::string> sealed = edit_.take_over();
    if (!sealed) {
      if (checks_.remains().any()) refuse(place(), "there are releases, a ledger or a committed offset but no state");
      return false;
    }
    state_.emplace(journal::open_state(keys_, *sealed));
    checks_.check_outputs(*state_);
    // The call refuses a state that is older than the group's committed offset.
    static_cast<void>(checks_.check_input(state_->record, state_->identity.steps.value() > 0));
    return true;
  }
  [[nodiscard]] std::optional<journal::UsersOfState>& users_of_state() { return state_->record.users; }

  /// Commits the changed state and the store's records. Releases that the state still owes stay in its outbox:
  /// the process that opens the lane next publishes them.
  void commit(const char* attempt, std::vector<kafka::OutgoingRecord> records) {
    const std::string sealed = journal::seal_state(keys_, state_->identity, state_->record);
    edit_.commit(fmt::format("{} users of lane {}", attempt, place().name()), sealed, std::move(records));
  }

 private:
  const config::Config& config_;
  const secrets::Keyring& keys_;
  kafka::LaneEdit edit_;
  kafka::LaneChecks checks_;
  UsersPartition partition_;
  std::optional<journal::State> state_;
};

kafka::ClientSettings client_of(const config::Config& config) {
  return {config.kafka.brokers, config.kafka.properties};
}

void require_users(const config::Config& config) {
  if (config.users && config.users->are_kept) return;
  throw Failure(Exit::configuration, config.file + ": privacy.unit is not \"user\": there are no users to change");
}

/// How users are divided among lanes, and under which key. Both are the same in all lanes.
struct Divided {
  users::UserKey key;
  users::Division division;
};

/// Reads the division that all lanes agree on now. Throws Failure(data) where a lane lacks its state, or where a
/// change of the number of lanes is under way. In the second case a user that is closed in one lane only would count
/// again in the lane that does not know of it.
Divided divided_now(const config::Config& config, const kafka::ClientSettings& client, const secrets::Keyring& keys) {
  std::optional<Divided> now;
  // The number of lanes is known once lane 0 has been read.
  for (std::uint32_t lane = 0; lane < (now ? now->division.lanes : 1); ++lane) {
    const UsersEdit edit(config, client, keys, LaneId{lane});
    const auto users = edit.users();
    if (!users) {
      refuse(edit.place(),
             "its state is not there, or holds no users: nobody is closed in any lane; attach the stream "
             "first, until all of its lanes have begun");
    }
    const users::Division division = users::decode_topic_mark(users->mark).division;
    // A lane that has left its closing mark, or that is of another division than lane 0, is in the middle of a
    // change.
    const std::string mark = closing_key(edit.partition().identity(), division.change);
    if ((now && division != now->division) || edit.partition().find(mark)) {
      refuse(edit.place(),
             "the number of lanes is changing: nobody is closed in any lane; attach the stream with "
             "--new-epoch first, until all of its lanes have begun");
    }
    if (!now) now.emplace(Divided{users::UserKey(users->key), division});
  }
  return *std::move(now);
}

/// Marks `closed` in the lane's store, and commits that with its state. It replays the store as the lane itself
/// would, and closes one batch without a step in it. Returns how many of the users had not contributed.
std::uint64_t close_in_lane(const config::Config& config, UsersEdit& edit, const users::Division& division,
                            std::size_t entries_max, const std::vector<users::Entry>& closed) {
  if (!edit.take_over() || !edit.users_of_state()) refuse(edit.place(), "its state is gone");
  journal::UsersOfState& known = *edit.users_of_state();
  config::Users settings = *config.users;
  // The present settings may tell users apart otherwise. The store is kept as the state says.
  settings.identity = known.identity;
  const UserStore store{
      edit.partition().identity(), settings, division, {.entries_max = entries_max}, edit.partition().end()};
  const auto users = rebuilt_users(store, known, edit.partition(), edit.place().name());
  std::uint64_t unknown = 0;
  for (const users::Entry& of : closed) {
    if (!users::close_user(of, users->open())) ++unknown;
  }
  const engine::UsersOfBatch batch = users->close()();
  journal::UsersOfState after = batch.state;
  after.latest = known.latest;  // no step was taken, whatever period the settings have
  after.window = known.window;
  known = std::move(after);
  // One transaction for both: a state without its records, or records without their state, would be a lost store.
  std::vector<kafka::OutgoingRecord> records;
  for (const journal::KeyedRecord& record : batch.records) {
    records.push_back({edit.place().topics.users, edit.place().partition(), record.key, record.value});
  }
  edit.commit("close", std::move(records));
  return unknown;
}

}  // namespace

users::UserTotals count_users(const config::Config& config, const kafka::ClientSettings& client,
                              const kafka::LanePlace& place, const secrets::Keyring& keys,
                              const users::Limits& limits) {
  // A lane that runs may commit between the reading of its state and of its store. The two then contradict each
  // other. Three times in a row is hardly chance, so that the third failure is told.
  constexpr int attempts = 3;
  const UsersPartition partition(client, place, config.kafka.transaction, never);
  for (int attempt = 1;; ++attempt) {
    const auto sealed = kafka::committed_state(client, place, config.kafka.transaction);
    if (!sealed) refuse(place, "there is no state");
    const auto users = journal::open_state(keys, *sealed).record.users;
    if (!users) refuse(place, "the state holds no users");
    try {
      const bool on_disk = config.users && config.users->on_disk;
      return users::count_users(*table_of(*users, partition, on_disk), limits);
    } catch (const kafka::KafkaFailure&) {
      throw;
    } catch (const Failure& failure) {
      if (attempt == attempts) refuse(place, failure.what());
    }
  }
}

users::NamedUsers close_users(const config::Config& config, const secrets::Keyring& keys, std::istream& identifiers) {
  require_users(config);
  const kafka::ClientSettings client = client_of(config);
  kafka::require_no_members(client, config.kafka);
  // The limit of the topic is asked for, as at a start, so that no record is too long for it.
  const std::size_t entries_max =
      user_entries(config, check_topics(config, config.kafka.give_up, never).user_bytes_max);
  const Divided now = divided_now(config, client, keys);
  std::vector<std::vector<users::Entry>> closed(now.division.lanes);
  users::NamedUsers found = users::for_each_identifier(
      identifiers, now.key, now.division.partitioner, config.users->nobody,
      [&](const users::Entry& of, std::uint32_t number) {
        closed[users::lane_of(now.division.partitioner, number, now.division.lanes).value()].push_back(of);
        return true;
      });
  users::require_any(found);
  // One lane after the other. Where the command is ended in between, it is given again: closing a closed user changes
  // nothing.
  for (std::uint32_t lane = 0; lane < now.division.lanes; ++lane) {
    if (closed[lane].empty()) continue;
    UsersEdit edit(config, client, keys, LaneId{lane});
    found.unknown += close_in_lane(config, edit, now.division, entries_max, closed[lane]);
  }
  return found;
}

void end_users(const config::Config& config, const secrets::Keyring& keys) {
  require_users(config);
  const kafka::ClientSettings client = client_of(config);
  kafka::require_no_members(client, config.kafka);
  bool any = false;
  // All lanes that may have a state, also those beyond the present number of the input's partitions.
  for (std::uint32_t lane = 0; lane < kafka::lanes_with_states(client, config.kafka); ++lane) {
    UsersEdit edit(config, client, keys, LaneId{lane});
    if (!edit.take_over() || !edit.users_of_state()) continue;
    // The users' key was in that state and is gone. So nobody can read the entries that a log compaction has not
    // removed yet.
    edit.users_of_state().reset();
    const std::set<std::string> keys_of_store = edit.partition().keys();
    std::vector<kafka::OutgoingRecord> tombstones;
    // A compacted topic drops a key whose last record has no value.
    for (const std::string& key : keys_of_store) {
      tombstones.push_back({edit.place().topics.users, edit.place().partition(), key, std::nullopt});
    }
    edit.commit("end", std::move(tombstones));
    any = true;
  }
  if (!any) throw Failure(Exit::data, config.stream + ": the state of no lane holds users; check the topics");
}

}  // namespace nustream::attach
