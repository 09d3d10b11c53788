#include "kafka/group_consumer.h"

#include <librdkafka/rdkafka.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "error.h"
#include "kafka/client.h"

namespace nustream::kafka {
namespace {

// How long a call waits for the client library's own thread, which answers in microseconds unless the machine stands.
constexpr int library_milliseconds_max = 1000;

int new_descriptor() {
  const int descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor < 0) throw system_failure(Exit::io, "make", "an eventfd", errno, "raise the limit of open files");
  return descriptor;
}

std::optional<Error> of_result(rd_kafka_error_t* result) {
  const ErrorHandle error(result);
  if (!error) return std::nullopt;
  return error_of(*error);
}

// An assignment that is still under way refuses for a moment only.
Error of_partition(rd_kafka_resp_err_t code) {
  Error error = error_of(code);
  if (error.cause == Cause::state || error.cause == Cause::timed_out) error.remedy = Remedy::call_again;
  return error;
}

std::vector<PartitionIndex> indices(const rd_kafka_topic_partition_list_t& list) {
  std::vector<PartitionIndex> result;
  result.reserve(static_cast<std::size_t>(list.cnt));
  for (int i = 0; i < list.cnt; ++i) result.emplace_back(list.elems[i].partition);
  return result;
}

}  // namespace

class GroupConsumer::Implementation {
 public:
  Implementation(const ClientSettings& settings, const GroupMember& member)
      : topic_(member.topic),
        group_(member.group),
        client_(new_consumer(settings, Role::group_consumer, own(member))) {
    // Eight bytes: what an eventfd takes as one count.
    constexpr std::uint64_t one = 1;
    rd_kafka_queue_io_event_enable(client_.queue.get(), descriptor_.value, &one, sizeof one);
    const PartitionListHandle topics = new_partition_list();
    rd_kafka_topic_partition_list_add(topics.get(), topic_.c_str(), RD_KAFKA_PARTITION_UA);
    const rd_kafka_resp_err_t code = rd_kafka_subscribe(client_.handle.get(), topics.get());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw KafkaFailure("subscribe to '" + topic_ + "'", error_of(code));
  }

  // A client that waits for an answer would wait for ever in its destructor, unless it is closed. Closing leaves the
  // group, and waits for the broker's word on it for 5 s at most.
  ~Implementation() {
    if (is_closed()) return;
    if (answer_owed_ == Answer::assign) static_cast<void>(assign({}));
    if (answer_owed_ == Answer::unassign) static_cast<void>(unassign({}));
    rd_kafka_consumer_close(client_.handle.get());
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.value; }

  std::optional<Event> next() {
    while (EventHandle event = poll(client_, 0)) {
      if (std::optional<Event> known = translate(std::move(event))) return known;
    }
    return std::nullopt;
  }

  // The group counts a partition as ours from here on; the library's own reading begins with start(), at an offset.
  // In between it could only begin somewhere else: an offset that it looks up (the end, say) can come late, after
  // start()'s own, and records would be skipped.
  std::optional<Error> assign(std::span<const PartitionIndex> partitions) {
    answer_owed_ = Answer::none;
    for (const PartitionIndex partition : partitions) state_of(partition) = {.assigned = true};
    return unless_closing(rd_kafka_incremental_assign(client_.handle.get(), new_partition_list().get()));
  }

  std::optional<Error> unassign(std::span<const PartitionIndex> partitions) {
    answer_owed_ = Answer::none;
    const PartitionListHandle reading = new_partition_list();
    for (const PartitionIndex partition : partitions) {
      PartitionState& state = state_of(partition);
      // The library remembers a pause beyond the assignment.
      if (state.paused) static_cast<void>(resume(partition));
      if (state.reading) add_partition(*reading, topic_, partition, RD_KAFKA_OFFSET_INVALID);
      state = {};
    }
    return unless_closing(rd_kafka_incremental_unassign(client_.handle.get(), reading.get()));
  }

  std::optional<Error> start(PartitionIndex partition, Offset offset) {
    PartitionState& state = state_of(partition);
    if (!state.assigned) return error_of(RD_KAFKA_RESP_ERR__STATE, "the partition is not assigned to this member");
    if (state.given_up)
      return error_of(RD_KAFKA_RESP_ERR__STATE, "the partition was given up at an offset out of range");
    // What adds to an assignment says that it is in order again.
    if (assignment_lost()) return error_of(RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST);
    const PartitionListHandle list = list_of(partition, offset.value());
    if (state.reading) {
      if (auto error = seek(*list)) return error;
    } else if (auto error = unless_closing(rd_kafka_incremental_assign(client_.handle.get(), list.get()))) {
      return error;
    }
    state.reading = true;
    return state.paused ? resume(partition) : std::nullopt;
  }

