// How an attached process handles what the group tells it (records, partitions that come and go, errors), and when it
// reads those events.
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "attach/lane_log.h"
#include "attach/service.h"

namespace nustream::attach {
namespace {

using std::chrono::milliseconds;

// The most events of one round, after which other work on the loop gets its turn.
constexpr int events_per_round = 512;
// How long events are held for a full lane to commit; the other lanes, and the group's events, wait with it. After
// that the lane is paused, and the others go on.
constexpr milliseconds hold_max{500};

LaneId lane_of(kafka::PartitionIndex partition) {
  return LaneId{static_cast<std::uint32_t>(partition.value())};
}

}  // namespace

/// Waits until the consumer's descriptor tells that there may be events.
void Service::watch_consumer() {
  reading_.wake.async_wait(
      boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& cancelled) {
        if (cancelled) return;
        consumer_.acknowledge();  // before the events are read, or a wake-up in between would be lost
        read_events();
      });
}

/// Handles up to events_per_round events. True where more may be waiting.
bool Service::poll_round() {
  int left = events_per_round;
  while (left > 0) {
    std::optional<kafka::Event> event = consumer_.next();
    if (!event) break;
    --left;
    std::visit([this](auto&& one) { handle(std::forward<decltype(one)>(one)); }, std::move(*event));
  }
  deliver();
  return left == 0;
}

/// Reads a round of events, unless a full lane has to commit first.
void Service::read_events() {
  // The round has not begun. Records of a lane that is full stay in the queue, and those of the others with them.
  if (is_full()) return hold();
  if (poll_round()) {
    // The next round is posted, so that other work on the loop gets its turn in between.
    boost::asio::post(loop_, [this] { read_events(); });
  } else {
    watch_consumer();
  }
}

/// Polls the consumer without having been woken: the poll itself tells the group that this member is alive.
void Service::poll_unasked() {
  if (poll_round() && !reading_.held && !is_full()) boost::asio::post(loop_, [this] { poll_unasked(); });
}

bool Service::is_full() const {
  return !is_ending(stage_) &&
         std::any_of(lanes_.begin(), lanes_.end(), [](const auto& entry) { return entry.second->is_full(); });
}

/// Leaves the events in the client's queue until no lane is full. Pausing the lane's partition would empty that
/// queue, and fetching all of it again costs more than the moment that a commit takes.
void Service::hold() {
  reading_.held = true;
  timers_.holder.expires_after(hold_max);
  timers_.holder.async_wait([this](const boost::system::error_code& cancelled) {
    // A timer that was set anew in between has a later expiry, and this call is not its own.
    if (cancelled || !reading_.held || timers_.holder.expiry() > std::chrono::steady_clock::now()) return;
    // The other lanes have waited for hold_max. Now the full ones are paused, and the others go on.
    for (const auto& [lane, worker] : lanes_) worker->pause_if_full();
    reading_.held = false;
    read_events();
  });
}

/// Reads on once the lanes for which events were held have room.
void Service::look_for_room() {
  if (!reading_.held || is_full()) return;
  reading_.held = false;
  timers_.holder.cancel();
  boost::asio::post(loop_, [this] { read_events(); });
}

void Service::handle(kafka::Message&& message) {
  // Records are collected for a round, so that each lane decodes many at once.
  reading_.arrived[lane_of(message.partition)].push_back(std::move(message));
}

/// Gives each lane its records of this round.
void Service::deliver() {
  for (auto& [lane, messages] : reading_.arrived) {
    if (messages.empty()) continue;
    if (const auto found = lanes_.find(lane); found != lanes_.end()) found->second->take(messages);
    messages.clear();
  }
}

void Service::handle(const kafka::EndOfPartition& end) {
  deliver();  // records that came before the end of the partition
  const auto found = lanes_.find(lane_of(end.partition));
  if (found != lanes_.end()) found->second->end_of_partition(static_cast<std::uint64_t>(end.offset.value()));
}

void Service::handle(const kafka::Assigned& assigned) {
  // This comes before the lanes change: records that came first belong to the lanes as they were.
  deliver();
  tell_of_joining();
  brokers_.assigned();
  operators_.rebalanced();
  if (const auto error = consumer_.assign(assigned.partitions)) {
    return fail(kafka::KafkaFailure("take partitions of topic " + setup_.config.kafka.topics.input, *error));
  }
  for (const kafka::PartitionIndex partition : assigned.partitions) {
    const LaneId lane = lane_of(partition);
    // A partition may have been added since the start.
    partitions_ = std::max(partitions_, lane.value() + 1);
    roster_.assign(lane);
    // Where a worker of an earlier assignment is still leaving, lane_gone() opens the lane after it.
    if (!is_ending(stage_) && lanes_.count(lane) == 0) open_lane(lane);
  }
  tell_of_brokers();
  static_cast<void>(enter(ServiceEvent::assigned));
  if (!is_ending(stage_)) operators_.set_phase(serve::Phase::serving);
}

