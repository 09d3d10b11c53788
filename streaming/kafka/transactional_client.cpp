// librdkafka's transactional calls with the order and the remedies that they need in practice. Some steps look
// superfluous (look-ups, flushes, new clients after certain errors): the comment beside each says what goes wrong
// without it.
#include "kafka/transactional_client.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "kafka/client.h"

namespace nustream::kafka {
namespace {

using std::chrono::milliseconds;

// How long an abort lets records arrive, and how often a wait for records looks whether one was refused.
constexpr int arrival_milliseconds_max = 2000;
constexpr int look_milliseconds = 50;
// Records of so many bytes take a request each, and the library has five of them on their way to a broker. While a
// sixth waits, its thread asks without a pause whether there is room (up to version 2.4). So such a record waits
// here.
constexpr std::size_t large_bytes = std::size_t{1} << 18;
constexpr int large_records_max = 4;
// After so many calls the record goes to the library all the same, which knows whether the transaction has failed.
constexpr int refusals_max = 200;
constexpr milliseconds first_pause{20};
constexpr milliseconds longest_pause{1000};

/// A pause between half of `pause` and all of it, so that lanes that failed together do not come back together.
milliseconds jittered(milliseconds pause, std::minstd_rand& random) {
  return milliseconds(std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(random));
}

// A pointer to the bytes, or null for no bytes. The library takes a null pointer for null, so that an empty text has
// to point somewhere.
const char* bytes_of(std::optional<std::string_view> bytes) {
  if (!bytes) return nullptr;
  return bytes->data() != nullptr ? bytes->data() : "";
}

void set_bytes(rd_kafka_vu_t& part, rd_kafka_vtype_t type, std::optional<std::string_view> bytes) {
  part.vtype = type;
  part.u.mem.ptr = const_cast<char*>(bytes_of(bytes));  // the library only reads and copies it
  part.u.mem.size = bytes ? bytes->size() : 0;
}

HeadersHandle headers_of(std::span<const decode::MessageHeader> headers) {
  if (headers.empty()) return nullptr;
  HeadersHandle result(rd_kafka_headers_new(headers.size()));
  for (const decode::MessageHeader& header : headers) {
    rd_kafka_header_add(result.get(), header.name.data(), static_cast<ssize_t>(header.name.size()),
                        bytes_of(header.value), header.value ? static_cast<ssize_t>(header.value->size()) : 0);
  }
  return result;
}

}  // namespace

TransactionalClient::TransactionalClient(const ClientSettings& settings, const std::string& transactional_id)
    : properties_(with_secrets(settings.properties)),
      client_(new_client(settings, Role::transactional_producer, configuration(settings, transactional_id))) {}

ConfigurationHandle TransactionalClient::configuration(const ClientSettings& settings,
                                                       const std::string& transactional_id) {
  ConfigurationHandle result =
      client_configuration(settings, Role::transactional_producer, {{"transactional.id", transactional_id}});
  reports_.listen(*result);
  return result;
}

std::optional<Error> TransactionalClient::init(const std::vector<std::string>& topics, Deadline deadline) {
  for (const std::string& topic : topics) look_up(topic, deadline);
  return repeat(deadline, [this](int time) { return rd_kafka_init_transactions(client_.get(), time); });
}

// Looks up a topic's leaders. Without that, the first record waits for the library to scan its topics, which it does
// once a second. Errors are not looked at: what is wrong with a topic shows when something is written to it.
void TransactionalClient::look_up(const std::string& topic, Deadline deadline) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const int time = milliseconds_until(deadline);
  if (time == 0) return;
  if (rd_kafka_metadata(client_.get(), 0, handle_of(topic), &metadata, time) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(metadata);
  }
}

std::optional<Error> TransactionalClient::begin() {
  // What became of the last transaction must not be taken for news of this one.
  reports_.begin_transaction();
  return explained(ErrorHandle(rd_kafka_begin_transaction(client_.get())));
}

std::optional<Error> TransactionalClient::produce(const OutgoingRecord& record) {
  if (is_to_wait(record)) return error_of(RD_KAFKA_RESP_ERR__QUEUE_FULL, "large records are on their way");
  // Five or six parts, as rd_kafka_produceva() takes them: topic, partition, flags, key, value, and headers where
  // there are any.
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
  if (result) return explained(*result, record);
  static_cast<void>(headers.release());  // they belong to the record now
  return std::nullopt;
}

bool TransactionalClient::is_to_wait(const OutgoingRecord& record) {
  const auto is_full = [this] { return rd_kafka_outq_len(client_.get()) >= large_records_max; };
  bool waits = record.value && record.value->size() >= large_bytes && is_full();
  // Reports hold the places of their records until they are served.
  if (waits) rd_kafka_poll(client_.get(), 0);
  waits = waits && is_full() && waits_ < refusals_max;
  waits_ = waits ? waits_ + 1 : 0;
  return waits;
}

std::optional<Error> TransactionalClient::send_offsets(const rd_kafka_topic_partition_list_s& offsets,
                                                       const rd_kafka_consumer_group_metadata_s& member,
                                                       Deadline deadline) {
  return repeat(deadline, [&](int time) {
    return rd_kafka_send_offsets_to_transaction(client_.get(), &offsets, &member, time);
  });
}

