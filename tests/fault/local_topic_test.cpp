// `nustream local collect` over a topic of a real broker: running sums with their own positions, and each report
// counts once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command.h"
#include "journal/failpoint.h"
#include "kafka_broker.h"
#include "kafka_records.h"
#include "kafka_support.h"
#include "kafka_topics.h"
#include "local_world.h"
#include "measured_time.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

constexpr int partitions = 2;
constexpr int killed = 128 + SIGKILL;

// It would wait for brokers as long as kafka.give_up_seconds, which is 300.
TEST(LocalCollect, EndsAtOnceWhereNobodyListens) {
  const LocalWorld world;
  for (const auto& [signal, code] : {std::pair{SIGTERM, 0}, std::pair{SIGINT, 130}}) {
    Command command(NUSTREAM_COMMAND, {"local", "collect", world.config(), "-b", "127.0.0.1:9", "-t", "reports"});
    std::this_thread::sleep_for(std::chrono::seconds(3));
    const auto told = std::chrono::steady_clock::now();
    command.signal(signal);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_LT(std::chrono::steady_clock::now() - told, std::chrono::seconds(60) + busy_allowance()) << result.err;
  }
}

class LocalTopic : public ::testing::Test {
 protected:
  const LocalWorld world{600};
  const std::string topic = fresh_name("reports");
  Lines reports;
  simdjson::dom::parser parser;

  void SetUp() override {
    create_topic(shared_broker().direct(), topic, partitions);
    const CommandResult made =
        run_command(NUSTREAM_COMMAND, {"local", "randomize", world.config(), world.path("records.csv")});
    ASSERT_EQ(made.code, 0) << made.err;
    std::istringstream stream(made.out);
    for (std::string line; std::getline(stream, line);) reports.push_back(line);
  }

  /// Sends reports [begin, end) to the partitions in turn.
  void send(std::size_t begin, std::size_t end) const {
    for (int partition = 0; partition < partitions; ++partition) {
      Lines values;
      for (std::size_t i = begin; i < end; ++i) {
        if (static_cast<int>(i) % partitions == partition) values.push_back(reports.at(i));
      }
      write_values(shared_broker().direct(), topic, partition, values);
    }
  }
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"local", "collect", world.config(), "--json", "-b", shared_broker().bootstrap(), "-t", topic, "-G",
                 topic + "-group", "-X", "heartbeat.interval.ms=100", "-X", "session.timeout.ms=1500"});
    return more;
  }
  [[nodiscard]] CommandResult run(std::vector<std::string> more) const {
    return run_command(NUSTREAM_COMMAND, arguments(std::move(more)));
  }
  /// Runs to the end that the topic has now.
  simdjson::dom::element collect(std::vector<std::string> more = {}) {
    more.emplace_back("--until-end");
    const CommandResult result = run(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return parser.parse(result.out);
  }
  static std::uint64_t count(simdjson::dom::element json, const char* pointer) {
    return json.at_pointer(pointer).get_uint64().value();
  }
  /// The model of `sums`, without what a run alone met.
  [[nodiscard]] std::string model(const std::string& sums) const {
    const CommandResult result =
        run_command(NUSTREAM_COMMAND, {"local", "collect", world.config(), "--show", "--json", "--set",
                                       "local.directory=\"" + world.path(sums) + "\""});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
};

TEST_F(LocalTopic, CountsWhatIsThereAndGoesOnWhereItWas) {
  send(0, 400);
  simdjson::dom::element json = collect();
  EXPECT_EQ(count(json, "/reports"), 400u);
  EXPECT_EQ(count(json, "/this_run/added"), 400u);
  json = collect();
  EXPECT_EQ(count(json, "/reports"), 400u);
  EXPECT_EQ(count(json, "/this_run/duplicates"), 0u) << "read again";
  send(300, 600);  // a hundred of them come a second time
  json = collect();
  EXPECT_EQ(count(json, "/reports"), 600u);
  EXPECT_EQ(count(json, "/this_run/added"), 200u);
  EXPECT_EQ(count(json, "/this_run/duplicates"), 100u);
  json = collect({"--from-start"});
  EXPECT_EQ(count(json, "/reports"), 600u);
  EXPECT_EQ(count(json, "/this_run/duplicates"), 700u);
  // The sums are the same as those of a file with the same reports.
  std::string text;
  for (const std::string& report : reports) text += report + "\n";
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"local", "collect", world.config(), world.write("file", text), "--set",
                                           "local.directory=\"" + world.path("of-file") + "\""})
                .code,
            0);
  EXPECT_EQ(model("of-file"), model("sums"));
}

