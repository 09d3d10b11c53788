#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "kafka/background_call.h"
#include "kafka/client.h"
#include "kafka/producer.h"
#include "nustream/base/error.h"

namespace nustream::kafka {
namespace {

using std::chrono::milliseconds;

constexpr int arrival_milliseconds_max = 2000;

// What the library reports while its queue of reports is served, by the caller's thread or the background's.
class Reports {
 public:
  void refused(Error error) {
    const std::lock_guard lock(mutex_);
    if (!refusal_) refusal_ = std::move(error);
  }
  void complain(Error error) {
    const std::lock_guard lock(mutex_);
    complaint_ = telling_more(std::exchange(complaint_, {}), std::move(error));
  }
  void delivered(const char* topic, std::int64_t offset) {
    const std::lock_guard lock(mutex_);
    const auto found = offsets_.find(std::string_view(topic));
    if (found == offsets_.end()) {
      offsets_.emplace(topic, offset);
    } else {
      found->second = offset;
    }
  }
  [[nodiscard]] std::optional<Offset> last_offset(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    const auto found = offsets_.find(topic);
    return found == offsets_.end() ? std::nullopt : std::optional(Offset{found->second});
  }
  void begin_transaction() {
    const std::lock_guard lock(mutex_);
    refusal_.reset();
  }
  void all_is_well() {
    const std::lock_guard lock(mutex_);
    complaint_.reset();
  }
  /// The first record of the transaction that a broker refused.
  [[nodiscard]] std::optional<Error> refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }
  [[nodiscard]] std::optional<Error> complaint() const {
    const std::lock_guard lock(mutex_);
    return complaint_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> refusal_;
  std::optional<Error> complaint_;
  std::map<std::string, std::int64_t, std::less<>> offsets_;  // of the last record of each topic
};

// Records that an abort drops are no refusal.
void report_delivery(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* opaque) {
  switch (message->err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      if (message->offset >= 0) {
        static_cast<Reports*>(opaque)->delivered(rd_kafka_topic_name(message->rkt), message->offset);
      }
      return;
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
      return;
    default:
      Error error = error_of(message->err);
      error.topic = rd_kafka_topic_name(message->rkt);
      static_cast<Reports*>(opaque)->refused(std::move(error));
  }
}

void report_error(rd_kafka_t* /*client*/, int code, const char* reason, void* opaque) {
  static_cast<Reports*>(opaque)->complain(error_of(code, reason));
}

class TransactionalProducer final : public Producer {
 public:
  TransactionalProducer(const ClientSettings& settings, const std::string& transactional_id,
                        std::vector<std::string> topics)
      : properties_(settings.properties),
        topics_(std::move(topics)),
        client_(new_client(settings, Role::transactional_producer, configuration(settings, transactional_id))) {}

  Progress init(Deadline deadline) override {
    return background("init_transactions", [this, deadline] {
      for (const std::string& topic : topics_) look_up(topic, deadline);
      return repeat(deadline, [this](int time) { return rd_kafka_init_transactions(client_.get(), time); });
    });
  }

  std::optional<Error> begin() override {
    require_idle();
    reports_.begin_transaction();
    return explained(ErrorHandle(rd_kafka_begin_transaction(client_.get())));
  }

  std::optional<Error> produce(const OutgoingRecord& record) override {
    require_idle();
    // Reports are served now and then, or a large batch would fill the queue that they hold.
    if (++produced_ % 1024 == 0) rd_kafka_poll(client_.get(), 0);
    return send(record);
  }

  Progress send_offsets(const std::string& topic, std::span<const PartitionOffset> offsets,
                        const GroupMetadata& member, Deadline deadline) override {
    NUSTREAM_REQUIRE(member != nullptr, "offsets are committed as a member of the group");
    return background("send_offsets_to_transaction", [this, &topic, offsets, &member, deadline] {
      const PartitionListHandle list = new_partition_list();
      for (const PartitionOffset& next : offsets) add_partition(*list, topic, next.partition, next.offset.value());
      return repeat(deadline, [&](int time) {
        return rd_kafka_send_offsets_to_transaction(client_.get(), list.get(), member.get(), time);
      });
    });
  }

