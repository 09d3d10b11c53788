// Instances come, go and freeze, brokers die, a network is cut. The releases are those of an undisturbed run, no step
// has two values, and the spend is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <sstream>
#include <thread>

#include "disturbed.h"
#include "measured_time.h"
#include "operator_listener.h"
#include "recovery.h"
#include "tcp_proxy.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;

/// How many transactions ran out of time, as the operator's listener tells. The client notices by its own clock or
/// hears from the broker, whichever comes first.
double interrupted(const std::string& address) {
  double sum = 0;
  std::istringstream lines(operator_page(address, "/metrics"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find("nustream_transactions_total{") == std::string::npos) continue;
    const bool counts = line.find("outcome=\"fenced\"") != std::string::npos ||
                        line.find("outcome=\"timed_out\"") != std::string::npos;
    if (counts) sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

/// The campaign takes both kinds of key, and CI one of them.
class Disturbance : public ::testing::TestWithParam<Key> {
 protected:
  static bool is_left_to_the_campaign(Key key) { return !campaign() && GetParam() != key; }
};
#define IN_CI_WITH(key) \
  if (is_left_to_the_campaign(key)) GTEST_SKIP() << "in the campaign"
INSTANTIATE_TEST_SUITE_P(With, Disturbance, ::testing::Values(Key::seed, Key::real),
                         [](const auto& key) { return key.param == Key::seed ? "ASeed" : "ARealKey"; });

TEST_P(Disturbance, TwoInstancesWithARebalanceEverySecond) {
  IN_CI_WITH(Key::real);
  Disturbed stream(4, 4000, GetParam());
  const auto steady = stream.instance();
  const int rounds = campaign() ? 60 : 5;
  ::testing::Test::RecordProperty("rounds", rounds);
  int moved = 0;
  milliseconds patience = std::chrono::minutes(2);
  for (int round = 0; round < rounds; ++round) {
    const std::string address = some_operator_address();
    const auto second = stream.instance({"--set", "serve.operator_address=\"" + address + "\""});
    stream.write(4000U / static_cast<std::size_t>(rounds) + 1);
    const auto joined = std::chrono::steady_clock::now();
    pause(1000);
    // A rebalance comes with each instance. How long one takes here is measured by the first of them.
    while (lanes_of(address) == 0 && std::chrono::steady_clock::now() - joined < patience) pause(100);
    if (lanes_of(address) > 0 && moved == 0) {
      patience = std::max<milliseconds>(std::chrono::seconds(3), 3 * std::chrono::duration_cast<milliseconds>(
                                                                         std::chrono::steady_clock::now() - joined));
    }
    if (lanes_of(address) > 0) ++moved;
    second->signal(SIGTERM);
    EXPECT_EQ(second->wait().code, 0);
  }
  ::testing::Test::RecordProperty("rounds_in_which_lanes_moved_there_and_back", moved);
  EXPECT_GE(moved, rounds / 2) << "nothing was disturbed";
  steady->signal(SIGTERM);
  EXPECT_EQ(steady->wait().code, 0);
  stream.finish_and_check();
}

TEST_P(Disturbance, ThreeInstancesThatJoinLeaveAndAreKilled) {
  IN_CI_WITH(Key::seed);
  Disturbed stream(4, 4000, GetParam());
  std::mt19937_64 bits(5);
  std::deque<std::unique_ptr<Command>> instances;
  const int rounds = campaign() ? 40 : 6;
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
  stream.finish_and_check(4);
}

// An instance is frozen for longer than its session and its transaction, and another one has its lanes when it wakes
// up. It must notice, leak nothing, and go on as a member of the group.
TEST_P(Disturbance, AZombieIsFenced) {
  IN_CI_WITH(Key::real);
  Disturbed stream(2, 3000, GetParam());
  const auto frozen = stream.faulty("after-produce:20:5000:live", {"--set", "log.format=\"text\""});
  stream.write(500);
  stream.wait_for_open_transaction();
  frozen->signal(SIGSTOP);
  stream.write(500);
  const auto other = stream.instance();
  wait_until([&] { return stream.steps() >= 2000; });
  pause(7000);  // longer than transaction.timeout.ms
  frozen->signal(SIGCONT);
  stream.write(500);
  wait_until([&] { return stream.steps() >= 3000; });
  EXPECT_GE(stream.aborted_states(), 1U) << "what it was committing went through";
  for (const auto* instance : {&frozen, &other}) {
    (*instance)->signal(SIGTERM);
    const CommandResult result = (*instance)->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    // Who had a lane taken away says so by name; the other one drained its lanes.
    EXPECT_EQ(result.err.find("event=lane_lost") != std::string::npos, instance == &frozen) << result.err;
  }
  stream.finish_and_check();
}

// The same without a rival: a broker that ended the transaction is not another owner.
TEST_P(Disturbance, AFrozenInstanceWithoutARivalRecovers) {
  IN_CI_WITH(Key::seed);
  Disturbed stream(2, 2000, GetParam());
  const std::string address = some_operator_address();
  // The session outlives the transaction: nobody takes the lanes, and only the broker gives the transaction up.
  const auto only =
      stream.faulty("after-produce:20:5000:live",
                    {"--set", "serve.operator_address=\"" + address + "\"", "-X", "session.timeout.ms=40000"});
  stream.write(500);
  stream.wait_for_open_transaction();
  only->signal(SIGSTOP);
  stream.write(500);
  pause(9000);
  only->signal(SIGCONT);
  wait_until([&] { return interrupted(address) >= 1; });
  wait_until([&] { return stream.steps() >= 2000; });
  EXPECT_GE(stream.aborted_states(), 1U) << "what it was committing went through";
  only->signal(SIGTERM);
  EXPECT_EQ(only->wait().code, 0);
  stream.finish_and_check();
}

// What was asked for once is not done again later. A lane that is opened anew does not get another epoch, where its
// state was rolled back meanwhile.
TEST(DisturbedEpoch, IsBegunAtTheStartAlone) {
  Disturbed stream(1, 1000, Key::seed);
  const AttachWorld& world = stream.world();
  const auto only = stream.instance({"--new-epoch"});
  stream.write(500);
  wait_until([&] { return stream.steps() >= 500; });
  const std::vector<StoredRecord> states = world.committed(world.name() + ".state");
  ASSERT_GT(states.size(), 10U);
  only->signal(SIGSTOP);
  write_records(world.direct(), world.name() + ".state", 0, {states[5]});
  stream.write(500);
  pause(9000);  // longer than its session and transaction.timeout.ms
  only->signal(SIGCONT);
  const CommandResult result = only->wait();
  EXPECT_EQ(result.code, 65) << result.err;
  EXPECT_NE(result.err.find("rolled back"), std::string::npos) << result.err;
  expect_one_value_a_step(world.releases_uncommitted());
}

TEST_P(Disturbance, ABrokerKilledAgainAndAgain) {
  IN_CI_WITH(Key::seed);
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    const auto kills = static_cast<int>(asked("NUSTREAM_BROKER_KILLS", campaign() ? 10 : 2));
    Disturbed stream(2, std::max<std::size_t>(3000, 100 * static_cast<std::size_t>(kills)), GetParam());
    const auto instance = stream.instance({"--set", "kafka.transaction_seconds=600"});
    ::testing::Test::RecordProperty("broker_kills", kills);
    for (int kill = 0; kill < kills; ++kill) {
      stream.write(std::max<std::size_t>(3000U / static_cast<std::size_t>(kills) / 2, 20));
      pause(static_cast<int>(asked("NUSTREAM_BROKER_KILL_PAUSE", 500)));
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

// What cannot be committed in the time to drain is left to the next start, and nothing is waited for after that time.
TEST_P(Disturbance, ToldToEndWhileItsBrokerDoesNotAnswer) {
  IN_CI_WITH(Key::real);
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    Disturbed stream(2, 3000, GetParam());
    stream.write(2000);
    const auto instance = stream.instance({"--set", "kafka.transaction_seconds=600", "--set", "kafka.drain_seconds=5",
                                           "--set", "state.commit_records=3"});
    wait_until([&] { return stream.steps() >= 500; });
    cluster.freeze();  // while each lane has a transaction under way
    pause(300);
    const auto told = std::chrono::steady_clock::now();
    instance->signal(SIGTERM);
    const CommandResult result = instance->wait();
    const auto time = std::chrono::steady_clock::now() - told;
    cluster.thaw();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_LT(time, std::chrono::seconds(40) + busy_allowance()) << "a transaction may take 600 s";
    ::testing::Test::RecordProperty("milliseconds_to_end", static_cast<int>(time / milliseconds(1)));
    stream.finish_and_check();
  }
  AttachWorld::use(shared_broker());
}

TEST_P(Disturbance, ANetworkThatIsCut) {
  IN_CI_WITH(Key::real);
  TcpProxy proxy;
  KafkaCluster cluster({.advertised_port = proxy.port()});
  proxy.start(cluster.port());
  AttachWorld::use(cluster);
  {
    Disturbed stream(2, 3000, GetParam());
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