std::optional<Error> TransactionalClient::arrive(Deadline deadline) {
  while (true) {
    const int left = milliseconds_until(deadline);
    const auto code = rd_kafka_flush(client_.get(), std::clamp(left, 1, look_milliseconds));
    // A transaction that has failed drops its records. A commit tells why it failed, and cannot succeed any more.
    if (reports_.dropped()) return commit_what_arrived(deadline);
    if (std::optional<Error> refusal = reports_.refusal()) {
      refusal->remedy = Remedy::new_client;
      return refusal;
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    if (left > 0) continue;
    Error error = error_of(RD_KAFKA_RESP_ERR__TIMED_OUT, "records were not taken in time");
    error.remedy = Remedy::new_client;
    return error;
  }
}

// Waits for the records before the library commits. The library's own commit would wait until the deadline for
// records that a refused one holds up.
std::optional<Error> TransactionalClient::commit(Deadline deadline) {
  if (std::optional<Error> error = arrive(deadline)) return error;
  return commit_what_arrived(deadline);
}

std::optional<Error> TransactionalClient::commit_what_arrived(Deadline deadline) {
  return repeat(deadline, [this](int time) { return rd_kafka_commit_transaction(client_.get(), time); });
}

std::optional<Error> TransactionalClient::abort(Deadline deadline) {
  // Lets records under way arrive first. An abort that overtakes the registration of the transaction's partitions
  // with the coordinator is fatal (INVALID_TXN_STATE).
  static_cast<void>(rd_kafka_flush(client_.get(), std::min(milliseconds_until(deadline), arrival_milliseconds_max)));
  return repeat(deadline, [this](int time) { return rd_kafka_abort_transaction(client_.get(), time); });
}

std::optional<Error> TransactionalClient::complaint() {
  // Polled without waiting, so that the reports that are there are served.
  rd_kafka_poll(client_.get(), 0);
  std::optional<Error> complaint = reports_.complaint();
  if (complaint) complaint->text = blot_secrets(std::move(complaint->text), properties_);
  return complaint;
}

// Makes a call again after retriable errors, until the deadline. A call that the deadline ended is never made again,
// since its late answer could be taken for that of the second call.
std::optional<Error> TransactionalClient::repeat(Deadline deadline,
                                                 const std::function<rd_kafka_error_s*(int)>& call) {
  for (milliseconds pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
    std::optional<Error> error = explained(ErrorHandle(call(std::max(1, milliseconds_until(deadline)))));
    if (!error || error->remedy != Remedy::call_again) return error;
    if (error->code == RD_KAFKA_RESP_ERR__TIMED_OUT || milliseconds_until(deadline) == 0) {
      error->remedy = Remedy::new_client;
      return error;
    }
    std::this_thread::sleep_until(std::min(deadline, in(jittered(pause, random_))));
  }
}

std::optional<Error> TransactionalClient::explained(const ErrorHandle& handle) const {
  if (!handle) return std::nullopt;
  Error error = error_of(*handle);
  if (error.remedy == Remedy::abort_transaction) {
    add_refusal(error);
    // Partitions that were refused are not part of the transaction at the coordinator. To end a transaction that the
    // coordinator never began is fatal, so that only a new client helps.
    if (error.cause == Cause::authorization || error.cause == Cause::unknown_topic) error.remedy = Remedy::new_client;
  }
  error.text = blot_secrets(std::move(error.text), properties_);
  return error;
}

Error TransactionalClient::explained(const rd_kafka_error_s& refused, const OutgoingRecord& record) {
  Error error = error_of(rd_kafka_error_code(&refused), rd_kafka_error_string(&refused));
  error.topic = record.topic;
  char text[512] = {};
  if (const int fatal = rd_kafka_fatal_error(client_.get(), text, sizeof text); fatal != 0) {
    error = error_of(fatal, text);
    error.remedy = Remedy::new_client;
  } else if (error.cause == Cause::state) {
    // The transaction has failed already, which a commit would report too.
    error.remedy = Remedy::abort_transaction;
    add_refusal(error);
  } else if (error.cause == Cause::queue_full) {
    rd_kafka_poll(client_.get(), 0);  // reports hold the places of their records until they are served
  }
  error.text = blot_secrets(std::move(error.text), properties_);
  return error;
}

// Adds to an error what is known of a record that a broker refused. Such a record leaves a gap in the sequence
// numbers, at which the next transaction would fail too, so that a new client is needed.
void TransactionalClient::add_refusal(Error& error) const {
  const std::optional<Error> refusal = reports_.refusal();
  if (!refusal) return;
  error.code = refusal->code;
  error.cause = refusal->cause;
  error.topic = refusal->topic;
  error.remedy = Remedy::new_client;
  error.text += ": " + refusal->text + " (topic '" + refusal->topic + "')";
}

rd_kafka_topic_s* TransactionalClient::handle_of(std::string_view topic) {
  auto found = topics_.find(topic);
  if (found == topics_.end()) {
    std::string name(topic);
    TopicHandle handle(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
    found = topics_.emplace(std::move(name), std::move(handle)).first;
  }
  return found->second.get();
}

GroupMetadata copy_of(const rd_kafka_consumer_group_metadata_s& member) {
  void* bytes = nullptr;
  std::size_t size = 0;
  rd_kafka_consumer_group_metadata_t* copy = nullptr;
  // Neither of the two calls can fail for metadata that the library itself has made.
  const ErrorHandle written(rd_kafka_consumer_group_metadata_write(&member, &bytes, &size));
  const ErrorHandle read(rd_kafka_consumer_group_metadata_read(&copy, bytes, size));
  rd_kafka_mem_free(nullptr, bytes);
  return GroupMetadata(copy);
}

}  // namespace nustream::kafka
