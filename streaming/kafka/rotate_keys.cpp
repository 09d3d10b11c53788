#include "kafka/rotate_keys.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "journal/ledger_chain.h"
#include "journal/sealed_state.h"
#include "kafka/kafka_journal.h"
#include "kafka/lane_checks.h"
#include "kafka/look_up.h"
#include "kafka/seen_records.h"
#include "kafka/topic_checks.h"
#include "kafka/transaction.h"

namespace nustream::kafka {
namespace {

constexpr std::atomic<bool> never{false};

void require_no_members(const ClientSettings& settings, const std::string& group, Deadline deadline) {
  const std::size_t members = group_members(new_consumer(settings, Role::committed_reader, {}), group, deadline);
  if (members == 0) return;
  throw Failure(Exit::locked, fmt::format("group {} has {} members: stop every instance first (one with an instance "
                                          "id is a member until its session ends)",
                                          group, members));
}

void finish(const std::string& attempt, const std::function<Progress()>& call) {
  while (true) {
    const Progress progress = call();
    if (progress.is_done()) return;
    if (progress.error() != nullptr) throw KafkaFailure(attempt, *progress.error());
  }
}

class LaneRotation {
 public:
  LaneRotation(const ClientSettings& client, const config::Kafka& kafka, LanePlace place,
               const secrets::Keyring& old_keys, const secrets::Keyring& new_keys)
      : client_(client),
        place_(std::move(place)),
        time_(kafka.transaction),
        old_keys_(old_keys),
        new_keys_(new_keys),
        checks_(client, place_, old_keys, time_, never) {}

  /// Failure(data) where its input is no longer the one that was read.
  void check() {
    const std::optional<std::string> sealed = load();
    if (sealed && !is_rotated(*sealed)) require_same_input(journal::open_state(old_keys_, *sealed));
  }

  /// True where there was a state under the old key.
  bool run() {
    const auto producer = transactional_producer(client_, place_.name(), {place_.topics.state, place_.topics.ledger});
    finish("take over lane " + place_.name(), [&, deadline = in(time_)] { return producer->init(deadline); });
    const std::optional<std::string> sealed = load();
    if (sealed && is_rotated(*sealed)) return false;
    const LaneChecks::Remains remains = checks_.remains();
    if (!sealed) {
      if (!remains.any()) return false;
      throw Failure(Exit::data, fmt::format("lane {}: there are releases, a ledger or a committed offset but no "
                                            "state; begin a new epoch with --new-epoch first",
                                            place_.name()));
    }
    journal::State state = journal::open_state(old_keys_, *sealed);
    checks_.check_outputs(state);
    require_same_input(state);
    commit(*producer, std::move(state), remains.ledger.head);
    return true;
  }

 private:
  std::optional<std::string> load() {
    PartitionReader uncommitted(client_, Isolation::read_uncommitted, place_.group);
    const Offset end = uncommitted.watermarks(place_.in(place_.topics.state), in(time_)).high;
    return read_state(client_, place_, end, in(time_));
  }

  bool is_rotated(const std::string& sealed) const try {
    static_cast<void>(journal::open_state(new_keys_, sealed));
    return true;
  } catch (const Failure& failure) {
    if (failure.code() != Exit::permission) throw;
    return false;
  }

  /// Marks of records that are another log's would be lost here, and with them all that tells the logs apart.
  void require_same_input(const journal::State& state) {
    const std::string changed = checks_.check_input(state.record, state.identity.steps.value() > 0).changed;
    if (changed.empty()) return;
    throw Failure(Exit::data, fmt::format("lane {}: {}; nothing was sealed anew: begin a new epoch with --new-epoch "
                                          "--accept-gap first, or restore the topic",
                                          place_.name(), changed));
  }

  /// The releases that the state still owes stay in it: whoever opens it next publishes them.
  void commit(Producer& producer, journal::State state, const journal::Hash& ledger_head) {
    journal::StateRecord& record = state.record;
    record.seen = marked_anew(record);
    const std::string line = journal::rotation_line(place_.stream, ledger_head, new_keys_);
    record.ledger_head = journal::hash_of(line);
    const std::string sealed = journal::seal_state(new_keys_, state.identity, record);
    const std::string key = place_.state_key();
    TransactionContent content;
    content.records.push_back({place_.topics.state, place_.partition(), key, std::string_view(sealed)});
    content.records.push_back(
        {place_.topics.ledger, place_.partition(), std::nullopt, std::string_view(line).substr(0, line.size() - 1)});
    Transaction transaction(producer, place_, content, nullptr, time_);
    finish("seal lane " + place_.name() + " anew", [&] { return transaction.advance(); });
  }

  /// Marks are keyed: those of the records that are still there, and the same, are made again.
  std::vector<journal::SeenRecord> marked_anew(const journal::StateRecord& record) {
    std::vector<journal::SeenRecord> seen;
    const TopicPartition input = place_.in(place_.topics.input);
    PartitionReader reader(client_, Isolation::read_committed, place_.group);
    const Watermarks log = reader.watermarks(input, in(time_));
    const Offset end{std::min(log.high.value(), static_cast<std::int64_t>(record.position.value()))};
    for (const journal::SeenRecord& old : record.seen) {
      const Offset offset{static_cast<std::int64_t>(old.position.value())};
      if (offset < log.low || offset >= end) continue;
      reader.read_patiently(input, offset, Offset{offset.value() + 1}, time_, [&](const Message& message) {
        if (mark_of(message.record, old_keys_) != old.mac) return;
        seen.push_back({old.position, mark_of(message.record, new_keys_)});
      });
    }
    return seen;
  }

  const ClientSettings& client_;
  LanePlace place_;
  std::chrono::milliseconds time_;
  const secrets::Keyring& old_keys_;
  const secrets::Keyring& new_keys_;
  LaneChecks checks_;
};

}  // namespace

std::uint32_t rotate_keys(const ClientSettings& client, const std::string& stream, const config::Kafka& kafka,
                          const secrets::Keyring& old_keys, const secrets::Keyring& new_keys) {
  if (!old_keys.is_private() || !new_keys.is_private() || old_keys.fingerprint() == new_keys.fingerprint()) {
    throw Failure(Exit::permission, "a key is rotated from one key file to another; name two different ones");
  }
  require_no_members(client, kafka.group, in(kafka.give_up));
  const auto lanes = TopicChecks(client).partitions(kafka.topics.state, in(kafka.give_up));
  if (!lanes) {
    throw Failure(Exit::configuration, "topic '" + kafka.topics.state + "' (kafka.state_topic) does not exist");
  }
  const auto of_lane = [&](std::uint32_t lane) {
    return LaneRotation(client, kafka, {stream, LaneId{lane}, kafka.group, kafka.topics}, old_keys, new_keys);
  };
  // All of them before the first is sealed: the others would be left under another key than it.
  for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(*lanes); ++lane) of_lane(lane).check();
  std::uint32_t sealed = 0;
  for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(*lanes); ++lane) {
    if (of_lane(lane).run()) ++sealed;
  }
  return sealed;
}

}  // namespace nustream::kafka
