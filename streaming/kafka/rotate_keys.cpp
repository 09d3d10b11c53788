// Rotates a stream lane by lane: take over, check as an instance would, seal the same state under the new key, and
// hand the ledger over, all in one transaction a lane. A lane that is sealed under the new key already is left alone,
// so that the command can be given again after a crash.
#include "kafka/rotate_keys.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "journal/ledger_chain.h"
#include "journal/rotate_key.h"
#include "journal/state_record.h"
#include "kafka/lane_checks.h"
#include "kafka/lane_edit.h"
#include "kafka/seen_records.h"

namespace nustream::kafka {
namespace {

// These calls end by their deadlines; nobody cancels them.
constexpr std::atomic<bool> never{false};

class LaneRotation {
 public:
  LaneRotation(const ClientSettings& client, const config::Kafka& kafka, LanePlace place,
               const secrets::Keyring& old_keys, const secrets::Keyring& new_keys)
      : client_(client),
        time_(kafka.transaction),
        old_keys_(old_keys),
        new_keys_(new_keys),
        edit_(client, kafka, std::move(place), {kafka.topics.state, kafka.topics.ledger}),
        checks_(client, edit_.place(), old_keys, time_, never) {}

  /// Throws Failure(data) where the lane's input is no longer the one that was read.
  void check() {
    const std::optional<std::string> sealed = edit_.load();
    if (sealed && !is_rotated(*sealed)) require_same_input(journal::open_state(old_keys_, *sealed));
  }

  /// Seals the lane's state anew. Returns whether there was a state under the old key.
  bool run() {
    const std::optional<std::string> sealed = edit_.take_over();
    if (sealed && is_rotated(*sealed)) return false;  // a rotation that a crash ended had come as far as this lane
    const LaneChecks::Remains remains = checks_.remains();
    if (!sealed) {
      if (!remains.any()) return false;
      throw Failure(Exit::data, fmt::format("lane {}: there are releases, a ledger or a committed offset but no "
                                            "state; begin a new epoch with --new-epoch first",
                                            place().name()));
    }
    journal::State state = journal::open_state(old_keys_, *sealed);
    checks_.check_outputs(state);
    require_same_input(state);
    commit(std::move(state), remains.ledger.head);
    return true;
  }

 private:
  [[nodiscard]] const LanePlace& place() const { return edit_.place(); }

  /// Whether the state opens under the new key. A state under any other key is refused with Exit::permission, also
  /// one under a third key, which the old key then refuses as well.
  bool is_rotated(const std::string& sealed) const try {
    static_cast<void>(journal::open_state(new_keys_, sealed));
    return true;
  } catch (const Failure& failure) {
    if (failure.code() != Exit::permission) throw;
    return false;
  }

  /// Refuses an input that is another log. The marks are made again from the input's records. In another log no
  /// record would fit its mark, all marks would be dropped, and nothing would show any more that the log is another
  /// one.
  void require_same_input(const journal::State& state) {
    const std::string changed = checks_.check_input(state.record, state.identity.steps.value() > 0).changed;
    if (changed.empty()) return;
    throw Failure(Exit::data, fmt::format("lane {}: {}; nothing was sealed anew: begin a new epoch with --new-epoch "
                                          "--accept-gap first, or restore the topic",
                                          place().name(), changed));
  }

  /// Commits the state under the new key. Releases that it still owes stay in its outbox: the instance that opens the
  /// lane next publishes them.
  void commit(journal::State state, const journal::Hash& ledger_head) {
    journal::StateRecord& record = state.record;
    record.seen = marked_anew(record);
    const std::string lines = journal::hand_over_lines(place().stream, record, ledger_head,
                                                       checks_.reserving().has_value(), old_keys_, new_keys_);
    std::vector<OutgoingRecord> records;
    // The rotation's lines form a chain: each is hashed in turn, and the state has the head of the last one.
    for (std::size_t begin = 0, end = 0; begin < lines.size(); begin = end + 1) {
      end = lines.find('\n', begin);
      const std::string_view line = std::string_view(lines).substr(begin, end - begin);
      record.ledger_head = journal::hash_of(std::string(line) + '\n');
      records.push_back({place().topics.ledger, place().partition(), std::nullopt, line});
    }
    const std::string sealed = journal::seal_state(new_keys_, state.identity, record);
    edit_.commit("seal lane " + place().name() + " anew", sealed, std::move(records));
  }

  /// Makes the marks again under the new key, for records that are still in the input and have not changed.
  std::vector<journal::SeenRecord> marked_anew(const journal::StateRecord& record) {
    std::vector<journal::SeenRecord> seen;
    const TopicPartition input = place().in(place().topics.input);
    PartitionReader reader(client_, Isolation::read_committed, place().group);
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
  std::chrono::milliseconds time_;
  const secrets::Keyring& old_keys_;
  const secrets::Keyring& new_keys_;
  LaneEdit edit_;
  LaneChecks checks_;
};

}  // namespace

std::uint32_t rotate_keys(const ClientSettings& client, const std::string& stream, const config::Kafka& kafka,
                          const secrets::Keyring& old_keys, const secrets::Keyring& new_keys) {
  if (!old_keys.is_private() || !new_keys.is_private() || old_keys.fingerprint() == new_keys.fingerprint()) {
    throw Failure(Exit::permission, "a key is rotated from one key file to another; name two different ones");
  }
  require_no_members(client, kafka);
  const std::uint32_t lanes = lanes_with_states(client, kafka);
  const auto of_lane = [&](std::uint32_t lane) {
    return LaneRotation(client, kafka, {stream, LaneId{lane}, kafka.group, kafka.topics}, old_keys, new_keys);
  };
  // All lanes are checked before the first is sealed. If a later one were refused, the lanes would be left under two
  // keys.
  for (std::uint32_t lane = 0; lane < lanes; ++lane) of_lane(lane).check();
  std::uint32_t sealed = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (of_lane(lane).run()) ++sealed;
  }
  return sealed;
}

}  // namespace nustream::kafka
