// Logs that are not what the state says: each gives its message and exit code, and nothing is published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "attach_contradiction.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

// It names the setting with both values, and the options that this command has.
TEST_F(AttachContradiction, AnotherSettingIs65AndIsNamed) {
  expect_refused({"--set", "descent.step_size=0.02"}, 65,
                 "the state is of other settings (another settings digest): descent.step_size (0.01 there, 0.02 "
                 "here); start it with the settings that made it, or begin a new epoch with: nustream attach " +
                     world_.config() + " --set descent.step_size=0.02 --new-epoch\n");
  // A secret stands nowhere in it.
  expect_refused({"--set", "descent.step_size=0.02", "--until-end", "-X", "sasl.password=hunter2", "-X", "debug=msg"},
                 65,
                 world_.config() +
                     " --set descent.step_size=0.02 --set 'kafka.stop=\"end\"' -X sasl.password=… -X "
                     "debug=msg --new-epoch\n");
}

TEST_F(AttachContradiction, AnotherKeyIs77) {
  const std::string other = (world_.folder().path() / "other").string();
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", other}).code, 0);
  expect_refused({"--set", "state.key_file=\"" + other + "\""}, 77, "key");
}

// The old key file is needed neither to go on nor to prove what was spent where the state is lost.
TEST_F(AttachContradiction, AKeyThatWasRotatedIsGoneForGood) {
  const auto key_file = [&](const char* name) { return (world_.folder().path() / name).string(); };
  const auto under = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.end(), {"--set", "state.key_file=\"" + key_file(name) + "\""});
    return more;
  };
  const auto rotate = [&](const char* from, const char* to) {
    return run_command(NUSTREAM_COMMAND,
                       {"key", "rotate", world_.config(), key_file(to), "--key-file", key_file(from)});
  };
  for (const char* name : {"second", "third"}) {
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key_file(name)}).code, 0);
  }
  for (int time = 0; time < 2; ++time) {  // the second time there is nothing left to do
    const CommandResult rotated = rotate("key", "second");
    ASSERT_EQ(rotated.code, 0) << rotated.err;
  }
  expect_refused({}, 77, "key");
  delete_group(world_.direct(), "nustream-" + world_.name());  // the records that were read are known all the same
  world_.write(AttachWorld::values(300, 5));
  const CommandResult second = world_.run(under("second", {"--set", "kafka.stop=1500"}));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(ledger_end(world_).steps, 1500U);
  EXPECT_EQ(rotate("third", "key").code, 77) << "neither is the state's";
  ASSERT_EQ(rotate("second", "third").code, 0);
  lose_state();
  world_.write(AttachWorld::values(100, 6));
  const CommandResult third = world_.run(under("third", {"--new-epoch", "--until-end"}));
  ASSERT_EQ(third.code, 0) << third.err;
  EXPECT_EQ(ledger_end(world_).steps, 100U);
  EXPECT_EQ(ledger_end(world_).to, 1600U);
  expect_one_value_a_step(world_.releases_uncommitted());
}

// A state that was sealed anew without its marks would be taken for one of the log that is there now.
TEST_F(AttachContradiction, AKeyIsNotRotatedOverAnotherInput) {
  delete_topic(world_.direct(), world_.name());
  create_topic(world_.direct(), world_.name());
  world_.write(AttachWorld::values(1500, 2));
  const std::string other = (world_.folder().path() / "other").string();
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", other}).code, 0);
  const CommandResult rotated = run_command(NUSTREAM_COMMAND, {"key", "rotate", world_.config(), other});
  EXPECT_EQ(rotated.code, 65) << rotated.err;
  EXPECT_THAT(rotated.err, HasSubstr("not those that were read"));
  expect_refused({}, 65, "not those that were read");
}

