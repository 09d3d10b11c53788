// Brokers do not let the service in, or do not let it do something. One line says what, where and what to do, the
// exit code is the documented one, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "attach_promise.h"
#include "recovery.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

// Here alice may do only what is granted.
KafkaCluster& guarded() {
  static KafkaCluster cluster({.sasl = true, .acl = true});
  return cluster;
}

Words as_alice(const std::string& password, Words more = {}) {
  Words arguments{"-X",    "security.protocol=sasl_plaintext",
                  "-X",    "sasl.mechanism=PLAIN",
                  "-X",    std::string("sasl.username=") + sasl_user,
                  "-X",    "sasl.password=" + password,
                  "--set", "state.commit_records=100"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The last thing that the command says: "nustream: error: …".
std::string error_line(const CommandResult& result) {
  std::istringstream lines(result.err);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("nustream: error: ")) found += line + "\n";
  }
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << result.err;
  return found;
}

/// A stream of alice's, on a broker where users of the direct listener may do everything.
class AttachRefusal : public ::testing::Test {
 protected:
  AttachRefusal() {
    AttachWorld::use(guarded());
    world_ = std::make_unique<AttachWorld>(1, guarded().sasl());
    create_topic(world_->direct(), world_->name() + ".model", 1, {{"cleanup.policy", "compact"}});
    world_->change_config({{"[serve]", "model_topic = \"" + world_->name() + ".model\"\n[serve]"}});
  }
  ~AttachRefusal() override {
    world_.reset();
    AttachWorld::use(shared_broker());
  }

  /// The rights of docs/kafka.md, each with what the command has to name where it is missing.
  [[nodiscard]] std::vector<std::pair<std::string, Words>> rights() const {
    const std::string& name = world_->name();
    const std::string group = "nustream-" + name;
    std::vector<std::pair<std::string, Words>> rights{
        {"group " + group, {"--operation", "Read", "--group", group}},
        {name + "/",
         {"--operation", "Write", "--transactional-id", name + "/", "--resource-pattern-type", "prefixed"}}};
    const auto add = [&](const std::string& topic, const std::vector<const char*>& operations) {
      for (const char* operation : operations) {
        rights.push_back({topic, {"--operation", operation, "--topic", topic}});
      }
    };
    add(name, {"Read", "DescribeConfigs"});
    add(name + ".dead", {"Write", "DescribeConfigs"});
    add(name + ".model", {"Write", "DescribeConfigs"});
    for (const char* topic : {".state", ".ledger", ".releases"}) {
      add(name + topic, {"Read", "Write", "DescribeConfigs"});
    }
    return rights;
  }
  void grant_all() const {
    for (const auto& [word, right] : rights()) guarded().grant(right);
  }
  [[nodiscard]] std::unique_ptr<Command> start(Words more = {}) const {
    return std::make_unique<Command>(
        NUSTREAM_COMMAND,
        world_->attach(as_alice(
            sasl_password,
            with({"--set", "state.commit_seconds=0.1", "--set", "kafka.give_up_seconds=20"}, std::move(more)))));
  }
  void wait_for_steps(std::uint64_t steps) const {
    wait_until([&] { return ledger_end(*world_).steps >= steps; });
  }
  static Words with(Words first, Words more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }

  std::unique_ptr<AttachWorld> world_;
};

TEST_F(AttachRefusal, AWrongPasswordIs77InOneLineWithoutThePassword) {
  const std::string wrong = "not-her-password-815";
  const CommandResult result = world_->run(as_alice(wrong));
  EXPECT_EQ(result.code, 77) << result.err;
  EXPECT_THAT(error_line(result),
              AllOf(HasSubstr("Authentication failed"), HasSubstr(guarded().sasl()), HasSubstr("sasl.")));
  EXPECT_THAT(result.err + result.out, Not(HasSubstr(wrong)));
}

