// Instances that come, go and freeze, brokers that die, a network that is cut: the releases are those of an
// undisturbed run, no step has two values, and the spend is exact.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <random>
#include <thread>

#include "attach_promise.h"
#include "recovery.h"
#include "tcp_proxy.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;

void pause(int time) {
  std::this_thread::sleep_for(milliseconds(time));
}

/// Small batches, quick sessions.
std::vector<std::string> quick(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"--set",
                                     "state.commit_records=20",
                                     "--set",
                                     "kafka.transaction_seconds=6",
                                     "-X",
                                     "session.timeout.ms=3000",
                                     "-X",
                                     "heartbeat.interval.ms=500",
                                     "-X",
                                     "reconnect.backoff.max.ms=200",
                                     "--insecure-seed",
                                     "7"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// A topic that is written while the instances are disturbed, then read to its end by an undisturbed one.
class Disturbed {
 public:
  Disturbed(int partitions, std::size_t records) : world_(partitions) {
    for (int p = 0; p < partitions; ++p) {
      values_.push_back(AttachWorld::values(records, static_cast<std::uint64_t>(p) + 1));
    }
  }

  [[nodiscard]] const AttachWorld& world() const noexcept { return world_; }
  [[nodiscard]] std::unique_ptr<Command> instance(const std::vector<std::string>& more = {}) const {
    return std::make_unique<Command>(NUSTREAM_COMMAND, world_.attach(quick(more)));
  }
  /// The next records of every partition; false when all are written.
  bool write(std::size_t count) {
    if (written_ == values_.front().size()) return false;
    const std::size_t end = std::min(written_ + count, values_.front().size());
    for (int p = 0; p < world_.partitions(); ++p) {
      const auto& all = values_[static_cast<std::size_t>(p)];
      world_.write(
          {all.begin() + static_cast<std::ptrdiff_t>(written_), all.begin() + static_cast<std::ptrdiff_t>(end)}, p);
    }
    written_ = end;
    return true;
  }
  [[nodiscard]] std::uint64_t steps() const {
    std::uint64_t steps = 0;
    for (int p = 0; p < world_.partitions(); ++p) steps += ledger_end(world_, p).steps;
    return steps;
  }

  /// An instance of its own finishes the stream; then everything has to be there, once.
  void finish_and_check() {
    while (write(1000)) {
    }
    const CommandResult result = world_.run(quick({"--until-end"}));
    ASSERT_EQ(result.code, 0) << result.err;
    for (int p = 0; p < world_.partitions(); ++p) {
      SCOPED_TRACE("partition " + std::to_string(p));
      const auto& values = values_[static_cast<std::size_t>(p)];
      EXPECT_TRUE(without_shutdown(world_.releases(p)) == replayed(world_, values, 7, p));
      expect_one_value_a_step(world_.releases_uncommitted(p));
      EXPECT_EQ(ledger_end(world_, p).steps, values.size());
      EXPECT_EQ(ledger_end(world_, p).to, values.size());
    }
  }

 private:
  /// SIGTERM adds a release of its own, at a step of its own.
  static std::string without_shutdown(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      if (line.find("\"tag\":\"shutdown\"") == std::string::npos) text += line + "\n";
    }
    return text;
  }

  AttachWorld world_;
  std::vector<std::vector<std::string>> values_;
  std::size_t written_ = 0;
};

TEST(Disturbance, TwoInstancesWithARebalanceEverySecond) {
  Disturbed stream(4, 4000);
  const auto steady = stream.instance();
  const int rounds = campaign() ? 60 : 8;
  ::testing::Test::RecordProperty("rebalances", rounds);
  for (int round = 0; round < rounds; ++round) {
    const auto second = stream.instance();
    stream.write(4000U / static_cast<std::size_t>(rounds) + 1);
    pause(1000);
    second->signal(SIGTERM);
    EXPECT_EQ(second->wait().code, 0);
  }
  steady->signal(SIGTERM);
  EXPECT_EQ(steady->wait().code, 0);
  stream.finish_and_check();
}