// A kill leaves releases in the state. They are sealed anew with it, and published under the new key.
TEST(AttachRotation, OfAStreamThatOwesReleases) {
  const AttachWorld world;
  const std::string other = (world.folder().path() / "other").string();
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", other}).code, 0);
  world.write(AttachWorld::values(200));
  Command service(NUSTREAM_COMMAND, world.attach({"--set", "state.commit_records=200", "--set",
                                                  "release.linger_seconds=3600", "-X", "session.timeout.ms=6000"}));
  wait_until([&] { return ledger_end(world).steps == 200; });
  const std::vector<std::string> rotate{"key", "rotate", world.config(), other};
  const CommandResult refused = run_command(NUSTREAM_COMMAND, rotate);
  EXPECT_EQ(refused.code, 75) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("1 members"));
  service.signal(SIGKILL);
  static_cast<void>(service.wait());
  EXPECT_TRUE(world.releases().empty());
  // Once the killed instance's session is over.
  wait_until([&] { return run_command(NUSTREAM_COMMAND, rotate).code == 0; });
  const CommandResult result = world.run({"--until-end", "--set", "state.key_file=\"" + other + "\""});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(world.releases().size(), 2U);
  EXPECT_EQ(ledger_end(world).steps, 200U);
}

TEST_F(AttachContradiction, AnInsecureSeedOverPrivateReleasesIsRefused) {
  const CommandResult result = world_.run({"--insecure-seed", "1"});
  EXPECT_TRUE(result.code == 65 || result.code == 77) << result.code << ": " << result.err;
  EXPECT_TRUE(world_.releases_uncommitted() == before_);
}

TEST_F(AttachContradiction, ATopicThatWasRecreatedIs65) {
  delete_topic(world_.direct(), world_.name());
  create_topic(world_.direct(), world_.name());
  world_.write(AttachWorld::values(100, 2));
  expect_refused({}, 65, "recreated");
  expect_refused({"--new-epoch"}, 65, "go on from offset 100 with --new-epoch --accept-gap");
  Command service(NUSTREAM_COMMAND, world_.attach({"--new-epoch", "--accept-gap", "--set", "kafka.stop=400"}));
  wait_until([&] { return ledger_end(world_).from == 100; });
  world_.write(AttachWorld::values(300, 3));
  EXPECT_EQ(service.wait().code, 0);
  EXPECT_EQ(ledger_end(world_).steps, 300U) << "nothing that was there before";
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
  expect_one_value_a_step(world_.releases_uncommitted());
}

TEST_F(AttachContradiction, ATopicRecreatedWithAsManyOtherRecordsIs65) {
  delete_topic(world_.direct(), world_.name());
  create_topic(world_.direct(), world_.name());
  world_.write(AttachWorld::values(1500, 2));
  expect_refused({}, 65, "not those that were read");
  const CommandResult result = world_.run({"--new-epoch", "--accept-gap", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world_).from, 1500U);
  EXPECT_EQ(ledger_end(world_).steps, 0U) << "nothing that was there before";
  // An epoch of the new log follows, and then one without a state. The first epoch's offsets are of another log, so
  // that all epochs add up.
  const std::vector<std::string> other{"--new-epoch", "--until-end", "--set", "descent.step_size=0.02"};
  world_.write(AttachWorld::values(300, 3));
  ASSERT_EQ(world_.run(other).code, 0);
  EXPECT_EQ(ledger_end(world_).steps, 300U);
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
  lose_state();
  world_.write(AttachWorld::values(100, 4));
  ASSERT_EQ(world_.run(other).code, 0);
  EXPECT_EQ(ledger_end(world_).from, 1800U);
  EXPECT_EQ(ledger_end(world_).steps, 100U);
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
  expect_one_value_a_step(world_.releases_uncommitted());
}