  Progress commit(Deadline deadline) override {
    return background("commit_transaction", [this, deadline] {
      return repeat(deadline, [this](int time) { return rd_kafka_commit_transaction(client_.get(), time); });
    });
  }

  Progress abort(Deadline deadline) override {
    return background("abort_transaction", [this, deadline] {
      // What is under way arrives first: an abort that overtakes the partitions' registration with the coordinator is
      // fatal (INVALID_TXN_STATE).
      const int arrival = std::min(milliseconds_until(deadline), arrival_milliseconds_max);
      static_cast<void>(rd_kafka_flush(client_.get(), arrival));
      return repeat(deadline, [this](int time) { return rd_kafka_abort_transaction(client_.get(), time); });
    });
  }

  std::optional<Offset> last_offset(const std::string& topic) const override { return reports_.last_offset(topic); }

  std::optional<Error> complaint() override {
    rd_kafka_poll(client_.get(), 0);
    std::optional<Error> complaint = reports_.complaint();
    if (complaint) complaint->text = blot_secrets(std::move(complaint->text), properties_);
    return complaint;
  }

 private:
  ConfigurationHandle configuration(const ClientSettings& settings, const std::string& transactional_id) {
    ConfigurationHandle result =
        client_configuration(settings, Role::transactional_producer, {{"transactional.id", transactional_id}});
    rd_kafka_conf_set_opaque(result.get(), &reports_);
    rd_kafka_conf_set_dr_msg_cb(result.get(), report_delivery);
    rd_kafka_conf_set_error_cb(result.get(), report_error);
    return result;
  }

  Progress background(std::string_view name, BackgroundCall::Call call) {
    Progress progress = call_.run(name, std::move(call), slice_max);
    if (progress.is_done()) reports_.all_is_well();
    return progress;
  }

  void require_idle() const {
    NUSTREAM_REQUIRE(call_.is_idle(), "a transactional call is finished before another one begins");
  }

  // Without it the first record waits for the library's scan of its topics, once a second. What is wrong with a topic
  // shows when something is written to it.
  void look_up(const std::string& topic, Deadline deadline) {
    const rd_kafka_metadata_t* metadata = nullptr;
    const int time = milliseconds_until(deadline);
    if (time > 0 &&
        rd_kafka_metadata(client_.get(), 0, handle_of(topic), &metadata, time) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_metadata_destroy(metadata);
    }
  }

  // A call that the deadline ends is never made again: its late answer could be taken for the second's.
  std::optional<Error> repeat(Deadline deadline, const std::function<rd_kafka_error_t*(int)>& call) {
    milliseconds pause{20};
    while (true) {
      std::optional<Error> error = explained(ErrorHandle(call(std::max(1, milliseconds_until(deadline)))));
      if (!error || error->remedy != Remedy::call_again) return error;
      if (error->code == RD_KAFKA_RESP_ERR__TIMED_OUT || milliseconds_until(deadline) == 0) {
        error->remedy = Remedy::new_client;
        return error;
      }
      std::this_thread::sleep_until(std::min(deadline, in(jittered(pause))));
      pause = std::min(2 * pause, milliseconds{1000});
    }
  }

  milliseconds jittered(milliseconds pause) {
    return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random_));
  }

  // What the library knows of the error beyond its code: what made it fatal, or which record a broker refused.
  std::optional<Error> explained(const ErrorHandle& handle) {
    if (!handle) return std::nullopt;
    Error error = error_of(*handle);
    if (error.remedy == Remedy::abort_transaction) add_refusal(error);
    error.text = blot_secrets(std::move(error.text), properties_);
    return error;
  }

  // The refused record leaves a gap in the sequence numbers, over which the next transaction would fail as well.
  void add_refusal(Error& error) const {
    if (const std::optional<Error> refusal = reports_.refusal()) {
      error.code = refusal->code;
      error.cause = refusal->cause;
      error.topic = refusal->topic;
      error.remedy = Remedy::new_client;
      error.text += ": " + refusal->text + " (topic '" + refusal->topic + "')";
    }
  }

