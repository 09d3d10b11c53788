// The service is told to end before there is anything to drain: brokers are not there, do not answer, or keep it
// waiting for its assignment. It ends at once with the code of the signal, long before it would give up the brokers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "attach_promise.h"
#include "measured_time.h"
#include "operator_listener.h"
#include "recovery.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// It would wait for brokers as long as kafka.give_up_seconds, which is 300.
constexpr std::chrono::seconds at_once{60};  // and what a busy machine adds to it

void expect_end_at_once(Command& service, int signal, int code) {
  const auto told = steady_clock::now();
  service.signal(signal);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_LT(steady_clock::now() - told, at_once + busy_allowance()) << result.err;
  ::testing::Test::RecordProperty("milliseconds_" + std::to_string(signal),
                                  static_cast<int>((steady_clock::now() - told) / milliseconds(1)));
}

struct Signal {
  int number;
  int code;
};
constexpr Signal both[] = {{SIGTERM, 0}, {SIGINT, 130}};

/// Starts one service for each signal, and sends it in the middle of one of the longer questions to the brokers.
void expect_both_end_at_once(const std::vector<std::string>& arguments) {
  Command terminated(NUSTREAM_COMMAND, arguments);
  Command interrupted(NUSTREAM_COMMAND, arguments);
  std::this_thread::sleep_for(milliseconds(9500));
  expect_end_at_once(terminated, SIGTERM, 0);
  expect_end_at_once(interrupted, SIGINT, 130);
}

TEST(AttachStartUp, EndsAtOnceWhereNobodyListens) {
  const AttachWorld world;
  expect_both_end_at_once(world.attach({"-b", "127.0.0.1:9"}));
}

// A probe finds that the process is alive and not ready, and the operator finds what it waits for.
TEST(AttachStartUp, ListenersAnswerBeforeTheBrokerDoes) {
  const AttachWorld world;
  const std::string operators = some_operator_address();
  const std::string everybody = some_operator_address();
  Command service(NUSTREAM_COMMAND,
                  world.attach({"-b", "127.0.0.1:9", "--set", "serve.operator_address=\"" + operators + "\"", "--set",
                                "serve.public_address=\"" + everybody + "\""}));
  wait_until([&] { return operator_page(operators, "/livez") == "ok\n"; });
  EXPECT_EQ(operator_page(everybody, "/livez"), "ok\n");
  EXPECT_EQ(operator_page(everybody, "/healthz"), "ok\n");
  EXPECT_EQ(operator_page(everybody, "/readyz"), "not ready\n");
  EXPECT_THAT(operator_page(operators, "/readyz"), ::testing::StartsWith("starting: waiting for 127.0.0.1:9"))
      << "from the start on, before any broker has failed to answer";
  wait_until([&] { return operator_page(operators, "/readyz").starts_with("starting: waiting for 127.0.0.1:9: "); });
  EXPECT_EQ(operator_page(everybody, "/readyz"), "not ready\n") << "why is the operator's to know";
  expect_end_at_once(service, SIGTERM, 0);
}

// Any user of this machine can reach a loopback address, so that there is a token unless it is declined.
TEST(AttachStartUp, TheOperatorsPagesAskForATokenThatLiesBesideTheKey) {
  const AttachWorld world;
  const std::string operators = some_operator_address();
  Command service(NUSTREAM_COMMAND,
                  world.attach({"-b", "127.0.0.1:9", "--set", "serve.operator_address=\"" + operators + "\"", "--set",
                                "serve.operator_token_file=\"\""}));
  const std::string needed = "a bearer token is needed\n";
  wait_until([&] { return operator_page(operators, "/livez") == needed; });
  const std::filesystem::path file =
      std::filesystem::path(world.key()).parent_path() / (world.name() + ".operator_token");
  const std::string token = read_file(file);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  const auto page = [&](const std::string& path) {
    return run_command("/usr/bin/curl",
                       {"--silent", "--max-time", "60", "--noproxy", "*", "--header",
                        "Authorization: Bearer " + token.substr(0, token.size() - 1), "http://" + operators + path})
        .out;
  };
  EXPECT_EQ(operator_page(operators, "/metrics"), needed);
  EXPECT_EQ(page("/livez"), "ok\n");
  EXPECT_THAT(page("/metrics"), ::testing::HasSubstr("process_start_time_seconds"));
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, ::testing::HasSubstr("ask for the token in " + file.string() + ", which was made now"));
  EXPECT_THAT(result.err, ::testing::Not(::testing::HasSubstr(token)));
}

// The same holds for commands that record a topic, which ask nothing of a group.
TEST(AttachStartUp, OfARecordingEndsAtOnceWhereNobodyListens) {
  const AttachWorld world;
  expect_both_end_at_once(
      {"record", world.config(), "--to-folder", (world.folder().path() / "recorded").string(), "-b", "127.0.0.1:9"});
}