// Neither the state is left nor the log that its ledger was about.
TEST_F(AttachContradiction, ALostStateBesideAShorterLogIs65AndAcceptGapGoesOnAtItsEnd) {
  lose_state();
  delete_topic(world_.direct(), world_.name());
  create_topic(world_.direct(), world_.name());
  world_.write(AttachWorld::values(100, 2));
  expect_refused({"--new-epoch"}, 65, "go on from offset 100 with --new-epoch --accept-gap");
  const CommandResult result = world_.run({"--new-epoch", "--accept-gap", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("goes on from offset 100 in a new epoch"));
  EXPECT_EQ(ledger_end(world_).from, 100U);
  EXPECT_EQ(ledger_end(world_).steps, 0U);
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
  // The state is lost once more; the first epoch's offsets count no longer.
  lose_state();
  world_.write(AttachWorld::values(200, 3));
  ASSERT_EQ(world_.run({"--new-epoch", "--until-end"}).code, 0);
  EXPECT_EQ(ledger_end(world_).from, 100U);
  EXPECT_EQ(ledger_end(world_).steps, 200U);
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
}

std::int64_t log_end(const AttachWorld& world) {
  kafka::PartitionReader reader({world.direct(), {}}, kafka::Isolation::read_uncommitted, "end");
  return reader.watermarks({world.name(), kafka::PartitionIndex{0}}, soon()).high.value();
}

// At the next start the topic's policy no longer shows it, but the last records that were read are gone.
TEST(AttachCompaction, BelowThePositionIs65AndAcceptGapGoesOn) {
  const AttachWorld world;
  const auto write_keyed = [&](std::size_t count, std::uint64_t seed) {
    std::vector<StoredRecord> records;
    for (const std::string& value : AttachWorld::values(count, seed)) records.push_back({"one", value});
    write_records(world.direct(), world.name(), 0, records);
  };
  write_keyed(500, 1);
  ASSERT_EQ(world.run({"--until-end"}).code, 0);
  const std::vector<std::string> before = world.releases();
  alter_topic(world.direct(), world.name(),
              {{"cleanup.policy", "compact"}, {"segment.ms", "100"}, {"min.cleanable.dirty.ratio", "0.001"}});
  // A segment is closed by the next record after its time, and only closed ones are compacted.
  wait_until([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    write_keyed(1, 2);
    return read_committed_records(world.direct(), world.name(), 0).size() < 100;
  });
  alter_topic(world.direct(), world.name(), {});
  const CommandResult refused = world.run({"--until-end"});
  EXPECT_EQ(refused.code, 65) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--accept-gap"));
  EXPECT_TRUE(world.releases_uncommitted() == before) << "something was published";
  // Compaction has dropped some of the records behind the position, because later ones have their keys. None of those
  // counts.
  const std::int64_t end = log_end(world);
  const CommandResult result = world.run({"--new-epoch", "--accept-gap", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world).from, static_cast<std::uint64_t>(end));
  EXPECT_EQ(ledger_end(world).steps, 0U);
  EXPECT_EQ(ledger_end(world).disjoint, "unknown");
  expect_one_value_a_step(world.releases_uncommitted());
}

TEST_F(AttachContradiction, RecordsDeletedBeforeTheyWereReadAre65AndAcceptGapGoesOnBehindThem) {
  world_.write(AttachWorld::values(400, 3));
  delete_records(world_.direct(), world_.name(), 0, 1300);
  expect_refused({}, 65, "--accept-gap");
  const CommandResult result = world_.run({"--new-epoch", "--accept-gap", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world_).steps, 300U) << "offsets 1300 to 1599";
  EXPECT_EQ(ledger_end(world_).to, 1600U);
  expect_one_value_a_step(world_.releases_uncommitted());
}

// The stream was idle for longer than the retention of input and group. Everything was read, and nothing is left to
// prove it.
TEST_F(AttachContradiction, AnIdleTopicWhoseRecordsAndOffsetAreGoneIs65AndAcceptGapGoesOn) {
  delete_records(world_.direct(), world_.name(), 0, 1200);
  delete_group(world_.direct(), "nustream-" + world_.name());
  expect_refused({}, 65, "--accept-gap");
  expect_refused({"--new-epoch"}, 65, "--accept-gap");
  world_.write(AttachWorld::values(300, 4));
  const CommandResult result = world_.run({"--new-epoch", "--accept-gap", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world_).steps, 300U);
  EXPECT_EQ(ledger_end(world_).to, 1500U);
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
  expect_one_value_a_step(world_.releases_uncommitted());
}

TEST_F(AttachContradiction, RecordsAndOffsetThatAreGoneBeforeTheyWereReadAre65AndAcceptGapGoesOnBehindThem) {
  world_.write(AttachWorld::values(400, 3));
  delete_records(world_.direct(), world_.name(), 0, 1300);
  delete_group(world_.direct(), "nustream-" + world_.name());
  expect_refused({}, 65, "offsets 1200 to 1299");
  const CommandResult result = world_.run({"--new-epoch", "--accept-gap", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world_).steps, 300U) << "offsets 1300 to 1599";
}

TEST_F(AttachContradiction, AStateTopicThatWasLostIs65AndANewEpochGoesOnBehindTheReleases) {
  lose_state();
  expect_refused({}, 65, "no state");
  world_.write(AttachWorld::values(300, 4));
  const CommandResult result = world_.run({"--new-epoch", "--until-end"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world_).steps, 300U);
  EXPECT_EQ(ledger_end(world_).to, 1500U);
  EXPECT_EQ(ledger_end(world_).disjoint, "disjoint");
  expect_one_value_a_step(world_.releases_uncommitted());
}

// Nothing tells whether the log is the one that was read.
TEST_F(AttachContradiction, AStateThatWasLostWithTheCommittedOffsetHasAllEpochsAdded) {
  lose_state();
  delete_group(world_.direct(), "nustream-" + world_.name());
  world_.write(AttachWorld::values(300, 4));
  ASSERT_EQ(world_.run({"--new-epoch", "--until-end"}).code, 0);
  EXPECT_EQ(ledger_end(world_).steps, 300U);
  EXPECT_EQ(ledger_end(world_).disjoint, "unknown");
}

const char* const elsewhere =
    "restore the ledger topic; or, where nobody has a copy, begin in new topics for state, releases and ledger, with "
    "another stream.name and kafka.group, and with a privacy.budget that is less by what was spent here";

TEST_F(AttachContradiction, ALedgerThatWasLostIs65) {
  lose_ledger();
  expect_refused({}, 65, elsewhere);
  expect_refused({"--new-epoch"}, 65, elsewhere);
  // What the message says can be done: the state still shows the spend, and another stream begins.
  const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", world_.config(), "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\"total_rho\":"));
  const std::string name = world_.name() + "-again";
  create_topic(world_.direct(), name + ".releases");
  create_topic(world_.direct(), name + ".state", 1, {{"cleanup.policy", "compact"}});
  create_topic(world_.direct(), name + ".ledger", 1, {{"retention.ms", "-1"}});
  const CommandResult again = world_.run({"--until-end", "--set", "stream.name=\"" + name + "\""});
  EXPECT_EQ(again.code, 0) << again.err;
}

