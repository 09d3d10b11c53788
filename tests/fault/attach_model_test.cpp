// The combined model on a real broker: who writes it, when, and of what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <set>

#include "attach_promise.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

/// A stream over two partitions, with a topic for the model that is checked five times a second.
class ModelTopic : public ::testing::Test {
 protected:
  ModelTopic() { create_topic(world_.direct(), topic_, 1, {{"cleanup.policy", "compact"}}); }

  [[nodiscard]] std::vector<std::string> attach(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--set", "kafka.model_topic=\"" + topic_ + "\"", "--set", "kafka.model_seconds=0.2",
                             "--set", "state.commit_seconds=0.1"});
    return world_.attach(std::move(more));
  }
  [[nodiscard]] std::vector<StoredRecord> models() const { return world_.committed(topic_); }
  [[nodiscard]] std::size_t released(int partition) const { return world_.releases(partition).size(); }
  /// The steps of lanes 0 and 1 in the last model; empty before there is one.
  [[nodiscard]] std::vector<std::uint64_t> last_steps() const {
    const auto found = models();
    return found.empty() ? std::vector<std::uint64_t>{} : steps_of(*found.back().value);
  }
  void wait_for_model(std::uint64_t first, std::uint64_t second) const {
    wait_until([&] { return last_steps() == std::vector<std::uint64_t>{first, second}; });
  }
  [[nodiscard]] static std::vector<std::uint64_t> steps_of(const std::string& model) {
    simdjson::dom::parser parser;
    std::vector<std::uint64_t> steps;
    for (const auto part : parser.parse(model)["parts"].get_array()) steps.push_back(part["step"].get_uint64());
    return steps;
  }
  /// Expects that the model is the average of its parts' releases, weighted by their steps, and has no step of its
  /// own.
  void expect_average_of_its_parts(const std::string& text) const {
    simdjson::dom::parser of_model;
    const simdjson::dom::element model = of_model.parse(text);
    EXPECT_EQ(model["step"].error(), simdjson::NO_SUCH_FIELD);
    double sum = 0;
    double weights = 0;
    for (const auto part : model["parts"].get_array()) {
      const std::uint64_t lane = part["lane"];
      const std::uint64_t step = part["step"];
      simdjson::dom::parser of_release;
      bool found = false;
      for (const std::string& line : world_.releases(static_cast<int>(lane))) {
        const simdjson::dom::element release = of_release.parse(line);
        if (release["step"].get_uint64().value() != step) continue;
        found = true;
        EXPECT_EQ(release["epoch"].get_uint64().value(), part["epoch"].get_uint64().value());
        sum += static_cast<double>(step) * release["estimate"]["x"].get_double().value();
      }
      EXPECT_TRUE(found) << "a part that is not committed: " << text;
      weights += static_cast<double>(step);
    }
    EXPECT_NEAR(model["estimate"]["x"].get_double().value(), sum / weights, 1e-12);
  }

  const AttachWorld world_{2};
  const std::string topic_ = world_.name() + ".model";
};

TEST_F(ModelTopic, GivesAnEmptyLaneNoWeightAndGoesOnWhileLaneZeroIsIdleOrFinished) {
  Command service(NUSTREAM_COMMAND, attach());
  world_.write(AttachWorld::values(300), 1);
  wait_until([&] { return released(1) == 3; });
  wait_until([&] { return !models().empty() && models().back().value->find("\"step\":300") != std::string::npos; });
  EXPECT_THAT(*models().back().value, HasSubstr(R"("parts":[{"lane":1,"epoch":0,"step":300}],"empty":[0],)"));
  world_.write(AttachWorld::values(200, 2), 0);
  wait_for_model(200, 300);
  // Lane 0 has nothing more to read.
  world_.write(AttachWorld::values(300, 3), 1);
  wait_for_model(200, 600);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);

  // Lane 0 is finished at once; the run's last releases are in the model before the run ends.
  world_.write(AttachWorld::values(300, 4), 1);
  const CommandResult bounded = run_command(NUSTREAM_COMMAND, attach({"--until-end"}));
  EXPECT_EQ(bounded.code, 0) << bounded.err;
  const auto found = models();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(steps_of(*found.back().value), (std::vector<std::uint64_t>{200, 900}));

  std::map<std::vector<std::uint64_t>, std::set<std::string>> values;
  for (const StoredRecord& record : found) {
    EXPECT_EQ(record.key, world_.name());
    expect_average_of_its_parts(*record.value);
    values[steps_of(*record.value)].insert(*record.value);
  }
  for (const auto& [steps, texts] : values) EXPECT_EQ(texts.size(), 1U) << "one set of parts, several values";
}

