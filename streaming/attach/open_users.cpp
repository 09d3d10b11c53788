#include "attach/open_users.h"

#include <algorithm>

#include <fmt/format.h>

#include "error.h"
#include "kafka/interruption.h"
#include "kafka/kafka_journal.h"
#include "kafka/partition_reader.h"
#include "users/stream_key.h"

namespace nustream::attach {
namespace {

kafka::Offset offset_of(std::uint64_t offset) {
  return kafka::Offset{static_cast<std::int64_t>(offset)};
}

}  // namespace

std::optional<users::Limits> last_limits(const journal::Ledger& ledger) {
  if (ledger.epochs.empty() || !ledger.epochs.back().user) return std::nullopt;
  return ledger.epochs.back().user->limits;
}

bool began_with_counts(const journal::Ledger& ledger, EpochId epoch) {
  return std::ranges::any_of(ledger.epochs, [&](const journal::LedgerEntry& entry) {
    return entry.epoch == epoch && entry.user && entry.user->carries_over;
  });
}

/// The end is the high watermark: what older producers left open is committed or aborted by now.
UserStore UsersOpening::store() const {
  kafka::PartitionReader all(client_, kafka::Isolation::read_uncommitted, place_.group);
  const kafka::Watermarks log =
      all.watermarks(place_.in(place_.topics.users), kafka::in(setup_.config.kafka.transaction));
  return {{place_.stream, place_.lane},
          *setup_.config.users,
          {.entries_max = setup_.user_entries_max},
          static_cast<std::uint64_t>(log.high.value())};
}

/// For as long as it takes, as long as it goes on.
users::TopicLog::ReadFrom UsersOpening::reader(kafka::Offset end) const {
  return [this, end](std::uint64_t from, const users::TopicLog::Take& take) {
    const std::chrono::milliseconds patience = setup_.config.kafka.transaction;
    const kafka::TopicPartition partition = place_.in(place_.topics.users);
    kafka::PartitionReader committed(client_, kafka::Isolation::read_committed, place_.group);
    const kafka::Offset low = committed.watermarks(partition, kafka::in(patience)).low;
    committed.read_patiently(partition, std::clamp(offset_of(from), low, std::max(low, end)), end, patience,
                             [&](const kafka::Message& message) {
                               if (cancelled_.load()) throw kafka::Cancelled();
                               if (message.record.key && message.record.value) {
                                 take(*message.record.key, *message.record.value);
                               }
                             });
  };
}

/// From where the state knows its records to be; in a topic that was restored under other offsets, from its
/// beginning. Either way the digest tells whether the table is the right one.
std::unique_ptr<TopicUsers> UsersOpening::rebuilt(const journal::UsersOfState& before) const {
  const UserStore found = store();
  const users::TopicLog::ReadFrom read = reader(offset_of(found.end));
  try {
    return std::make_unique<TopicUsers>(found, before, read);
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const Failure& failure) {
    if (failure.code() != Exit::data) throw;
  }
  journal::UsersOfState elsewhere = before;
  users::TopicMark mark = users::decode_topic_mark(before.mark);
  mark.before.offset = mark.current.offset = 0;
  elsewhere.mark = users::encode_mark(mark);
  return std::make_unique<TopicUsers>(found, elsewhere, read);
}

std::unique_ptr<TopicUsers> UsersOpening::resumed(const journal::StateRecord& record) const {
  if (!record.users) throw Failure(Exit::data, fmt::format("lane {}: the state holds no users", place_.name()));
  try {
    return rebuilt(*record.users);
  } catch (const kafka::KafkaFailure&) {
    throw;
  } catch (const Failure& failure) {
    throw Failure(failure.code(),
                  fmt::format("lane {}: topic '{}': {}", place_.name(), place_.topics.users, failure.what()));
  }
}

/// Whether each user's lane is the one that it was in the epoch before: as many lanes, by the same partitioner, which
/// settings name where it is not the usual one.
bool UsersOpening::are_divided_as(const journal::StateRecord& before) const {
  const config::Users& settings = *setup_.config.users;
  if (users::decode_topic_mark(before.users->mark).lanes != settings.lanes) return false;
  const bool was_other = before.settings.find("\nuser_partitioner=") != std::string::npos;
  return settings.lanes == 1 || was_other == (settings.partitioner == users::Partitioner::crc32);
}

std::unique_ptr<TopicUsers> UsersOpening::of_epoch(const journal::StateRecord* before,
                                                   const std::optional<users::Limits>& limits_before,
                                                   bool& carries_over) const {
  const config::Users& settings = *setup_.config.users;
  if (before == nullptr || !before->users) {
    carries_over = false;
    return std::make_unique<TopicUsers>(store(), key_of_stream());
  }
  const journal::UsersOfState& known = *before->users;
  const bool are_divided_alike = are_divided_as(*before);
  carries_over = carries_over && are_divided_alike && known.column == settings.column && limits_before &&
                 users::are_of_one_kind(*limits_before, *settings.limits);
  if (are_divided_alike) {
    try {
      auto opened = rebuilt(known);
      carries_over ? opened->carry_over(*limits_before) : opened->begin_anew();
      return opened;
    } catch (const kafka::KafkaFailure&) {
      throw;
    } catch (const Failure& failure) {
      if (failure.code() != Exit::data) throw;
    }
  }
  carries_over = false;  // nobody knows what its users did: all epochs are charged
  return std::make_unique<TopicUsers>(store(), users::UserKey(known.key));
}

/// Of any state that holds it; where none does, lane 0 draws it, and the others wait for its first state.
users::UserKey UsersOpening::key_of_stream() const {
  for (std::uint32_t lane = 0; lane < setup_.config.users->lanes; ++lane) {
    if (LaneId{lane} == place_.lane) continue;
    if (auto key = key_of(LaneId{lane})) return *std::move(key);
  }
  if (place_.lane == LaneId{0}) return users::new_user_key(setup_.keys, place_.stream);
  throw LaneHasToWait(
      fmt::format("lane {} waits for lane 0, which draws the key of the stream's users", place_.name()));
}

std::optional<users::UserKey> UsersOpening::key_of(LaneId lane) const {
  if (cancelled_.load()) throw kafka::Cancelled();
  const kafka::LanePlace other{place_.stream, lane, place_.group, place_.topics};
  const kafka::Deadline deadline = kafka::in(setup_.config.kafka.transaction);
  kafka::PartitionReader reader(client_, kafka::Isolation::read_committed, place_.group);
  const kafka::Offset end = reader.watermarks(other.in(other.topics.state), deadline).high;
  const auto sealed = kafka::read_state(client_, other, end, deadline);
  if (!sealed) return std::nullopt;
  const journal::State state = journal::open_state(setup_.keys, *sealed);
  if (!state.record.users) return std::nullopt;
  return users::UserKey(state.record.users->key);
}

}  // namespace nustream::attach