TEST(Disturbance, ThreeInstancesThatJoinLeaveAndAreKilled) {
  Disturbed stream(4, 4000);
  std::mt19937_64 bits(5);
  std::deque<std::unique_ptr<Command>> instances;
  const int rounds = campaign() ? 40 : 8;
  ::testing::Test::RecordProperty("instances_ended", rounds);
  for (int round = 0; round < rounds; ++round) {
    while (instances.size() < 3) instances.push_back(stream.instance());
    stream.write(4000U / static_cast<std::size_t>(rounds) + 1);
    pause(700 + static_cast<int>(bits() % 800));
    const bool kill = bits() % 2 == 0;
    instances.front()->signal(kill ? SIGKILL : SIGTERM);
    const CommandResult result = instances.front()->wait();
    EXPECT_EQ(result.code, kill ? 128 + SIGKILL : 0) << result.err;
    instances.pop_front();
  }
  for (const auto& instance : instances) {
    instance->signal(SIGTERM);
    const CommandResult result = instance->wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  stream.finish_and_check();
}

// Frozen beyond its session and its transaction: another instance has its lanes when it wakes up. It must notice,
// leak nothing, and go on as a member of the group.
TEST(Disturbance, AZombieIsFenced) {
  Disturbed stream(2, 3000);
  const auto frozen = stream.instance();
  stream.write(500);
  wait_until([&] { return stream.steps() >= 1000; });
  frozen->signal(SIGSTOP);
  stream.write(500);
  const auto other = stream.instance();
  wait_until([&] { return stream.steps() >= 2000; });
  pause(7000);  // beyond transaction.timeout.ms
  frozen->signal(SIGCONT);
  stream.write(500);
  pause(4000);
  wait_until([&] { return stream.steps() >= 3000; });
  for (const auto* instance : {&frozen, &other}) {
    (*instance)->signal(SIGTERM);
    const CommandResult result = (*instance)->wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  stream.finish_and_check();
}

// The same without a rival: a broker that lost patience is no other owner.
TEST(Disturbance, AFrozenInstanceWithoutARivalRecovers) {
  Disturbed stream(2, 2000);
  const auto only = stream.instance();
  stream.write(500);
  wait_until([&] { return stream.steps() >= 1000; });
  only->signal(SIGSTOP);
  stream.write(500);
  pause(9000);
  only->signal(SIGCONT);
  wait_until([&] { return stream.steps() >= 2000; });
  only->signal(SIGTERM);
  EXPECT_EQ(only->wait().code, 0);
  stream.finish_and_check();
}

// What was asked for once is not done again later: a lane that is opened anew is not given another epoch where its
// state was rolled back meanwhile.
TEST(Disturbance, ANewEpochIsBegunAtTheStartAlone) {
  Disturbed stream(1, 1000);
  const AttachWorld& world = stream.world();
  const auto only = stream.instance({"--new-epoch"});
  stream.write(500);
  wait_until([&] { return stream.steps() >= 500; });
  const std::vector<StoredRecord> states = world.committed(world.name() + ".state");
  ASSERT_GT(states.size(), 10U);
  only->signal(SIGSTOP);
  write_records(world.direct(), world.name() + ".state", 0, {states[5]});
  stream.write(500);
  pause(9000);  // beyond its session and transaction.timeout.ms
  only->signal(SIGCONT);
  const CommandResult result = only->wait();
  EXPECT_EQ(result.code, 65) << result.err;
  EXPECT_NE(result.err.find("rolled back"), std::string::npos) << result.err;
  expect_one_value_a_step(world.releases_uncommitted());
}

TEST(Disturbance, ABrokerKilledAgainAndAgain) {
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    Disturbed stream(2, 3000);
    const auto instance = stream.instance({"--set", "kafka.transaction_seconds=60"});
    const int kills = campaign() ? 10 : 2;
    ::testing::Test::RecordProperty("broker_kills", kills);
    for (int kill = 0; kill < kills; ++kill) {
      stream.write(3000U / static_cast<std::size_t>(kills) / 2);
      pause(500);
      cluster.kill();
      pause(300);
      cluster.restart();
    }
    stream.write(1000);
    const std::uint64_t before = stream.steps();
    wait_until([&] { return stream.steps() > before; });
    instance->signal(SIGTERM);
    const CommandResult result = instance->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    stream.finish_and_check();
  }
  AttachWorld::use(shared_broker());
}

// What cannot be committed in the time to drain is left to the next start; nothing is waited for beyond it.
TEST(Disturbance, ToldToEndWhileItsBrokerDoesNotAnswer) {
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    Disturbed stream(2, 3000);
    stream.write(2000);
    const auto instance = stream.instance({"--set", "kafka.transaction_seconds=60", "--set", "kafka.drain_seconds=5",
                                           "--set", "state.commit_records=3"});
    wait_until([&] { return stream.steps() >= 500; });
    cluster.freeze();  // with a transaction of each lane under way
    pause(300);
    const auto told = std::chrono::steady_clock::now();
    instance->signal(SIGTERM);
    const CommandResult result = instance->wait();
    const auto time = std::chrono::steady_clock::now() - told;
    cluster.thaw();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(time, std::chrono::seconds(10)) << "a transaction may take 60 s";
    ::testing::Test::RecordProperty("milliseconds_to_end", static_cast<int>(time / milliseconds(1)));
    stream.finish_and_check();
  }
  AttachWorld::use(shared_broker());
}

TEST(Disturbance, ANetworkThatIsCut) {
  TcpProxy proxy;
  KafkaCluster cluster({.advertised_port = proxy.port()});
  proxy.start(cluster.port());
  AttachWorld::use(cluster);
  {
    Disturbed stream(2, 3000);
    const auto instance = stream.instance();
    stream.write(1000);
    wait_until([&] { return stream.steps() >= 500; });
    proxy.cut();
    stream.write(1000);
    const int seconds_cut = campaign() ? 30 : 9;
    ::testing::Test::RecordProperty("seconds_cut", seconds_cut);
    pause(1000 * seconds_cut);
    ReleaseWatch watch(stream.world());
    const auto mended = std::chrono::steady_clock::now();
    proxy.mend();
    report_recovery("network_mended", {watch.wait(mended)}, std::chrono::seconds(20));
    wait_until([&] { return stream.steps() >= 4000; });
    instance->signal(SIGTERM);
    const CommandResult result = instance->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    stream.finish_and_check();
  }
  AttachWorld::use(shared_broker());
}

}  // namespace
}  // namespace nustream::tests
