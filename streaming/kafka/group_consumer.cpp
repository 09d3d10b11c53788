// A member of a group over librdkafka's event interface, for an event loop. Partitions are assigned in two steps:
// assign() accepts them for the group, and start() has the library fetch from an offset that the lane's state gives.
// Where librdkafka has a fault that the code works around, the comment names its version.
#include "kafka/group_consumer.h"

#include <librdkafka/rdkafka.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "error.h"
#include "kafka/client.h"
#include "kafka/consumer_events.h"

namespace nustream::kafka {
namespace {

// How long a call waits for the client library's own thread. It answers in microseconds, unless the machine is
// stalled.
constexpr int library_milliseconds_max = 1000;

/// What is this member's alone, over the properties of its role. With an instance name the group keeps its partitions
/// for it until the session ends.
Properties own_properties(const GroupMember& member) {
  Properties properties{{"group.id", member.group}};
  if (!member.instance.empty()) properties.emplace("group.instance.id", member.instance);
  return properties;
}

std::optional<Error> of_result(rd_kafka_error_t* result) {
  const ErrorHandle error(result);
  if (!error) return std::nullopt;
  return error_of(*error);
}

// The error of a call about one partition. An assignment that is still under way refuses such a call, but only for a
// moment, so that the same call may be made again.
std::optional<Error> of_partition(rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  Error error = error_of(code);
  if (error.cause == Cause::state || error.cause == Cause::timed_out) error.remedy = Remedy::call_again;
  return error;
}

std::vector<PartitionIndex> indices(const rd_kafka_topic_partition_list_t* list) {
  std::vector<PartitionIndex> result;
  if (list == nullptr) return result;
  result.reserve(static_cast<std::size_t>(list->cnt));
  for (int i = 0; i < list->cnt; ++i) result.emplace_back(list->elems[i].partition);
  return result;
}

std::optional<Error> switch_reading(rd_kafka_resp_err_t (*call)(rd_kafka_t*, rd_kafka_topic_partition_list_t*),
                                    const Client& client, rd_kafka_topic_partition_list_t& list) {
  const rd_kafka_resp_err_t code = call(client.handle.get(), &list);
  return of_partition(code != RD_KAFKA_RESP_ERR_NO_ERROR ? code : list.elems[0].err);
}

}  // namespace

GroupConsumer::Descriptor::Descriptor() : value(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (value < 0) throw system_failure(Exit::io, "make", "an eventfd", errno, "raise the limit of open files");
}

GroupConsumer::Descriptor::~Descriptor() {
  ::close(value);
}

GroupConsumer::GroupConsumer(const ClientSettings& settings, const GroupMember& member)
    : topic_(member.topic),
      group_(member.group),
      client_(std::make_unique<Client>(new_consumer(settings, Role::group_consumer, own_properties(member)))) {
  constexpr std::uint64_t one = 1;  // librdkafka writes it to the eventfd, which adds it to its count
  rd_kafka_queue_io_event_enable(client_->queue.get(), descriptor_.value, &one, sizeof one);
  subscribe();
}

// A client may be left undestroyed here. Up to librdkafka 2.2, destroying a cooperative member between its joining
// and its first assignment ends the process by an assertion, and nothing tells when that is the case (librdkafka 2.3
// has mended it). And with a client of any version that could not be closed in time, the destructor would go on
// waiting. In both cases the client has left the group or will be counted out; all that it keeps until the process
// ends is memory and idle threads.
GroupConsumer::~GroupConsumer() {
  constexpr int mended_in = 0x020300ff;
  close_now();
  if (rd_kafka_version() >= mended_in && is_closed()) return;
  rd_kafka_queue_io_event_enable(client_->queue.get(), -1, nullptr, 0);  // the descriptor is closed after this
  static_cast<void>(client_->handle.release());
}

void GroupConsumer::subscribe() {
  const PartitionListHandle topics = new_partition_list();
  rd_kafka_topic_partition_list_add(topics.get(), topic_.c_str(), RD_KAFKA_PARTITION_UA);
  const rd_kafka_resp_err_t code = rd_kafka_subscribe(client_->handle.get(), topics.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw KafkaFailure("subscribe to '" + topic_ + "'", error_of(code));
}

int GroupConsumer::descriptor() const noexcept {
  return descriptor_.value;
}

void GroupConsumer::acknowledge() noexcept {
  std::uint64_t count = 0;
  // A read that finds nothing is no failure: the descriptor is only a hint that there may be events.
  [[maybe_unused]] const ssize_t got = ::read(descriptor_.value, &count, sizeof count);
}

std::optional<Event> GroupConsumer::next() {
  while (EventHandle event = poll(*client_, 0)) {
    if (std::optional<Event> known = translate(std::move(event))) return known;
  }
  return std::nullopt;
}

std::optional<Event> GroupConsumer::translate(EventHandle event) {
  switch (rd_kafka_event_type(event.get())) {
    case RD_KAFKA_EVENT_REBALANCE:
      return rebalance(*event);
    case RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT: {
      const auto answer = read_group(*client_, *event);
      if (const auto* error = std::get_if<ClientError>(&answer)) return *error;
      // A lost assignment may still be in the coordinator's list. It is no membership.
      return Membership{std::get<Membership>(answer).confirmed && !assignment_lost()};
    }
    default:
      return pass(read_event(*client_, std::move(event)));
  }
}

// Passes on what concerns a partition that is being read. Records and ends of other partitions were fetched before
// start(), and are dropped.
std::optional<Event> GroupConsumer::pass(ReaderEvent read) {
  if (auto* message = std::get_if<Message>(&read)) {
    if (state_of(message->partition).reading) return std::move(*message);
  } else if (auto* end = std::get_if<EndOfPartition>(&read)) {
    if (state_of(end->partition).reading) return *end;
  } else if (auto* partition = std::get_if<PartitionError>(&read)) {
    if (partition->error.cause == Cause::offset_out_of_range) state_of(partition->partition).given_up = true;
    return std::move(*partition);
  } else if (auto* client = std::get_if<ClientError>(&read)) {
    return std::move(*client);
  }
  return std::nullopt;
}

Event GroupConsumer::rebalance(rd_kafka_op_s& event) {
  std::vector<PartitionIndex> partitions = indices(rd_kafka_event_topic_partition_list(&event));
  if (rd_kafka_event_error(&event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    answer_owed_ = Answer::assign;
    return Assigned{std::move(partitions)};
  }
  answer_owed_ = Answer::unassign;
  return Revoked{std::move(partitions), assignment_lost()};
}

// From here on the group counts the partitions as this member's. But the library is given an empty list, so that it
// reads nothing before start() names an offset. If it were given the partitions now, it would look an offset up by
// itself (the end, for example). That answer could come late, after start(), and records would be skipped.
std::optional<Error> GroupConsumer::assign(std::span<const PartitionIndex> partitions) {
  answer_owed_ = Answer::none;
  // Whatever was known of the partitions is of an earlier assignment.
  for (const PartitionIndex partition : partitions) state_of(partition) = {.assigned = true};
  return unless_closing(rd_kafka_incremental_assign(client_->handle.get(), new_partition_list().get()));
}

std::optional<Error> GroupConsumer::unassign(std::span<const PartitionIndex> partitions) {
  answer_owed_ = Answer::none;
  const PartitionListHandle reading = new_partition_list();
  for (const PartitionIndex partition : partitions) {
    PartitionState& state = state_of(partition);
    // The library would remember the pause, also where the partition is assigned again later.
    if (state.paused) static_cast<void>(resume(partition));
    if (state.reading) add_partition(*reading, topic_, partition, RD_KAFKA_OFFSET_INVALID);
    state = {};
  }
  return unless_closing(rd_kafka_incremental_unassign(client_->handle.get(), reading.get()));
}

std::optional<Error> GroupConsumer::start(PartitionIndex partition, Offset offset) {
  PartitionState& state = state_of(partition);
  if (!state.assigned) return error_of(RD_KAFKA_RESP_ERR__STATE, "the partition is not assigned to this member");
  if (state.given_up)
    return error_of(RD_KAFKA_RESP_ERR__STATE, "the partition was given up, its offset out of range");
  // Adding to an assignment would mark a lost one as in order again. So this function asks first whether it is lost.
  if (assignment_lost()) return error_of(RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST);
  if (state.reading) {
    if (auto error = seek(partition, offset)) return error;
  } else {
    const PartitionListHandle list = list_of(partition, offset.value());
    if (auto error = unless_closing(rd_kafka_incremental_assign(client_->handle.get(), list.get()))) return error;
    // From here on pass() lets records and ends of the partition through.
    state.reading = true;
  }
  return state.paused ? resume(partition) : std::nullopt;
}

std::optional<Error> GroupConsumer::seek(PartitionIndex partition, Offset offset) {
  const PartitionListHandle list = list_of(partition, offset.value());
  if (auto error = of_result(rd_kafka_seek_partitions(client_->handle.get(), list.get(), library_milliseconds_max))) {
    error->remedy = Remedy::call_again;
    return error;
  }
  return of_partition(list->elems[0].err);
}

std::optional<Error> GroupConsumer::pause(PartitionIndex partition) {
  auto error = switch_reading(rd_kafka_pause_partitions, *client_, *list_of(partition, RD_KAFKA_OFFSET_INVALID));
  if (!error) state_of(partition).paused = true;
  return error;
}

std::optional<Error> GroupConsumer::resume(PartitionIndex partition) {
  auto error = switch_reading(rd_kafka_resume_partitions, *client_, *list_of(partition, RD_KAFKA_OFFSET_INVALID));
  if (!error) state_of(partition).paused = false;
  return error;
}

std::optional<Offset> GroupConsumer::known_end(PartitionIndex partition) const {
  std::int64_t low = 0;
  std::int64_t high = 0;
  const auto code =
      rd_kafka_get_watermark_offsets(client_->handle.get(), topic_.c_str(), partition.value(), &low, &high);
  // Before the first answer of a broker the library knows no end, and gives a negative one.
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0) return std::nullopt;
  return Offset{high};
}

GroupMetadata GroupConsumer::group_metadata() const {
  return GroupMetadata(rd_kafka_consumer_group_metadata(client_->handle.get()));
}

bool GroupConsumer::assignment_lost() const noexcept {
  return rd_kafka_assignment_lost(client_->handle.get()) != 0;
}

void GroupConsumer::ask_membership(Deadline deadline) {
  ask_for_group(*client_, group_, deadline);
}

void GroupConsumer::begin_close(std::chrono::milliseconds patience) {
  if (closing_until_) return;
  closing_until_ = in(patience);
  // After this call the library revokes what is assigned, through the same queue.
  // A client with a fatal error (a fenced member) is out of its group already, and refuses this call.
  static_cast<void>(of_result(rd_kafka_consumer_close_queue(client_->handle.get(), client_->queue.get())));
}

bool GroupConsumer::is_closed() const noexcept {
  return closing_until_ && (rd_kafka_consumer_closed(client_->handle.get()) != 0 ||
                            rd_kafka_fatal_error(client_->handle.get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR);
}

// Leaves the group, and answers whatever the group still asks. The library's client must not be destroyed while it
// waits for an answer: it would wait for ever.
void GroupConsumer::close_now() {
  if (answer_owed_ == Answer::assign) static_cast<void>(assign({}));
  if (answer_owed_ == Answer::unassign) static_cast<void>(unassign({}));
  begin_close();
  while (!is_closed() && std::chrono::steady_clock::now() < *closing_until_) {
    EventHandle event = poll(*client_, 10);
    if (!event || rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_REBALANCE) continue;
    const Event given = rebalance(*event);
    if (const auto* assigned = std::get_if<Assigned>(&given)) static_cast<void>(assign(assigned->partitions));
    if (const auto* revoked = std::get_if<Revoked>(&given)) static_cast<void>(unassign(revoked->partitions));
  }
}

// The error of an answer to the group; nothing while the client closes. A closing client gives its partitions back by
// itself, and calls each answer a mistake.
std::optional<Error> GroupConsumer::unless_closing(rd_kafka_error_s* result) const {
  auto error = of_result(result);
  return closing_until_ ? std::nullopt : error;
}

PartitionListHandle GroupConsumer::list_of(PartitionIndex partition, std::int64_t offset) const {
  PartitionListHandle list = new_partition_list();
  add_partition(*list, topic_, partition, offset);
  return list;
}

GroupConsumer::PartitionState& GroupConsumer::state_of(PartitionIndex partition) {
  const auto index = static_cast<std::size_t>(partition.value());
  if (index >= states_.size()) states_.resize(index + 1);
  return states_[index];
}

}  // namespace nustream::kafka
