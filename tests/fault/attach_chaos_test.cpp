// Everything at once, for an hour in the campaign: three brokers in namespaces of their own and three instances of
// the service, while processes are killed and frozen, the network is cut, clocks jump and disks fill up. What has to
// hold is exactly-once: every record in the topic took one step, what anybody could ever read stayed as it was, no
// step has two values, and the spend is exact.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "campaign.h"
#include "disturbed.h"
#include "jumping_clock.h"
#include "kafka_client.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int partitions = 4;
constexpr std::size_t brokers = 3;
/// Writes to all partitions, some records at a time, each once and in order, whatever happens to the brokers.
class Writer {
 public:
  explicit Writer(const AttachWorld& world)
      : topic_(world.name()),
        client_(RD_KAFKA_PRODUCER, {{"bootstrap.servers", AttachWorld::direct()},
                                    {"enable.idempotence", "true"},
                                    {"message.timeout.ms", "0"},
                                    {"linger.ms", "20"}}),
        thread_([this](const std::stop_token& stop) { write(stop); }) {}

  /// Returns once all records are with the brokers.
  void finish() {
    thread_.request_stop();
    thread_.join();
    if (rd_kafka_flush(client_.get(), 120'000) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      throw std::runtime_error("the brokers do not take what was written");
    }
  }
  [[nodiscard]] std::size_t records() const noexcept { return written_; }

 private:
  void write(const std::stop_token& stop) {
    for (std::uint64_t seed = 1; !stop.stop_requested(); ++seed) {
      for (int p = 0; p < partitions; ++p) {
        for (const std::string& value : AttachWorld::values(10, seed * partitions + static_cast<std::uint64_t>(p))) {
          produce(client_.get(), topic_, p, {.value = value});
          ++written_;
        }
      }
      rd_kafka_poll(client_.get(), 0);
      pause(200);
    }
  }

  std::string topic_;
  TestClient client_;
  std::atomic<std::size_t> written_{0};
  std::jthread thread_;
};

/// A reader of the release topic that keeps all that it was ever shown, by partition and offset.
class Onlooker {
 public:
  Onlooker(const AttachWorld& world, kafka::Isolation isolation)
      : topic_(world.name() + ".releases"), isolation_(isolation), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) look();
        }) {}

  [[nodiscard]] std::map<std::int64_t, std::string> seen(int partition) {
    const std::scoped_lock lock(guard_);
    return seen_[static_cast<std::size_t>(partition)];
  }

 private:
  /// Reads all partitions once, or until a broker does not answer.
  void look() {
    try {
      kafka::PartitionReader reader(settings_for(AttachWorld::direct()), isolation_, "onlooker");
      for (int p = 0; p < partitions; ++p) {
        kafka::Offset& next = next_[static_cast<std::size_t>(p)];
        const kafka::TopicPartition place{topic_, kafka::PartitionIndex{p}};
        const auto deadline = kafka::in(std::chrono::seconds(3));
        const kafka::Offset end = reader.watermarks(place, deadline).high;
        if (end <= next) continue;
        reader.read_all(place, next, end, deadline, [&](const kafka::Message& message) {
          const std::scoped_lock lock(guard_);
          seen_[static_cast<std::size_t>(p)][static_cast<std::int64_t>(message.record.offset)] =
              std::string(message.record.value.value_or(std::string_view()));
        });
        next = end;
      }
    } catch (const std::exception&) {  // the next look goes on from here
    }
    pause(500);
  }

  std::string topic_;
  kafka::Isolation isolation_;
  std::mutex guard_;
  std::array<std::map<std::int64_t, std::string>, partitions> seen_;
  std::array<kafka::Offset, partitions> next_{kafka::Offset{0}, kafka::Offset{0}, kafka::Offset{0}, kafka::Offset{0}};
  std::jthread thread_;
};

/// An instance whose clock can be set while it runs.
struct Instance {
  std::unique_ptr<Command> process;
  std::string clock;  ///< the file that says how far its clock is off
};

enum class Fault {
  instance_killed,
  instance_frozen,
  instance_ended,
  clock_jumped,
  broker_killed,
  broker_frozen,
  broker_isolated,
  brokers_cut_apart,
  broker_deaf,
  disk_full,
};
constexpr std::array<const char*, 10> fault_names{
    "instance_killed", "instance_frozen", "instance_ended",    "clock_jumped", "broker_killed",
    "broker_frozen",   "broker_isolated", "brokers_cut_apart", "broker_deaf",  "disk_full"};

