// Measures what attach does to each record apart from transactions. It compares consume, decode and step with a bare
// consume loop over the same topic, fetching included, and with replay's decode and step over the same bytes in
// memory. Usage: benchmark_attach_consume [JSON file]; RECORDS in the environment (default 1,000,000). A broker runs
// on the same machine, so nothing is pinned.
#include <poll.h>

#include <cstdlib>

#include "attach/lane_input.h"
#include "attach_topic.h"
#include "bare_kafka.h"
#include "config/mechanism.h"
#include "decode/message_decoder.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "harness.h"
#include "kafka/group_consumer.h"
#include "secrets/locked_memory.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

/// A lane without a journal.
struct Bench {
  explicit Bench(const config::Config& settings)
      : config(settings),
        mechanism(config::make_mechanism(config, privacy::Participation::once())),
        keys(secrets::Keyring::insecure(1)),
        noise(mechanism, journal::first_checkpoints({1}, LaneId{0}, EpochId{0}, 1), StepIndex{0}, &locked,
              keys.healing(false)),
        lane(engine::first_estimator(config, mechanism, Position{0})),
        encoder(engine::release_encoder(config, mechanism, {LaneId{0}, EpochId{0}, std::string(64, '0'), false})),
        stepper(lane, noise, encoder, 1, std::nullopt, 0) {}

  void step(record::RowBatch& rows) {
    while (rows.count() > 0) static_cast<void>(stepper.step(rows, rows.count(), output));
    if (output.outbox.size() > (1 << 20)) output.outbox.clear();
  }

  const config::Config& config;
  config::Mechanism mechanism;
  secrets::Keyring keys;
  secrets::LockedMemory locked;
  engine::NoiseFeed noise;
  engine::Estimator lane;
  publish::ReleaseEncoder encoder;
  engine::Stepper stepper;
  engine::Output output;
};

/// Consumes and steps with the service's own consumer, decoder and lane.
void consume_and_step(const config::Config& config, std::size_t records) {
  Bench bench(config);
  attach::LaneInput input(config, bench.keys, LaneId{0}, nullptr, Position{0}, std::nullopt,
                          config.kafka.dead_letter_bytes_max);
  kafka::SeenRecords seen({});
  kafka::GroupConsumer consumer({config.kafka.brokers, {}}, {config.kafka.topics.input, config.kafka.group, ""});
  std::vector<kafka::Message> messages;
  const auto take = [&] {
    if (messages.empty()) return;
    input.take(messages, seen);
    messages.clear();
    bench.step(input.rows());
  };
  while (bench.lane.steps().value() < records) {
    pollfd wait{consumer.descriptor(), POLLIN, 0};
    ::poll(&wait, 1, 1000);
    consumer.acknowledge();
    while (auto event = consumer.next()) {
      if (auto* message = std::get_if<kafka::Message>(&*event)) {
        messages.push_back(std::move(*message));
      } else if (const auto* assigned = std::get_if<kafka::Assigned>(&*event)) {
        static_cast<void>(consumer.assign(assigned->partitions));
        while (consumer.start(kafka::PartitionIndex{0}, kafka::Offset{0})) {
        }
      }
      if (messages.size() == 512) take();
    }
    take();
  }
  consumer.begin_close();
  while (!consumer.is_closed()) {
    if (const auto event = consumer.next()) {
      if (const auto* revoked = std::get_if<kafka::Revoked>(&*event)) {
        static_cast<void>(consumer.unassign(revoked->partitions));
      }
    }
  }
}

/// Decodes and steps over values that are in memory.
void decode_and_step(const config::Config& config, const std::vector<std::string>& values) {
  Bench bench(config);
  decode::MessageDecoder decoder(config.input, config.schema);
  decode::MessageBatch batch;
  record::RowBatch rows;
  rows.dimension = decoder.dimension();
  for (std::size_t i = 0; i < values.size(); ++i) {
    batch.add({.offset = i, .value = values[i]});
    if (batch.count() == 512 || i + 1 == values.size()) {
      decoder.decode(batch.messages(), rows);
      batch.clear();
      bench.step(rows);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* asked = std::getenv("RECORDS");
  const std::size_t records = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1'000'000;
  tests::KafkaCluster cluster;
  const tests::TemporaryFolder folder;
  const std::vector<std::string> values = csv_values(records);
  tests::create_topic(cluster.direct(), "input", 1);
  tests::write_values(cluster.direct(), "input", 0, values);
  int run = 0;
  const auto fresh = [&] {
    return settings(folder, cluster.bootstrap(), "input", "consume-" + std::to_string(++run), 10'000, "");
  };
  const config::Config in_memory = fresh();
  Report report("attach_consume", Pinning::none);
  const auto items = static_cast<double>(records);
  const auto timings = measure({{"bare consume", items, [&] { consume(cluster.bootstrap(), "input", records); }},
                                {"consume, decode, step", items,
                                 [&] {
                                   const config::Config config = fresh();
                                   consume_and_step(config, records);
                                 }},
                                {"decode, step", items, [&] { decode_and_step(in_memory, values); }}},
                               5);
  report.add(timings, "record");
  report.add_ratio("consume, decode and step over bare consume", "consume, decode, step", "bare consume",
                   "at most 1.82 (a rate of .55)");
  const double added = timings[1].nanoseconds_min - timings[0].nanoseconds_min;
  report.add_figure("added over bare consume, of decode and step in memory", added / timings[2].nanoseconds_min,
                    "ratio", "at most 1.2");
  return report.write(argc, argv);
}