  std::optional<Error> pause(PartitionIndex partition) {
    auto error = switch_reading(rd_kafka_pause_partitions, partition);
    if (!error) state_of(partition).paused = true;
    return error;
  }
  std::optional<Error> resume(PartitionIndex partition) {
    auto error = switch_reading(rd_kafka_resume_partitions, partition);
    if (!error) state_of(partition).paused = false;
    return error;
  }

  [[nodiscard]] std::optional<Offset> known_end(PartitionIndex partition) const {
    std::int64_t low = 0;
    std::int64_t high = 0;
    const auto code =
        rd_kafka_get_watermark_offsets(client_.handle.get(), topic_.c_str(), partition.value(), &low, &high);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0) return std::nullopt;
    return Offset{high};
  }
  [[nodiscard]] GroupMetadata group_metadata() const {
    return GroupMetadata(rd_kafka_consumer_group_metadata(client_.handle.get()));
  }
  [[nodiscard]] bool assignment_lost() const noexcept { return rd_kafka_assignment_lost(client_.handle.get()) != 0; }

  void ask_membership(Deadline deadline) {
    rd_kafka_AdminOptions_t* options =
        rd_kafka_AdminOptions_new(client_.handle.get(), RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS);
    std::array<char, 256> text{};
    rd_kafka_AdminOptions_set_request_timeout(options, std::max(1, milliseconds_until(deadline)), text.data(),
                                              text.size());
    const char* groups[] = {group_.c_str()};
    rd_kafka_DescribeConsumerGroups(client_.handle.get(), groups, 1, options, client_.queue.get());
    rd_kafka_AdminOptions_destroy(options);
  }

  void begin_close() {
    if (closing_) return;
    closing_ = true;
    // The one error that it knows is a queue of another client.
    static_cast<void>(of_result(rd_kafka_consumer_close_queue(client_.handle.get(), client_.queue.get())));
  }
  [[nodiscard]] bool is_closed() const noexcept {
    return closing_ && rd_kafka_consumer_closed(client_.handle.get()) != 0;
  }

 private:
  struct Descriptor {
    Descriptor() : value(new_descriptor()) {}
    ~Descriptor() { ::close(value); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int value;
  };

  static Properties own(const GroupMember& member) {
    Properties properties{{"group.id", member.group}};
    if (!member.instance.empty()) properties.emplace("group.instance.id", member.instance);
    return properties;
  }

  std::optional<Event> translate(EventHandle event) {
    switch (rd_kafka_event_type(event.get())) {
      case RD_KAFKA_EVENT_REBALANCE:
        return rebalance(event.get());
      case RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT:
        return membership(event.get());
      default:
        return pass(read_event(client_, std::move(event)));
    }
  }

  // Of partitions that are not read, nothing is passed on: it would be of a time before start().
  std::optional<Event> pass(ReaderEvent read) {
    if (auto* message = std::get_if<Message>(&read)) {
      if (is_read(message->partition)) return std::move(*message);
    } else if (auto* end = std::get_if<EndOfPartition>(&read)) {
      if (is_read(end->partition)) return *end;
    } else if (auto* partition = std::get_if<PartitionError>(&read)) {
      if (partition->error.cause == Cause::offset_out_of_range) state_of(partition->partition).given_up = true;
      return std::move(*partition);
    } else if (auto* client = std::get_if<ClientError>(&read)) {
      return std::move(*client);
    }
    return std::nullopt;
  }

  std::optional<Event> rebalance(rd_kafka_event_t* event) {
    const rd_kafka_topic_partition_list_t* list = rd_kafka_event_topic_partition_list(event);
    std::vector<PartitionIndex> partitions = list != nullptr ? indices(*list) : std::vector<PartitionIndex>{};
    if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      answer_owed_ = Answer::assign;
      return Assigned{std::move(partitions)};
    }
    answer_owed_ = Answer::unassign;
    return Revoked{std::move(partitions), assignment_lost()};
  }

  std::optional<Event> membership(rd_kafka_event_t* event) const {
    if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return ClientError{error_of(code, rd_kafka_event_error_string(event))};
    }
    std::size_t count = 0;
    const rd_kafka_ConsumerGroupDescription_t** groups =
        rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(event), &count);
    if (count != 1) return Membership{false};
    if (const rd_kafka_error_t* error = rd_kafka_ConsumerGroupDescription_error(groups[0])) {
      return ClientError{error_of(rd_kafka_error_code(error), rd_kafka_error_string(error))};
    }
    return Membership{counts_us(*groups[0]) && !assignment_lost()};
  }

  [[nodiscard]] bool counts_us(const rd_kafka_ConsumerGroupDescription_t& group) const {
    if (rd_kafka_ConsumerGroupDescription_state(&group) != RD_KAFKA_CONSUMER_GROUP_STATE_STABLE) return false;
    const auto destroy = [this](char* id) { rd_kafka_mem_free(client_.handle.get(), id); };
    const std::unique_ptr<char, decltype(destroy)> us(rd_kafka_memberid(client_.handle.get()), destroy);
    if (!us) return false;
    for (std::size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(&group); ++i) {
      const rd_kafka_MemberDescription_t* member = rd_kafka_ConsumerGroupDescription_member(&group, i);
      if (std::string_view(us.get()) == rd_kafka_MemberDescription_consumer_id(member)) return true;
    }
    return false;
  }

  std::optional<Error> switch_reading(rd_kafka_resp_err_t (*call)(rd_kafka_t*, rd_kafka_topic_partition_list_t*),
                                      PartitionIndex partition) {
    const PartitionListHandle list = list_of(partition, RD_KAFKA_OFFSET_INVALID);
    rd_kafka_resp_err_t code = call(client_.handle.get(), list.get());
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[0].err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    return of_partition(code);
  }

  std::optional<Error> seek(rd_kafka_topic_partition_list_t& list) {
    if (auto error = of_result(rd_kafka_seek_partitions(client_.handle.get(), &list, library_milliseconds_max))) {
      error->remedy = Remedy::call_again;
      return error;
    }
    if (list.elems[0].err == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    return of_partition(list.elems[0].err);
  }

  // A client that is closing takes back everything by itself, and calls each answer a mistake.
  std::optional<Error> unless_closing(rd_kafka_error_t* result) const {
    auto error = of_result(result);
    return closing_ ? std::nullopt : error;
  }

  [[nodiscard]] PartitionListHandle list_of(PartitionIndex partition, std::int64_t offset) const {
    PartitionListHandle list = new_partition_list();
    add_partition(*list, topic_, partition, offset);
    return list;
  }

  struct PartitionState {
    bool assigned = false;
    bool reading = false;
    bool paused = false;
    bool given_up = false;
  };
  PartitionState& state_of(PartitionIndex partition) {
    const auto index = static_cast<std::size_t>(partition.value());
    if (index >= states_.size()) states_.resize(index + 1);
    return states_[index];
  }
  [[nodiscard]] bool is_read(PartitionIndex partition) const {
    const auto index = static_cast<std::size_t>(partition.value());
    return index < states_.size() && states_[index].reading;
  }

  enum class Answer { none, assign, unassign };

  std::string topic_;
  std::string group_;
  Descriptor descriptor_;  // before the client, which writes to it until it is gone
  Client client_;
  std::vector<PartitionState> states_;  // by partition
  Answer answer_owed_ = Answer::none;
  bool closing_ = false;
};