// Nobody knows what the releases that are there have cost. No new epoch goes on behind them, whatever is accepted.
TEST_F(AttachContradiction, ALedgerThatWasLostBesideTheStateIs65) {
  lose_state();
  const std::vector<StoredRecord> lines = world_.committed(topic("ledger"));
  lose_ledger();
  world_.write(AttachWorld::values(300, 4));
  expect_refused({"--until-end"}, 65, "no state");
  const std::string why = "the ledger has no spend for the last release (epoch 0, step";
  expect_refused({"--new-epoch", "--until-end"}, 65, why);
  expect_refused({"--new-epoch", "--accept-gap", "--until-end"}, 65, why);
  expect_refused({"--new-epoch", "--until-end"}, 65, elsewhere);
  delete_group(world_.direct(), "nustream-" + world_.name());
  expect_refused({"--new-epoch", "--accept-gap", "--until-end"}, 65, why);
  // The same holds where only the ledger's end is lost.
  ASSERT_GT(lines.size(), 2U);
  write_records(world_.direct(), topic("ledger"), 0, {lines.begin(), lines.begin() + 2});
  expect_refused({"--new-epoch", "--until-end"}, 65, why);
}

// The lines of another stream would be charged to this stream's records, and this stream's spend to nobody.
TEST_F(AttachContradiction, ALedgerOfAnotherStreamIs65) {
  const AttachWorld other;
  other.write(AttachWorld::values(300, 6));
  const std::vector<std::string> of_this{
      "--new-epoch", "--until-end",
      "--set",       "state.key_file=\"" + (world_.folder().path() / "key").string() + "\"",
      "--set",       "kafka.ledger_topic=\"" + topic("ledger") + "\""};
  const CommandResult result = other.run(of_this);
  EXPECT_EQ(result.code, 65) << result.err;
  EXPECT_THAT(result.err, HasSubstr("holds lines of another stream or lane"));
  EXPECT_TRUE(other.releases_uncommitted().empty()) << "something was published";
}

TEST_F(AttachContradiction, ACommittedOffsetThatIsGoneIsAcceptedWhereTheRecordsAreTheSame) {
  delete_group(world_.direct(), "nustream-" + world_.name());
  const CommandResult result = world_.run({"--until-end"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(world_.releases() == before_);
}

}  // namespace
}  // namespace nustream::tests