TEST_F(AttachRefusal, TheRightsOfTheManualAreEnoughAndEachOfThemIsNeeded) {
  grant_all();
  world_->write(AttachWorld::values(300));
  std::size_t written = 300;
  const auto to_the_end = [&] {
    return as_alice(sasl_password,
                    {"--set", "kafka.stop=" + std::to_string(written), "--set", "kafka.give_up_seconds=20"});
  };
  ASSERT_EQ(world_->run(to_the_end()).code, 0);
  ASSERT_EQ(world_->releases().size(), 3U);
  for (const auto& [word, right] : rights()) {
    const bool is_state_or_ledger = word.ends_with(".state") || word.ends_with(".ledger");
    if (is_state_or_ledger && !campaign()) continue;  // they are tested as the releases are
    SCOPED_TRACE(right[1] + " on " + word);
    world_->write(AttachWorld::values(200));
    written += 200;
    guarded().take_away(right);
    const CommandResult refused = world_->run(to_the_end());
    EXPECT_EQ(refused.code, 77) << refused.err;
    EXPECT_THAT(error_line(refused), AllOf(HasSubstr(word), HasSubstr("authorization failed"), HasSubstr("grant")));
    guarded().grant(right);
  }
  const CommandResult granted = world_->run(to_the_end());
  EXPECT_EQ(granted.code, 0) << granted.err;
  EXPECT_EQ(ledger_end(*world_).steps, written);
  expect_each_step_once(world_->releases());
  expect_one_value_a_step(world_->releases_uncommitted());
}

// A right is taken away while the service runs: it ends at once, and not only when it would give up brokers that are
// away.
TEST_F(AttachRefusal, ARightThatIsTakenAwayWhileItRunsEndsItAndNothingIsLost) {
  grant_all();
  const std::string& name = world_->name();
  const std::vector<std::pair<std::string, Words>> taken{
      {"'" + name + ".releases'", {"--operation", "Write", "--topic", name + ".releases"}},
      {"'" + name + "'", {"--operation", "Read", "--topic", name}},
      {"group nustream-" + name, {"--operation", "Read", "--group", "nustream-" + name}}};
  std::uint64_t steps = 0;
  for (const auto& [word, right] : taken) {
    SCOPED_TRACE(word);
    const auto service = start();
    world_->write(AttachWorld::values(200));
    wait_for_steps(steps += 200);
    guarded().take_away(right);
    world_->write(AttachWorld::values(200));
    steps += 200;
    const CommandResult refused = service->wait();
    EXPECT_EQ(refused.code, 77) << refused.err;
    EXPECT_THAT(error_line(refused), AllOf(HasSubstr(word), HasSubstr("authorization failed"), HasSubstr("grant")));
    guarded().grant(right);
  }
  const CommandResult granted = world_->run(as_alice(sasl_password, {"--until-end"}));
  EXPECT_EQ(granted.code, 0) << granted.err;
  EXPECT_EQ(ledger_end(*world_).steps, steps);
  EXPECT_EQ(world_->releases().size(), steps / 100);
  expect_each_step_once(world_->releases());
  expect_one_value_a_step(world_->releases_uncommitted());
}

// No state of the dead letters' topic stops a lane that runs.
TEST_F(AttachRefusal, DeadLettersThatMayNoLongerBeWrittenAreGivenUp) {
  grant_all();
  const auto service = start();
  world_->write(AttachWorld::values(200));
  wait_for_steps(200);
  guarded().take_away({"--operation", "Write", "--topic", world_->name() + ".dead"});
  world_->write(AttachWorld::values(200));
  wait_for_steps(400);
  service->signal(SIGTERM);
  const CommandResult result = service->wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(world_->committed(world_->name() + ".dead").size(), 2U) << "of the first 200 records alone";
  expect_each_step_once(world_->releases());
  expect_one_value_a_step(world_->releases_uncommitted());
}

}  // namespace
}  // namespace nustream::tests