TEST(AttachStartUp, EndsAtOnceWhereABrokerTakesConnectionsAndDoesNotAnswer) {
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    const AttachWorld world;
    cluster.freeze();
    expect_both_end_at_once(world.attach());
    cluster.thaw();
  }
  AttachWorld::use(shared_broker());
}

// The group waits for a member that is frozen before it gives anything to a new one.
TEST(AttachStartUp, EndsAtOnceWhileItWaitsForItsAssignment) {
  const AttachWorld world;
  world.write(AttachWorld::values(100));
  Command first(NUSTREAM_COMMAND, world.attach({"-X", "session.timeout.ms=45000"}));
  wait_until([&] { return ledger_end(world).steps == 100; });
  for (const Signal signal : both) {
    first.signal(SIGSTOP);
    Command second(NUSTREAM_COMMAND, world.attach());
    std::this_thread::sleep_for(milliseconds(2500));
    expect_end_at_once(second, signal.number, signal.code);
    first.signal(SIGCONT);
    std::this_thread::sleep_for(milliseconds(1000));
  }
  world.write(AttachWorld::values(100, 2));
  wait_until([&] { return ledger_end(world).steps == 200; });
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().code, 0);
}

// The broker stops answering while a lane is being restored.
TEST(AttachStartUp, EndsWhileALaneIsRestoredFromABrokerThatDoesNotAnswer) {
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    const AttachWorld world;
    world.write(AttachWorld::values(100));
    ASSERT_EQ(world.run({"--until-end"}).code, 0);
    std::vector<std::string> places{"after-init-transactions"};
    if (campaign()) places.push_back("after-read-state");
    for (const std::string& place : places) {
      Command service(NUSTREAM_FAULTY, world.attach({"--set", "kafka.drain_seconds=5"}), {},
                      {"NUSTREAM_FAILPOINT=" + place + ":1:2000:live"});
      std::this_thread::sleep_for(milliseconds(1500));
      cluster.freeze();
      std::this_thread::sleep_for(milliseconds(2000));
      const auto told = steady_clock::now();
      service.signal(SIGTERM);
      const CommandResult result = service.wait();
      EXPECT_EQ(result.code, 0) << result.err;
      EXPECT_LT(steady_clock::now() - told, std::chrono::seconds(25) + busy_allowance()) << result.err;
      ::testing::Test::RecordProperty(place, static_cast<int>((steady_clock::now() - told) / milliseconds(1)));
      cluster.thaw();
      std::this_thread::sleep_for(milliseconds(2000));
    }
    const CommandResult finished = world.run({"--until-end"});
    EXPECT_EQ(finished.code, 0) << finished.err;
  }
  AttachWorld::use(shared_broker());
}

// The time runs out right when a lane hands over its first transaction: its threads are still there to give it up.
TEST(AttachStartUp, EndsWhileALaneIsAboutToCommitItsFirstState) {
  const AttachWorld world;
  world.write(AttachWorld::values(100));
  Command service(NUSTREAM_FAULTY, world.attach({"--set", "kafka.drain_seconds=1"}), {},
                  {"NUSTREAM_FAILPOINT=before-transaction:1:5000:live"});
  std::this_thread::sleep_for(milliseconds(2500));
  const auto told = steady_clock::now();
  service.signal(SIGTERM);
  std::this_thread::sleep_for(milliseconds(8000) + busy_allowance());
  service.signal(SIGKILL);  // what hangs by now hangs for ever
  const CommandResult result = service.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  ::testing::Test::RecordProperty("milliseconds", static_cast<int>((steady_clock::now() - told) / milliseconds(1)));
  const CommandResult finished = world.run({"--until-end"});
  EXPECT_EQ(finished.code, 0) << finished.err;
}

// The stop is committed before any record is read, so that a crash does not resolve it once more.
TEST(AttachStartUp, AnotherStopIsCommittedFirst) {
  const AttachWorld world;
  world.write(AttachWorld::values(300));
  ASSERT_EQ(world.run({"--set", "kafka.stop=100"}).code, 0);
  const CommandResult killed = run_command(NUSTREAM_FAULTY, world.attach({"--until-end"}), std::nullopt,
                                           {"NUSTREAM_FAILPOINT=after-commit-transaction:1"});
  ASSERT_EQ(killed.code, 128 + SIGKILL) << killed.err;
  EXPECT_EQ(ledger_end(world).steps, 100U);
  world.write(AttachWorld::values(100, 2));
  const CommandResult result = world.run({"--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world).steps, 300U) << "the end that it had when it was asked for";
}

}  // namespace
}  // namespace nustream::tests