// A lane whose partition the input has and the topic of releases lacks has released nothing, as one without records.
TEST_F(ModelTopic, GoesOnWherePartitionsWereAddedToTheInputFirst) {
  Command service(NUSTREAM_COMMAND, attach({"-X", "topic.metadata.refresh.interval.ms=500"}));
  world_.write(AttachWorld::values(200), 0);
  world_.write(AttachWorld::values(300, 2), 1);
  wait_for_model(200, 300);
  add_partitions(world_.direct(), world_.name(), 3);
  wait_until([&] { return models().back().value->find("\"empty\":[2]") != std::string::npos; });
  world_.write(AttachWorld::values(300, 3), 1);
  wait_for_model(200, 600);
  for (const char* topic : {".releases", ".state", ".ledger", ".dead"}) {
    add_partitions(world_.direct(), world_.name() + topic, 3);
  }
  world_.write(AttachWorld::values(100, 4), 2);
  wait_until([&] { return last_steps() == std::vector<std::uint64_t>{200, 600, 100}; });
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
}

// Lane 0 makes room for no other lane; otherwise nobody would write the model any more.
TEST_F(ModelTopic, GoesOnWhereLanesTakeTurns) {
  world_.write(AttachWorld::values(200), 0);
  world_.write(AttachWorld::values(300, 2), 1);
  const CommandResult result = run_command(NUSTREAM_COMMAND, attach({"--set", "kafka.max_lanes=1", "--until-end"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(last_steps(), (std::vector<std::uint64_t>{200, 300}));
}

// Records that the lane has not read are deleted. It stops, but what it committed is published, and it goes on
// writing the model of the others.
TEST_F(ModelTopic, GoesOnWhereLaneZeroCannotBeReadAnyMore) {
  Command service(NUSTREAM_COMMAND, attach({"--set", "release.linger_seconds=3600", "--set",
                                            "state.commit_records=100", "-X", "session.timeout.ms=30000"}));
  world_.write(AttachWorld::values(200), 0);
  wait_until([&] { return ledger_end(world_, 0).steps == 200; });
  EXPECT_EQ(released(0), 1U) << "the last release waits for its successor";
  service.signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // no fetch is under way any more
  world_.write(AttachWorld::values(200, 2), 0);
  delete_records(world_.direct(), world_.name(), 0, 300);
  service.signal(SIGCONT);
  wait_until([&] { return released(0) == 2; });
  world_.write(AttachWorld::values(300, 3), 1);
  wait_until([&] { return released(1) == 2; });
  wait_for_model(200, 200);
  service.signal(SIGTERM);
  const CommandResult result = service.wait();
  EXPECT_THAT(result.err, HasSubstr("the log does not hold offset 200"));
  EXPECT_EQ(ledger_end(world_, 0).steps, 200U);
}

// Two lanes begin a new epoch under other settings, one after the other. Until both have released under these, the
// log and the operator's metric say which of them is waited for.
TEST_F(ModelTopic, IsSaidToWaitForLanesUnderOtherSettings) {
  world_.write(AttachWorld::values(200), 0);
  world_.write(AttachWorld::values(200, 2), 1);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, attach({"--until-end"})).code, 0);
  const std::size_t before = models().size();
  const std::string address = some_operator_address();
  const std::string log = (world_.folder().path() / "log").string();
  Command service(NUSTREAM_COMMAND,
                  attach({"--new-epoch", "--set", "descent.step_size=0.02", "--set", "log.format=\"text\"", "--set",
                          "log.file=\"" + log + "\"", "--set", "serve.operator_address=\"" + address + "\""}));
  const auto wait_for_lanes = [&](int count) {
    const std::string line =
        "nustream_model_waiting_lanes{stream=\"" + world_.name() + "\"} " + std::to_string(count);
    wait_until([&] { return operator_page(address, "/metrics").find('\n' + line + '\n') != std::string::npos; });
  };
  wait_for_lanes(2);
  EXPECT_THAT(read_file(log), HasSubstr("level=warning event=model_waits lanes=\"0, 1\""));
  world_.write(AttachWorld::values(100, 3), 0);
  wait_for_lanes(1);
  EXPECT_THAT(read_file(log), HasSubstr("level=warning event=model_waits lanes=1"));
  EXPECT_EQ(models().size(), before) << "no model of two settings";
  EXPECT_THAT(read_file(log), ::testing::Not(HasSubstr("event=model_goes_on")));
  world_.write(AttachWorld::values(100, 4), 1);
  wait_for_lanes(0);
  EXPECT_THAT(read_file(log), HasSubstr("level=info event=model_goes_on"));
  wait_for_model(100, 100);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
}

/// One instance of the service, with the operator's figures on a port of its own.
class Instance {
 public:
  explicit Instance(std::vector<std::string> arguments)
      : address_(some_operator_address()), command_(NUSTREAM_COMMAND, with_address(std::move(arguments), address_)) {}

  /// The lanes that run in this instance.
  [[nodiscard]] std::set<std::uint64_t> lanes() const {
    std::set<std::uint64_t> running;
    simdjson::dom::parser parser;
    simdjson::dom::element json;
    if (parser.parse(operator_page(address_, "/api/v1/state")).get(json) != simdjson::SUCCESS) return running;
    for (const auto lane : json["operator"]["lanes"].get_array()) {
      if (std::string_view(lane["state"]) == "running") running.insert(lane["lane"].get_uint64());
    }
    return running;
  }
  void signal(int number) { command_.signal(number); }
  void stop() {
    command_.signal(SIGTERM);
    const CommandResult result = command_.wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }

 private:
  static std::vector<std::string> with_address(std::vector<std::string> arguments, const std::string& address) {
    arguments.insert(arguments.end(), {"--set", "serve.operator_address=\"" + address + "\""});
    return arguments;
  }

  std::string address_;
  Command command_;
};

TEST_F(ModelTopic, IsWrittenByTheOwnerOfPartitionZeroAloneAndTakenOverWithIt) {
  const std::vector<std::string> patient{"-X", "session.timeout.ms=30000"};
  Instance first(attach(patient));
  wait_until([&] { return first.lanes().size() == 2; });
  Instance second(attach(patient));
  wait_until([&] { return first.lanes().size() == 1 && second.lanes().size() == 1; });
  for (std::uint64_t round = 1; round <= 5; ++round) {
    world_.write(AttachWorld::values(100, round), 0);
    world_.write(AttachWorld::values(100, round + 10), 1);
    wait_for_model(100 * round, 100 * round);
  }
  // A second writer would have repeated each model.
  std::map<std::vector<std::uint64_t>, int> times;
  for (const StoredRecord& record : models()) ++times[steps_of(*record.value)];
  EXPECT_GE(times.size(), 5U);
  for (const auto& [steps, written] : times) EXPECT_EQ(written, 1);

  Instance& owner = first.lanes().count(0) > 0 ? first : second;
  Instance& other = &owner == &first ? second : first;
  // The model is written where lane 0 is, whatever becomes of the other instance meanwhile. That one stands still for
  // less than its session of 30 s, after which the owner of lane 0 would have all lanes.
  other.signal(SIGSTOP);
  world_.write(AttachWorld::values(100, 20), 0);
  const auto since = std::chrono::steady_clock::now();
  while (last_steps() != std::vector<std::uint64_t>{600, 500} &&
         std::chrono::steady_clock::now() - since < std::chrono::seconds(28)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(last_steps(), (std::vector<std::uint64_t>{600, 500})) << "by the owner of lane 0 alone";
  other.signal(SIGCONT);

  owner.stop();
  world_.write(AttachWorld::values(100, 30), 1);
  wait_for_model(600, 600);
  EXPECT_EQ(other.lanes().count(0), 1U);
  other.stop();
  for (const StoredRecord& record : models()) expect_average_of_its_parts(*record.value);
}

}  // namespace
}  // namespace nustream::tests