  std::optional<Error> send(const OutgoingRecord& record) {
    rd_kafka_vu_t parts[6] = {};
    parts[0].vtype = RD_KAFKA_VTYPE_RKT;
    parts[0].u.rkt = handle_of(record.topic);
    parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    parts[1].u.i32 = record.partition.value();
    parts[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[2].u.i = RD_KAFKA_MSG_F_COPY;
    set_bytes(parts[3], RD_KAFKA_VTYPE_KEY, record.key);
    set_bytes(parts[4], RD_KAFKA_VTYPE_VALUE, record.value);
    HeadersHandle headers = headers_of(record.headers);
    parts[5].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[5].u.headers = headers.get();
    const ErrorHandle result(rd_kafka_produceva(client_.get(), parts, headers ? 6 : 5));
    if (!result) {
      static_cast<void>(headers.release());  // they belong to the record now
      return std::nullopt;
    }
    return refusal_of(*result, record);
  }

  std::optional<Error> refusal_of(const rd_kafka_error_t& result, const OutgoingRecord& record) {
    Error error = error_of(rd_kafka_error_code(&result), rd_kafka_error_string(&result));
    error.topic = record.topic;
    char text[512] = {};
    if (const int fatal = rd_kafka_fatal_error(client_.get(), text, sizeof text); fatal != 0) {
      error = error_of(fatal, text);
      error.remedy = Remedy::new_client;
    } else if (error.cause == Cause::state) {
      // The transaction has failed already; commit would say so too.
      error.remedy = Remedy::abort_transaction;
      add_refusal(error);
    } else if (error.cause == Cause::queue_full) {
      rd_kafka_poll(client_.get(), 0);
    }
    error.text = blot_secrets(std::move(error.text), properties_);
    return error;
  }

  static void set_bytes(rd_kafka_vu_t& part, rd_kafka_vtype_t type, std::optional<std::string_view> bytes) {
    part.vtype = type;
    // The library takes a null pointer for null, and copies what is not.
    part.u.mem.ptr = bytes ? const_cast<char*>(bytes->data() != nullptr ? bytes->data() : "") : nullptr;
    part.u.mem.size = bytes ? bytes->size() : 0;
  }

  static HeadersHandle headers_of(std::span<const decode::MessageHeader> headers) {
    if (headers.empty()) return nullptr;
    HeadersHandle result(rd_kafka_headers_new(headers.size()));
    for (const decode::MessageHeader& header : headers) {
      const char* bytes = header.value ? (header.value->data() != nullptr ? header.value->data() : "") : nullptr;
      rd_kafka_header_add(result.get(), header.name.data(), static_cast<ssize_t>(header.name.size()), bytes,
                          header.value ? static_cast<ssize_t>(header.value->size()) : 0);
    }
    return result;
  }

  rd_kafka_topic_t* handle_of(std::string_view topic) {
    auto found = handles_.find(topic);
    if (found == handles_.end()) {
      std::string name(topic);
      TopicHandle handle(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
      found = handles_.emplace(std::move(name), std::move(handle)).first;
    }
    return found->second.get();
  }

  Reports reports_;  // before the client, which writes to it until it is gone
  Properties properties_;
  std::vector<std::string> topics_;
  ClientHandle client_;
  std::map<std::string, TopicHandle, std::less<>> handles_;
  std::minstd_rand random_{std::random_device{}()};  // the background thread's
  std::uint64_t produced_ = 0;
  BackgroundCall call_;  // last: its thread ends first
};

}  // namespace

std::unique_ptr<Producer> transactional_producer(const ClientSettings& settings, const std::string& transactional_id,
                                                 std::vector<std::string> topics) {
  return std::make_unique<TransactionalProducer>(settings, transactional_id, std::move(topics));
}

}  // namespace nustream::kafka
