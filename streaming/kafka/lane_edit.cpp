// What a command does to a lane while no instance runs it: it fences the lane under the lane's own transactional id,
// so that an instance that comes up meanwhile is fenced or fences this one, and commits the changed state in one
// transaction.
#include "kafka/lane_edit.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "error.h"
#include "kafka/client.h"
#include "kafka/kafka_journal.h"
#include "kafka/look_up.h"
#include "kafka/partition_reader.h"
#include "kafka/topic_checks.h"
#include "kafka/transaction.h"
#include "nustream/base/error.h"

namespace nustream::kafka {
namespace {

/// Makes `call` until it is done. There is no loop of events to go back to.
void finish(const std::string& attempt, const std::function<Progress()>& call) {
  while (true) {
    const Progress progress = call();
    if (progress.is_done()) return;
    if (progress.error() != nullptr) throw KafkaFailure(attempt, *progress.error());
  }
}

}  // namespace

void require_no_members(const ClientSettings& client, const config::Kafka& kafka) {
  const std::size_t members =
      group_members(new_consumer(client, Role::committed_reader, {}), kafka.group, in(kafka.give_up));
  if (members == 0) return;
  throw Failure(Exit::locked, fmt::format("group {} has {} members: stop every instance first (one with an instance "
                                          "id is a member until its session ends)",
                                          kafka.group, members));
}

std::uint32_t lanes_with_states(const ClientSettings& client, const config::Kafka& kafka) {
  const auto lanes = TopicChecks(client).partitions(kafka.topics.state, in(kafka.give_up));
  if (!lanes) {
    throw Failure(Exit::configuration, "topic '" + kafka.topics.state +
                                           "' (kafka.state_topic) does not exist; check its name and kafka.brokers");
  }
  return static_cast<std::uint32_t>(*lanes);
}

std::optional<std::string> LaneEdit::load() const {
  PartitionReader uncommitted(client_, Isolation::read_uncommitted, place_.group);
  // This end lies behind records of open transactions too, so that read_state() waits until those have ended.
  const Offset end = uncommitted.watermarks(place_.in(place_.topics.state), in(time_)).high;
  return read_state(client_, place_, end, in(time_));
}

void LaneEdit::fence() {
  producer_ = transactional_producer(client_, place_.name(), topics_);
  finish("take over lane " + place_.name(), [&, deadline = in(time_)] { return producer_->init(deadline); });
}

std::optional<std::string> LaneEdit::take_over() {
  fence();
  return load();
}

void LaneEdit::commit(const std::string& attempt, const std::string& sealed, std::vector<OutgoingRecord> more) {
  NUSTREAM_REQUIRE(producer_ != nullptr, "a lane is taken over before its state is changed");
  const std::string key = place_.state_key();
  TransactionContent content;
  content.records.push_back({place_.topics.state, place_.partition(), key, std::string_view(sealed)});
  std::ranges::move(more, std::back_inserter(content.records));
  // Without an offset to commit, no member of the group is needed.
  Transaction transaction(*producer_, place_, content, nullptr, time_);
  finish(attempt, [&] { return transaction.advance(); });
}

}  // namespace nustream::kafka
