// A reader that assigns itself one partition at a time, without a group, and knows its end beforehand. The end may be
// a control record or a gap, so that reaching it is told by the end-of-partition event as well as by records.
#include "kafka/partition_reader.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <set>
#include <utility>

#include "kafka/client.h"
#include "kafka/look_up.h"
#include "nustream/base/error.h"

namespace nustream::kafka {
namespace {

Role role_of(Isolation isolation) {
  return isolation == Isolation::read_committed ? Role::committed_reader : Role::uncommitted_reader;
}

std::string name_of(const TopicPartition& partition) {
  return "partition " + std::to_string(partition.partition.value()) + " of '" + partition.topic + "'";
}

}  // namespace

class PartitionReader::Implementation {
 public:
  // The group is named for committed() alone. A client that assigns partitions to itself never joins one.
  Implementation(const ClientSettings& settings, Isolation isolation, const std::string& group)
      : isolation_(isolation), client_(new_consumer(settings, role_of(isolation), {{"group.id", group}})) {}

  Watermarks watermarks(const TopicPartition& partition, Deadline deadline) {
    // Kafka has two special times, for the beginning and the end. rd_kafka_query_watermark_offsets asks the same
    // question, but may wait beyond its limit.
    const std::string attempt = "look up the ends of " + name_of(partition);
    const auto low = list_offset(partition, RD_KAFKA_OFFSET_BEGINNING, attempt, deadline);
    const auto high = list_offset(partition, RD_KAFKA_OFFSET_END, attempt, deadline);
    if (!low || !high) throw KafkaFailure(attempt, error_of(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE));
    return {*low, *high};
  }

  std::optional<Offset> offset_at(const TopicPartition& partition, std::int64_t milliseconds, Deadline deadline) {
    NUSTREAM_REQUIRE(milliseconds >= 0, "times before 1970 mean something else to a broker");
    return list_offset(partition, milliseconds, "look up a time in " + name_of(partition), deadline);
  }

  std::optional<Offset> committed(const TopicPartition& partition, Deadline deadline) {
    NUSTREAM_REQUIRE(isolation_ == Isolation::read_committed, "a committed offset waits for open transactions");
    // RD_KAFKA_OFFSET_INVALID is only a place for the answer.
    return ask_offset(partition, RD_KAFKA_OFFSET_INVALID, "look up the committed offset of " + name_of(partition),
                      deadline, [this](rd_kafka_topic_partition_list_t* list, int milliseconds) {
                        return rd_kafka_committed(client_.handle.get(), list, milliseconds);
                      });
  }

  void start(const TopicPartition& partition, Offset from, Offset end) {
    stop();
    partition_ = partition;
    position_ = from;
    end_ = end;
  }

  Progress read(const std::function<void(const Message&)>& take, std::chrono::milliseconds slice) {
    const Deadline until = in(slice);
    // A reading that was interrupted by a slice goes on with what the library has fetched.
    if (!is_over() && !fetching_) {
      if (auto error = fetch()) return Progress::failed(*std::move(error));
    }
    while (!is_over()) {
      if (EventHandle event = poll(client_, milliseconds_until(until))) {
        if (auto error = use(read_event(client_, std::move(event)), take)) {
          stop();
          return Progress::failed(*std::move(error));
        }
      }
      if (!is_over() && std::chrono::steady_clock::now() >= until) return Progress::again();
    }
    stop();
    return Progress::done();
  }

  /// Reads until the deadline. With a patience, the deadline is put off whenever the reading has moved on.
  void read_all(const TopicPartition& partition, Offset from, Offset end, Deadline deadline,
                const std::function<void(const Message&)>& take,
                std::optional<std::chrono::milliseconds> patience = {}) {
    const std::string attempt = "read " + name_of(partition);
    prepare(partition, deadline);
    start(partition, from, end);
    while (true) {
      give_up_if_cancelled(client_);
      const Offset before = position_;
      const Progress progress = read(take, std::chrono::milliseconds(std::min(milliseconds_until(deadline), 100)));
      if (progress.is_done()) return;
      if (const Error* error = progress.error()) throw KafkaFailure(attempt, *error);
      if (patience && position_ != before) deadline = in(*patience);
      if (milliseconds_until(deadline) == 0) {
        // What a connection complained about tells more than that the time is over. stop() forgets it.
        const Error error = complaint_.value_or(error_of(RD_KAFKA_RESP_ERR__TIMED_OUT));
        stop();
        throw KafkaFailure(attempt, error);
      }
    }
  }

  [[nodiscard]] Offset position() const noexcept { return position_; }

 private:
  using Ask = std::function<rd_kafka_resp_err_t(rd_kafka_topic_partition_list_t*, int milliseconds)>;

  [[nodiscard]] bool is_over() const noexcept { return position_ >= end_; }

  // Makes sure that the topic is there, and has the library look up its leaders. By itself the library looks them up
  // only once a second.
  void prepare(const TopicPartition& partition, Deadline deadline) {
    if (prepared_.contains(partition.topic)) return;
    const std::optional<TopicShape> shape = topic_shape(client_, partition.topic, deadline);
    if (!shape || partition.partition.value() >= shape->partitions) {
      throw KafkaFailure("find " + name_of(partition), error_of(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART));
    }
    prepared_.insert(partition.topic);
  }