GroupConsumer::GroupConsumer(const ClientSettings& settings, const GroupMember& member)
    : implementation_(std::make_unique<Implementation>(settings, member)) {}

GroupConsumer::~GroupConsumer() = default;

int GroupConsumer::descriptor() const noexcept {
  return implementation_->descriptor();
}

void GroupConsumer::acknowledge() noexcept {
  std::uint64_t count = 0;
  // Nothing there is as good: the descriptor is only a hint.
  [[maybe_unused]] const ssize_t got = ::read(descriptor(), &count, sizeof count);
}

std::optional<Event> GroupConsumer::next() {
  return implementation_->next();
}

std::optional<Error> GroupConsumer::assign(std::span<const PartitionIndex> partitions) {
  return implementation_->assign(partitions);
}

std::optional<Error> GroupConsumer::unassign(std::span<const PartitionIndex> partitions) {
  return implementation_->unassign(partitions);
}

std::optional<Error> GroupConsumer::start(PartitionIndex partition, Offset offset) {
  return implementation_->start(partition, offset);
}

std::optional<Error> GroupConsumer::pause(PartitionIndex partition) {
  return implementation_->pause(partition);
}

std::optional<Error> GroupConsumer::resume(PartitionIndex partition) {
  return implementation_->resume(partition);
}

std::optional<Offset> GroupConsumer::known_end(PartitionIndex partition) const {
  return implementation_->known_end(partition);
}

GroupMetadata GroupConsumer::group_metadata() const {
  return implementation_->group_metadata();
}

bool GroupConsumer::assignment_lost() const noexcept {
  return implementation_->assignment_lost();
}

void GroupConsumer::ask_membership(Deadline deadline) {
  implementation_->ask_membership(deadline);
}

void GroupConsumer::begin_close() {
  implementation_->begin_close();
}

bool GroupConsumer::is_closed() const noexcept {
  return implementation_->is_closed();
}

}  // namespace nustream::kafka
