#include "bare_kafka.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "kafka_records.h"

namespace nustream::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
using Properties = std::map<std::string, std::string>;

constexpr int patience_milliseconds = 60'000;

Properties with_common(const std::string& brokers, Properties properties) {
  properties.insert({{"bootstrap.servers", brokers}, {"socket.nagle.disable", "true"}, {"retry.backoff.ms", "2"}});
  return properties;
}

void require(rd_kafka_error_t* error, const char* what) {
  if (error == nullptr) return;
  const std::string text = rd_kafka_error_string(error);
  rd_kafka_error_destroy(error);
  throw std::runtime_error(fmt::format("{}: {}", what, text));
}

void look_up(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_topic_t* handle = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(client, 0, handle, &metadata, patience_milliseconds) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy(metadata);
  }
  rd_kafka_topic_destroy(handle);
}

void assign_from_the_beginning(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = 0;
  rd_kafka_assign(client, list);
  rd_kafka_topic_partition_list_destroy(list);
}

// Without delivery reports, a commit would look only every 10 ms whether all records have arrived.
void ask_for_reports(rd_kafka_conf_t* configuration) {
  rd_kafka_conf_set_dr_msg_cb(configuration, [](rd_kafka_t*, const rd_kafka_message_t*, void*) {});
}

bool is_record(const rd_kafka_message_t* message) {
  return message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace

void send(rd_kafka_t* producer, const std::string& topic, std::string_view value,
          std::optional<std::string_view> key) {
  rd_kafka_vu_t parts[5] = {};
  parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  parts[0].u.cstr = topic.c_str();
  parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  parts[1].u.i32 = 0;
  parts[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[2].u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
  parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[3].u.mem = {const_cast<char*>(value.data()), value.size()};  // only read, since it is copied
  parts[4].vtype = RD_KAFKA_VTYPE_KEY;
  if (key) parts[4].u.mem = {const_cast<char*>(key->data()), key->size()};
  require(rd_kafka_produceva(producer, parts, 5), "produce");
}

BareConsumer::BareConsumer(const std::string& brokers, const std::string& topic)
    : client_(RD_KAFKA_CONSUMER, with_common(brokers, {{"group.id", "bare-" + topic},
                                                       {"enable.auto.commit", "false"},
                                                       {"enable.auto.offset.store", "false"},
                                                       {"isolation.level", "read_committed"},
                                                       {"fetch.wait.max.ms", "100"},
                                                       {"queued.min.messages", "1000000"},
                                                       {"queued.max.messages.kbytes", "262144"}})) {
  rd_kafka_poll_set_consumer(client_.get());
  look_up(client_.get(), topic);
  assign_from_the_beginning(client_.get(), topic);
}

rd_kafka_message_t* BareConsumer::poll(int milliseconds) {
  return rd_kafka_consumer_poll(client_.get(), milliseconds);
}

BareTransactions::BareTransactions(const std::string& brokers, const std::string& transactional_id,
                                   const std::vector<std::string>& topics)
    : client_(RD_KAFKA_PRODUCER,
              with_common(brokers, {{"transactional.id", transactional_id},
                                    {"linger.ms", "0"},
                                    {"queue.buffering.max.messages", "1000000"}}),
              ask_for_reports) {
  for (const std::string& topic : topics) look_up(client_.get(), topic);
  require(rd_kafka_init_transactions(client_.get(), patience_milliseconds), "init_transactions");
}

void BareTransactions::begin() {
  require(rd_kafka_begin_transaction(client_.get()), "begin_transaction");
}

void BareTransactions::produce(const std::string& topic, std::string_view value,
                               std::optional<std::string_view> key) {
  send(client_.get(), topic, value, key);
}

void BareTransactions::send_offset(const BareConsumer& consumer, const std::string& topic, std::int64_t next) {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = next;
  rd_kafka_consumer_group_metadata_t* member = rd_kafka_consumer_group_metadata(consumer.get());
  rd_kafka_error_t* error = rd_kafka_send_offsets_to_transaction(client_.get(), list, member, patience_milliseconds);
  rd_kafka_consumer_group_metadata_destroy(member);
  rd_kafka_topic_partition_list_destroy(list);
  require(error, "send_offsets_to_transaction");
}

void BareTransactions::commit() {
  require(rd_kafka_commit_transaction(client_.get(), patience_milliseconds), "commit_transaction");
}

void consume(const std::string& brokers, const std::string& topic, std::size_t records) {
  BareConsumer consumer(brokers, topic);
  for (std::size_t count = 0; count < records;) {
    rd_kafka_message_t* message = consumer.poll(1000);
    if (message == nullptr) continue;
    if (is_record(message)) ++count;
    rd_kafka_message_destroy(message);
  }
}

TransactionSize size_written(const std::string& brokers, const std::string& name) {
  const auto typical = [&](const char* kind) {
    std::vector<std::size_t> sizes;
    for (const tests::StoredRecord& record : tests::read_committed_records(brokers, name + kind)) {
      sizes.push_back(record.value->size());
    }
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return sizes.at(sizes.size() / 2);
  };
  return {typical(".state"), typical(".ledger"), 1, typical(".releases")};
}

void consume_produce_commit(const std::string& brokers, const std::string& input, const std::string& name,
                            std::size_t records, std::size_t batch, const TransactionSize& size) {
  const std::string state_topic = name + ".state";
  const std::string ledger_topic = name + ".ledger";
  const std::string release_topic = name + ".releases";
  BareTransactions transactions(brokers, name, {state_topic, ledger_topic, release_topic});
  BareConsumer consumer(brokers, input);
  const std::string state(size.state_bytes, 's');
  const std::string release(size.release_bytes, 'r');
  std::size_t in_batch = 0;
  for (std::size_t count = 0; count < records;) {
    rd_kafka_message_t* message = consumer.poll(1000);
    if (message == nullptr) continue;
    if (is_record(message)) {
      ++count;
      ++in_batch;
    }
    rd_kafka_message_destroy(message);
    if (in_batch < batch) continue;
    in_batch = 0;
    transactions.begin();
    transactions.produce(state_topic, state, name + "/0/state");
    transactions.produce(ledger_topic, line_with("to", count, size.ledger_bytes));
    for (std::size_t i = 0; i < size.releases; ++i) transactions.produce(release_topic, release);
    transactions.send_offset(consumer, input, static_cast<std::int64_t>(count));
    transactions.commit();
  }
}

std::vector<double> echo(const std::string& brokers, const std::string& input, const std::string& name,
                         double batch_milliseconds, const TransactionSize& size,
                         const std::atomic<bool>& told_to_stop) {
  const std::string state_topic = name + ".state";
  const std::string ledger_topic = name + ".ledger";
  const std::string release_topic = name + ".releases";
  const std::string state(size.state_bytes, 's');
  const auto open_for =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(batch_milliseconds));
  BareTransactions transactions(brokers, name, {state_topic, ledger_topic, release_topic});
  BareConsumer consumer(brokers, input);
  std::vector<std::int64_t> batch;
  Clock::time_point due;
  std::vector<double> seconds;
  while (!told_to_stop) {
    rd_kafka_message_t* message = consumer.poll(1);
    if (is_record(message)) {
      if (batch.empty()) due = Clock::now() + open_for;
      batch.push_back(message->offset + 1);
    }
    if (message != nullptr) rd_kafka_message_destroy(message);
    const Clock::time_point now = Clock::now();
    if (batch.empty() || now < due) continue;
    const auto next = static_cast<std::uint64_t>(batch.back());
    transactions.begin();
    if (size.state_bytes > 0) transactions.produce(state_topic, state, name);
    if (size.ledger_bytes > 0) transactions.produce(ledger_topic, line_with("to", next, size.ledger_bytes));
    for (const std::int64_t position : batch) {
      transactions.produce(release_topic,
                           line_with("position", static_cast<std::uint64_t>(position), size.release_bytes));
    }
    transactions.send_offset(consumer, input, batch.back());
    transactions.commit();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - now).count());
    batch.clear();
  }
  return seconds;
}

std::string line_with(std::string_view key, std::uint64_t value, std::size_t bytes) {
  std::string line = fmt::format("{{\"{}\":{},\"filler\":\"", key, value);
  if (line.size() + 2 < bytes) line.append(bytes - line.size() - 2, '-');
  return line + "\"}";
}

std::uint64_t number_in(std::string_view line, std::string_view key) {
  const std::string field = fmt::format("\"{}\":", key);
  const std::size_t at = line.find(field);
  if (at == std::string_view::npos) throw std::runtime_error(fmt::format("no {} in a line", field));
  std::uint64_t value = 0;
  std::from_chars(line.data() + at + field.size(), line.data() + line.size(), value);
  return value;
}

}  // namespace nustream::benchmarks