  /// The offset of the first record at `time`, which may be one of librdkafka's two values for the ends of the log.
  std::optional<Offset> list_offset(const TopicPartition& partition, std::int64_t time, const std::string& attempt,
                                    Deadline deadline) {
    prepare(partition, deadline);
    return ask_offset(partition, time, attempt, deadline,
                      [this](rd_kafka_topic_partition_list_t* list, int milliseconds) {
                        return rd_kafka_offsets_for_times(client_.handle.get(), list, milliseconds);
                      });
  }

  // Asks for an offset. An answer below 0 is one of librdkafka's logical offsets, and says that there is none.
  std::optional<Offset> ask_offset(const TopicPartition& partition, std::int64_t question, const std::string& attempt,
                                   Deadline deadline, const Ask& ask) {
    std::int64_t answer = RD_KAFKA_OFFSET_INVALID;
    ask_until(client_, attempt, deadline, [&](int milliseconds) -> std::optional<Error> {
      const PartitionListHandle list = new_partition_list();
      add_partition(*list, partition.topic, partition.partition, question);
      rd_kafka_resp_err_t code = ask(list.get(), milliseconds);
      // The call as a whole may succeed, and fail for the partition.
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) code = list->elems[0].err;
      // The brokers have said before that the partition is there. So this code only says that its leader is not known
      // yet, which happens right after the brokers have started.
      if (code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION && prepared_.contains(partition.topic)) {
        code = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
      }
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code);
      answer = list->elems[0].offset;
      return std::nullopt;
    });
    if (answer < 0) return std::nullopt;
    return Offset{answer};
  }

  /// Has the library fetch from the present position on.
  std::optional<Error> fetch() {
    const PartitionListHandle list = new_partition_list();
    add_partition(*list, partition_.topic, partition_.partition, position_.value());
    const rd_kafka_resp_err_t code = rd_kafka_assign(client_.handle.get(), list.get());
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code);
    fetching_ = true;
    return std::nullopt;
  }

  /// Ends the fetching of the present partition. Its records that wait in the queue are dropped by the library.
  void stop() {
    if (std::exchange(fetching_, false)) rd_kafka_assign(client_.handle.get(), nullptr);
    complaint_.reset();
  }

  // Uses one event. Events of an earlier reading do not arrive here: the library drops them, since their partition
  // was assigned anew.
  std::optional<Error> use(ReaderEvent event, const std::function<void(const Message&)>& take) {
    if (auto* message = std::get_if<Message>(&event)) {
      const Offset offset{static_cast<std::int64_t>(message->record.offset)};
      // The library may give records before the first one that was asked for, or behind the end; those are only
      // counted as passed.
      if (offset >= position_ && offset < end_) take(*message);
      position_ = std::max(position_, Offset{offset.value() + 1});
    } else if (auto* end = std::get_if<EndOfPartition>(&event)) {
      position_ = std::max(position_, end->offset);
    } else if (auto* partition = std::get_if<PartitionError>(&event)) {
      // A leader that moves is found again by the library. Other errors of the partition do not pass by waiting.
      if (partition->error.remedy != Remedy::call_again) return std::move(partition->error);
    } else if (auto* client = std::get_if<ClientError>(&event)) {
      complaint_ = telling_more(complaint_, client->error);
      if (complaint_->cause == Cause::authentication || client->error.remedy == Remedy::new_client) return complaint_;
    }
    return std::nullopt;
  }

  Isolation isolation_;
  Client client_;
  std::set<std::string> prepared_;  // topics that were looked up
  TopicPartition partition_{{}, PartitionIndex{0}};
  Offset position_{0};
  Offset end_{0};
  bool fetching_ = false;
  std::optional<Error> complaint_;  // during this reading
};

PartitionReader::PartitionReader(const ClientSettings& settings, Isolation isolation, const std::string& group)
    : implementation_(std::make_unique<Implementation>(settings, isolation, group)) {}

PartitionReader::~PartitionReader() = default;

Watermarks PartitionReader::watermarks(const TopicPartition& partition, Deadline deadline) {
  return implementation_->watermarks(partition, deadline);
}

std::optional<Offset> PartitionReader::offset_at(const TopicPartition& partition, std::int64_t milliseconds,
                                                 Deadline deadline) {
  return implementation_->offset_at(partition, milliseconds, deadline);
}

std::optional<Offset> PartitionReader::committed(const TopicPartition& partition, Deadline deadline) {
  return implementation_->committed(partition, deadline);
}

void PartitionReader::start(const TopicPartition& partition, Offset from, Offset end) {
  implementation_->start(partition, from, end);
}

Progress PartitionReader::read(const std::function<void(const Message&)>& take, std::chrono::milliseconds slice) {
  return implementation_->read(take, slice);
}

Offset PartitionReader::position() const noexcept {
  return implementation_->position();
}

void PartitionReader::read_all(const TopicPartition& partition, Offset from, Offset end, Deadline deadline,
                               const std::function<void(const Message&)>& take) {
  implementation_->read_all(partition, from, end, deadline, take);
}

void PartitionReader::read_patiently(const TopicPartition& partition, Offset from, Offset end,
                                     std::chrono::milliseconds patience,
                                     const std::function<void(const Message&)>& take) {
  implementation_->read_all(partition, from, end, in(patience), take, patience);
}

}  // namespace nustream::kafka