class Chaos {
 public:
  Chaos(Key key, std::uint64_t seed)
      : network_(brokers),
        cluster_({.brokers = static_cast<int>(brokers), .network = &network_, .disk_mebibytes = 600}),
        stream_(partitions, key, in_use(cluster_).direct(), static_cast<int>(brokers)),
        random_(seed) {
    for (int i = 0; i < 3; ++i) {
      instances_.push_back({nullptr, stream_.world().folder().write("clock-" + std::to_string(i), "+0")});
      start(instances_.back());
    }
  }

  /// Makes one fault or two at a time; after each round the stream has to go on.
  void round() {
    const std::uint64_t before = stream_.steps();
    const auto kinds = fault_names.size();
    const auto first = static_cast<Fault>(turn_++ % kinds);
    strike(first);
    if (random_() % 2 == 0) strike(static_cast<Fault>(random_() % kinds));
    pause(static_cast<int>(500 + random_() % 8000));
    heal();
    const auto healed = steady_clock::now();
    wait_until([&] { return stream_.steps() > before; });
    slowest_ = std::max(slowest_, std::chrono::duration_cast<milliseconds>(steady_clock::now() - healed));
  }

  void end() {
    for (Instance& instance : instances_) {
      instance.process->signal(SIGTERM);
      expect_end(instance.process->wait(), 0);
      instance.process.reset();
    }
  }
  [[nodiscard]] Disturbed& stream() noexcept { return stream_; }
  void report() const {
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
      ::testing::Test::RecordProperty(fault_names[kind], counts_[kind]);
      EXPECT_GT(counts_[kind], 0) << fault_names[kind];
    }
    ::testing::Test::RecordProperty("starts_that_a_clock_ended", ended_by_clock_);
    ::testing::Test::RecordProperty("slowest_return_milliseconds", static_cast<int>(slowest_.count()));
  }

 private:
  static KafkaCluster& in_use(KafkaCluster& cluster) {
    AttachWorld::use(cluster);
    return cluster;
  }

  void start(Instance& instance) const {
    instance.process =
        std::make_unique<Command>(NUSTREAM_COMMAND, stream_.arguments(), std::nullopt, with_clock(instance.clock));
  }

  void strike(Fault fault) {
    ++counts_.at(static_cast<std::size_t>(fault));
    Instance& instance = instances_[random_() % instances_.size()];
    const std::size_t broker = random_() % brokers;
    switch (fault) {
      case Fault::instance_killed:
      case Fault::instance_ended:
        return stop(instance, fault == Fault::instance_killed ? SIGKILL : SIGTERM);
      case Fault::instance_frozen:
        if (instance.process) instance.process->signal(SIGSTOP);
        return;
      case Fault::clock_jumped:
        return jump(instance);
      case Fault::broker_killed:
        if (cluster_.is_running(broker)) cluster_.kill(broker);
        return;
      case Fault::broker_frozen:
        if (cluster_.is_running(broker)) cluster_.freeze(broker);
        return;
      case Fault::broker_isolated:
        return network_.isolate(broker);
      case Fault::brokers_cut_apart:
        return network_.cut(broker, (broker + 1) % brokers);
      case Fault::broker_deaf:
        return network_.deafen(broker);
      case Fault::disk_full:
        if (cluster_.is_running(broker)) cluster_.fill_disk(broker);
        return;
    }
  }

  /// Ends an instance. A frozen one ends once it runs again.
  void stop(Instance& instance, int number) {
    if (!instance.process) return;
    instance.process->signal(number);
    instance.process->signal(SIGCONT);
    expect_end(instance.process->wait(), number == SIGKILL ? 128 + SIGKILL : 0);
    instance.process.reset();
  }

  /// Expects an instance's exit code. One whose clock jumped while its client library began has ended by itself, with
  /// the code on which supervisors start it again.
  void expect_end(const CommandResult& result, int code) {
    if (result.code == 69 && result.err.find("could not begin") != std::string::npos) {
      ++ended_by_clock_;
      return;
    }
    EXPECT_EQ(result.code, code) << result.err;
  }

  void jump(const Instance& instance) {
    constexpr std::array<const char*, 6> jumps{"+1h", "-1h", "+1d", "-1d", "+30s", "-30s"};
    std::ofstream(instance.clock) << jumps[random_() % jumps.size()] << '\n';
  }

  void heal() {
    network_.mend();
    for (std::size_t broker = 0; broker < brokers; ++broker) {
      cluster_.free_disk(broker);
      if (cluster_.is_running(broker)) cluster_.thaw(broker);
    }
    for (std::size_t broker = 0; broker < brokers; ++broker) {
      if (!cluster_.is_running(broker)) cluster_.restart(broker);
    }
    for (Instance& instance : instances_) {
      if (instance.process) instance.process->signal(SIGCONT);
      if (instance.process && instance.process->has_ended()) {
        expect_end(instance.process->wait(), 0);
        instance.process.reset();
      }
      if (!instance.process) start(instance);
    }
  }

  BrokerNetwork network_;
  KafkaCluster cluster_;
  Disturbed stream_;
  std::mt19937_64 random_;
  std::vector<Instance> instances_;
  std::size_t turn_ = 0;
  std::array<int, fault_names.size()> counts_{};
  int ended_by_clock_ = 0;
  milliseconds slowest_{0};
};