TEST_F(LocalTopic, WhatIsNoReportIsCountedAndPassed) {
  write_records(shared_broker().direct(), topic, 0,
                {{.value = "not a report"}, {.key = "k"}, {.value = ""}, {.value = reports[0]}});
  write_records(shared_broker().direct(), topic, 1,
                {{.value = reports[1] + " "}, {.value = std::string(200'000, 'x')}, {.value = reports[1]}});
  const simdjson::dom::element json = collect();
  EXPECT_EQ(count(json, "/reports"), 2u);
  EXPECT_EQ(count(json, "/this_run/duplicates"), 1u);
  EXPECT_EQ(count(json, "/this_run/rejected/not-json"), 3u);
  EXPECT_EQ(count(json, "/this_run/rejected/too-long"), 1u);
}

TEST_F(LocalTopic, KilledAnywhereItCountsEachReportOnce) {
  send(0, 600);
  static_cast<void>(collect({"--set", "local.directory=\"" + world.path("undisturbed") + "\""}));
  const std::string expected = model("undisturbed");
  for (const std::string_view place : journal::sums_failpoints) {
    const std::string sums = std::string(place);
    const std::vector<std::string> elsewhere{"--set", "local.directory=\"" + world.path(sums) + "\"", "--set",
                                             "local.commit_reports=100", "--until-end"};
    const CommandResult cut =
        run_command(NUSTREAM_FAULTY, arguments(elsewhere), {}, {"NUSTREAM_FAILPOINT=" + sums + ":2"});
    ASSERT_EQ(cut.code, killed) << place << " was not reached: " << cut.err;
    ASSERT_EQ(run(elsewhere).code, 0);
    ASSERT_EQ(model(sums), expected) << place;
  }
}

TEST_F(LocalTopic, RunsUntilItIsToldToStop) {
  send(0, 10);
  Command command(NUSTREAM_COMMAND, arguments({"--set", "local.commit_seconds=0.1"}));
  const auto counted = [&](std::uint64_t n) {
    const std::string text = model("sums");
    return text.find("\"reports\":" + std::to_string(n) + ",") != std::string::npos;
  };
  wait_until([&] { return counted(10); });
  send(10, 30);
  wait_until([&] { return counted(30); });
  command.signal(SIGTERM);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"reports\":30,"));
}

TEST_F(LocalTopic, AnotherCollectorOfTheGroupIsNoticed) {
  send(0, 4);
  Command first(NUSTREAM_COMMAND, arguments({"--set", "local.commit_seconds=0.1"}));
  wait_until([&] { return model("sums").find("\"reports\":4,") != std::string::npos; });
  Command second(NUSTREAM_COMMAND, arguments({"--set", "local.directory=\"" + world.path("second") + "\""}));
  const CommandResult result = first.wait();
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.err, HasSubstr("another member of group"));
  second.signal(SIGTERM);
  EXPECT_EQ(second.wait().code, 0);
}

TEST_F(LocalTopic, ATopicThatContradictsThePositions) {
  send(0, 100);
  ASSERT_EQ(count(collect(), "/reports"), 100u);
  // Records that were counted are gone: nothing is missing.
  delete_records(shared_broker().direct(), topic, 0, 20);
  EXPECT_EQ(count(collect(), "/reports"), 100u);
  // Records that were not counted are gone: the command says so, and goes on behind them.
  send(100, 140);
  delete_records(shared_broker().direct(), topic, 1, 60);
  const CommandResult gap = run({"--until-end"});
  EXPECT_EQ(gap.code, 0) << gap.err;
  EXPECT_THAT(gap.err, HasSubstr("offsets 50 to 59 are gone before they were counted"));
  EXPECT_THAT(gap.out, HasSubstr("\"reports\":130,"));
  // The topic is made anew: the command says so, and reads it from its start where that is asked for.
  delete_topic(shared_broker().direct(), topic);
  create_topic(shared_broker().direct(), topic, partitions);
  send(138, 150);
  const CommandResult anew = run({"--until-end"});
  EXPECT_EQ(anew.code, 65) << anew.err;
  EXPECT_THAT(anew.err, HasSubstr("--from-start"));
  EXPECT_EQ(count(collect({"--from-start"}), "/reports"), 140u);
}

TEST_F(LocalTopic, WhatCannotBeReached) {
  const CommandResult missing = run_command(
      NUSTREAM_COMMAND,
      {"local", "collect", world.config(), "-b", shared_broker().bootstrap(), "-t", "no-such-topic", "--until-end"});
  EXPECT_EQ(missing.code, 78) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("does not exist"));
  const CommandResult away = run_command(NUSTREAM_COMMAND, {"local", "collect", world.config(), "-b", "127.0.0.1:1",
                                                            "-t", topic, "--set", "kafka.give_up_seconds=1"});
  EXPECT_EQ(away.code, 69) << away.err;
  const CommandResult wrong = run({"-X", "enable.auto.comit=true"});
  EXPECT_EQ(wrong.code, 78) << wrong.err;
}

}  // namespace
}  // namespace nustream::tests