void Service::handle(const kafka::Revoked& revoked) {
  deliver();
  operators_.rebalanced();
  // The group waits for the answer, which is given when the last of these lanes is gone.
  revocation_ = Revocation{revoked.partitions, {}};
  for (const kafka::PartitionIndex partition : revoked.partitions) {
    if (roster_.revoke(lane_of(partition))) operators_.close_lane(lane_of(partition));
    if (lanes_.count(lane_of(partition)) > 0) revocation_->waiting_for.insert(lane_of(partition));
  }
  // Over a copy: a worker may leave at once, and lane_gone() changes the set.
  for (const LaneId lane : std::set(revocation_->waiting_for)) {
    const auto worker = lanes_.at(lane);
    // The group goes on without this member. What is committed now would be refused.
    if (revoked.lost) {
      say_lost(lane);
      worker->drop();
    } else {
      worker->drain("");
    }
  }
  if (revoked.lost) {
    revocation_->waiting_for.clear();  // the partitions are another member's already, and nobody waits for this one
    brokers_.lost(std::chrono::steady_clock::now());
    tell_of_brokers();
  }
  // At the end the deadline of the whole process counts, which is set already.
  if (!revocation_->waiting_for.empty() && !is_ending(stage_)) {
    timers_.deadline.expires_after(setup_.config.kafka.drain);
    timers_.deadline.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled || !revocation_) return;
      for (const LaneId lane : std::set(revocation_->waiting_for)) lanes_.at(lane)->drop();
      if (revocation_) revocation_->waiting_for.clear();
      finish_revocation();
    });
  }
  finish_revocation();
}

/// Answers the group once all lanes of the revocation are gone.
void Service::finish_revocation() {
  if (!revocation_ || !revocation_->waiting_for.empty()) return;
  const Revocation over = *std::exchange(revocation_, std::nullopt);
  if (!is_ending(stage_)) timers_.deadline.cancel();
  // Only now may another member have the partitions: no lane here writes to them any more.
  if (const auto error = consumer_.unassign(over.partitions)) {
    fail(kafka::KafkaFailure("give back partitions of topic " + setup_.config.kafka.topics.input, *error));
  }
}

void Service::handle(const kafka::PartitionError& error) {
  deliver();
  const auto found = lanes_.find(lane_of(error.partition));
  // The lane has left meanwhile.
  if (found == lanes_.end()) return;
  const std::string& topic = setup_.config.kafka.topics.input;
  if (error.error.cause == kafka::Cause::offset_out_of_range) {
    found->second->fail_to_read(Failure(
        Exit::data,
        fmt::format("topic '{}', partition {}: the log does not hold {}, the lane's position, any more ({}); go "
                    "on behind the gap with --new-epoch --accept-gap",
                    topic, error.partition.value(), found->second->where(), error.error.text)));
  } else if (error.error.cause == kafka::Cause::unknown_topic) {
    found->second->fail_to_read(Failure(Exit::data, fmt::format("topic '{}', partition {}: is gone ({}); restore it",
                                                                topic, error.partition.value(), error.error.text)));
  } else {
    found->second->fail_to_read(kafka::KafkaFailure(
        fmt::format("read topic '{}', partition {}", topic, error.partition.value()), error.error));
  }
}

void Service::handle(const kafka::ClientError& error) {
  const kafka::Cause cause = error.error.cause;
  if (cause == kafka::Cause::unavailable || cause == kafka::Cause::timed_out) {
    brokers_.unanswered(std::chrono::steady_clock::now());
  }
  const bool hopeless = error.error.remedy == kafka::Remedy::new_client ||
                        error.error.remedy == kafka::Remedy::none || cause == kafka::Cause::authentication ||
                        cause == kafka::Cause::authorization;
  const bool at_start = !brokers_.has_joined();
  // At the start a wrong password or a missing right is a mistake in the settings, and is told at once. Once the
  // process has joined, connections come and go, and only errors that cannot pass by themselves end it: another
  // member with the same instance name, or a right that was taken away.
  const bool for_good = cause == kafka::Cause::fenced_member || cause == kafka::Cause::authorization;
  if (for_good || (hopeless && at_start)) {
    fail(kafka::KafkaFailure("join group " + setup_.config.kafka.group, error.error));
  }
}

void Service::handle(const kafka::Membership& membership) {
  brokers_.answered();
  for (auto& [lane, worker] : lanes_) {
    // One answer is for the member as a whole, and each lane that asked takes it for itself.
    if (membership.confirmed) worker->membership_confirmed();
  }
}

}  // namespace nustream::attach