/// Expects that what somebody was shown is still there, at its place and with its bytes.
void expect_still_there(const std::map<std::int64_t, std::string>& seen, const std::vector<StoredRecord>& now) {
  std::map<std::int64_t, std::string> there;
  for (const StoredRecord& record : now) there[record.offset] = record.value.value_or("");
  for (const auto& [offset, line] : seen) {
    const auto found = there.find(offset);
    EXPECT_TRUE(found != there.end() && found->second == line) << "offset " << offset << ": " << line;
  }
}

void survive(Key key, std::uint64_t seed, std::chrono::seconds time) {
  Chaos chaos(key, seed);
  const AttachWorld& world = chaos.stream().world();
  Writer writer(world);
  Onlooker committed(world, kafka::Isolation::read_committed);
  Onlooker uncommitted(world, kafka::Isolation::read_uncommitted);
  int rounds = 0;
  const auto end = steady_clock::now() + time;
  while (steady_clock::now() < end || rounds < static_cast<int>(fault_names.size())) {
    chaos.round();
    ++rounds;
  }
  writer.finish();
  chaos.end();
  chaos.stream().finish_what_is_there(4);
  for (int p = 0; p < partitions; ++p) {
    SCOPED_TRACE("partition " + std::to_string(p));
    expect_still_there(committed.seen(p), world.committed(world.name() + ".releases", p));
    std::vector<std::string> all = world.releases_uncommitted(p);
    for (const auto& [offset, line] : uncommitted.seen(p)) all.push_back(line);
    expect_one_value_a_step(all);
  }
  ::testing::Test::RecordProperty("rounds", rounds);
  ::testing::Test::RecordProperty("records", static_cast<int>(writer.records()));
  chaos.report();
}

class AttachChaos : public ::testing::TestWithParam<Key> {};
INSTANTIATE_TEST_SUITE_P(With, AttachChaos, ::testing::Values(Key::seed, Key::real),
                         [](const auto& key) { return key.param == Key::seed ? "ASeed" : "ARealKey"; });

// Under a seed the releases have to be those of an undisturbed run. Noise that was drawn twice shows only under a
// real key.
TEST_P(AttachChaos, LosesNothingAndSpendsNothingTwice) {
  if (!BrokerNetwork::is_possible()) GTEST_SKIP() << "network namespaces need root, ip and iptables";
  if (!campaign()) GTEST_SKIP() << "in the campaign";
  if (!clocks_can_jump()) {
    GTEST_SKIP() << "no clock would jump: " << clock_library << " (Debian's package faketime) does not work here";
  }
  const std::uint64_t full = GetParam() == Key::seed ? 3600 : 1200;
  survive(GetParam(), asked("NUSTREAM_CHAOS_SEED", 1),
          std::chrono::seconds(asked("NUSTREAM_CHAOS_SECONDS", campaign() ? full : 60)));
}

}  // namespace
}  // namespace nustream::tests
