// Settings of an attached stream that are "private": one instance measures them once, for all lanes. They are charged
// before they are used, and everybody who comes later takes them from the state, whatever was killed in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <regex>
#include <string>
#include <vector>

#include "attach_users_world.h"
#include "journal/failpoint.h"
#include "publish/release_json.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t records = 2000;

std::vector<std::string> with(std::vector<std::string> more) {
  const std::vector<std::string> measured{"--set", "model.estimator=moments",
                                          "--set", "moments.row_norm=private",
                                          "--set", "moments.residual_bound=private",
                                          "--set", "moments.start=private",
                                          "--set", "features.0.center=private",
                                          "--set", "features.0.scale=private",
                                          "--set", "target.center=private",
                                          "--set", "target.scale=private",
                                          "--set", "privacy.rho=20",
                                          "--set", "ranges.records=2000"};
  more.insert(more.begin(), measured.begin(), measured.end());
  return more;
}

/// The lines without what tells which records were measured (for a file it is all), and without the chain, whose
/// hashes are of lines that tell it.
std::string without_digest(const std::string& lines) {
  const std::string unchained =
      std::regex_replace(lines, std::regex(",\"previous\":\"[0-9a-f]{64}\"(,\"signature\":\"[0-9a-f]{128}\")?"), "");
  return std::regex_replace(unchained, std::regex("\"digest\":\"[0-9a-f]{64}\""), "\"digest\":\"\"");
}

struct Spend {
  std::uint64_t epoch, from, to, steps;
  double rho;
  std::string disjoint;
};
/// The last ledger line of each epoch.
std::vector<Spend> spends(const AttachWorld& world, int partition = 0) {
  std::vector<Spend> all;
  for (const std::string& line : values_of(world.committed(world.name() + ".ledger", partition))) {
    simdjson::dom::parser parser;
    const simdjson::dom::element of = parser.parse(line);
    Spend spend{of["epoch"].get_uint64(), of["from"].get_uint64(), of["to"].get_uint64(),
                of["steps"].get_uint64(), of["rho"].get_double(),  std::string(of["disjoint"].get_string().value())};
    if (!all.empty() && all.back().epoch == spend.epoch) all.pop_back();
    all.push_back(std::move(spend));
  }
  return all;
}

/// Expects one epoch that measured, and behind it one of steps over the same records. Together they cost what was
/// asked for.
void expect_measured_once(const AttachWorld& world, std::uint64_t steps) {
  const std::vector<Spend> found = spends(world);
  ASSERT_EQ(found.size(), 2U) << "an epoch that measures, and one of steps";
  EXPECT_EQ(found[0].steps, 1U);
  EXPECT_EQ(found[0].from, 0U);
  EXPECT_EQ(found[0].to, records);
  EXPECT_NEAR(found[0].rho, 4, 1e-9);
  EXPECT_EQ(found[1].from, 0U) << "its steps are over the measured records too";
  EXPECT_GE(found[1].steps, steps) << "the line pays for them, and for more where it reserves";
  EXPECT_EQ(ledger_end(world).steps, steps);
  EXPECT_NE(found[1].disjoint, found[0].disjoint) << "overlapping: the ledger adds";
  const auto last = publish::read_release(world.releases().back()).value();
  EXPECT_NEAR(last.rho_limit, 16, 1e-6);
  EXPECT_NEAR(last.rho_ledger, last.rho + 4, 1e-9);
}

TEST(AttachMeasured, ReleasesWhatAReplayOfTheSameRecordsDoes) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(records);
  world.write(values);
  const std::string file = (world.folder().path() / "used.toml").string();
  // A replay measures all of its records. Its units grow only where it is told so, as an attached lane's do.
  const std::vector<std::string> growing{"--set", "moments.stages=growing", "--quiet"};
  const CommandResult result = world.run(
      with({"--until-end", "--insecure-seed", "7", "--write-config", file, "--set", "moments.stages=growing"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("measured privately over the first 2000 records of partition 0, rho 4"));
  EXPECT_THAT(result.err, HasSubstr("moments.row_norm = "));
  EXPECT_THAT(read_file(file), HasSubstr("WARNING"));
  EXPECT_THAT(read_file(file), Not(HasSubstr("\"private\"")));
  EXPECT_EQ(without_digest(joined(world.releases())), without_digest(replayed(world, values, 7, 0, with(growing))));
  expect_measured_once(world, records / 100);
  const auto last = publish::read_release(world.releases().back()).value();
  EXPECT_NEAR(last.estimate.at(1).second, -0.5, 0.05);
}

// Only a part of the stream is measured, so that its units grow, unless it has stages of its own.
TEST(AttachMeasured, LetsTheUnitsGrowOfWhatItMeasuredOnAPart) {
  const AttachWorld world;
  std::vector<std::string> values = AttachWorld::values(records);
  world.write(values);
  const CommandResult result = world.run(with({"--until-end", "--insecure-seed", "7"}));
  ASSERT_EQ(result.code, 0) << result.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element last = parser.parse(world.releases().back());
  EXPECT_EQ(last["measured"]["moments.stages"].get_string().value(), "growing");
  EXPECT_TRUE(last["moments"]["grown"].is_object());
}

// Whoever says anything of stages has the say, then and later, and sums may still be released.
TEST(AttachMeasured, LeavesTheUnitsAloneWhereTheSettingsSpeakOfStages) {
  const AttachWorld world;
  world.write(AttachWorld::values(records));
  const std::vector<std::string> none{"--until-end", "--insecure-seed", "7", "--set", "moments.stages=[]"};
  const CommandResult result = world.run(with(none));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(world.releases().back().find("grow"), std::string::npos) << world.releases().back();

  const AttachWorld other;
  other.write(AttachWorld::values(records));
  ASSERT_EQ(other.run(with({"--until-end", "--insecure-seed", "7"})).code, 0);
  const CommandResult later = other.run(with({"--until-end", "--insecure-seed", "7", "--new-epoch", "--set",
                                              "release.moments=true", "--set", "moments.memory=1000"}));
  EXPECT_EQ(later.code, 0) << later.err;
}

TEST(AttachMeasured, AStateThatWillNotFitItsTopicIsFoundOutBeforeAnythingIsSpent) {
  const AttachWorld world;
  world.write(AttachWorld::values(records));
  const std::string small = world.name() + ".small";
  create_topic(world.direct(), small, 1, {{"cleanup.policy", "compact"}, {"max.message.bytes", "4000"}});
  const CommandResult result = world.run(with({"--set", "kafka.state_topic=\"" + small + "\"", "--until-end"}));
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a state has up to"));
  EXPECT_TRUE(spends(world).empty());
}

// Whoever goes on measures nothing again, which would be under other noise.
TEST(AttachMeasured, KilledAtEveryBoundaryItHasMeasuredOnce) {
  const std::vector<std::string> values = AttachWorld::values(records);
  const std::vector<std::string> options =
      with({"--until-end", "--set", "kafka.group_instance_id=\"one\"", "--set", "kafka.transaction_seconds=6"});
  for (const std::string_view place : journal::topic_failpoints) {
    if (place == "after-abort-transaction") continue;  // no transaction aborts here
    for (const int passage : {1, 2, 3}) {
      SCOPED_TRACE(std::string(place) + ":" + std::to_string(passage));
      const AttachWorld world;
      world.write(values);
      const CommandResult killed =
          run_command(NUSTREAM_FAULTY, world.attach(options), {},
                      {"NUSTREAM_FAILPOINT=" + std::string(place) + ":" + std::to_string(passage)});
      // The lane is taken over twice, to measure and to run. A batch publishes what the one before released.
      const bool passed = passage < 3 || (place != "after-init-transactions" && place != "after-read-state");
      if (passed) {
        EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
      }
      const CommandResult finished = world.run(options);
      ASSERT_EQ(finished.code, 0) << finished.err;
      expect_measured_once(world, records / 100);
      expect_one_value_a_step(world.releases_uncommitted());
      expect_each_step_once(world.releases());
    }
  }
}

// Both instances come at once, and only one can commit; the other takes what is there.
TEST(AttachMeasured, OfSeveralInstancesOneMeasures) {
  const AttachWorld world(2);
  const std::vector<std::string> options =
      with({"-X", "session.timeout.ms=6000", "--set", "state.commit_seconds=0.1"});
  Command first(NUSTREAM_COMMAND, world.attach(options));
  Command second(NUSTREAM_COMMAND, world.attach(options));
  world.write(AttachWorld::values(records - 100), 0);
  world.write(AttachWorld::values(1000, 3), 1);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_TRUE(spends(world, 0).empty()) << "the first 2000 records are waited for";
  EXPECT_TRUE(spends(world, 1).empty()) << "and no lane begins before they were measured";
  world.write(AttachWorld::values(100, 2), 0);
  wait_until([&] { return ledger_end(world, 0).steps == records / 100 && ledger_end(world, 1).steps == 10; });
  for (Command* service : {&first, &second}) {
    service->signal(SIGTERM);
    EXPECT_EQ(service->wait().code, 0);
  }
  expect_measured_once(world, records / 100);
  const std::vector<Spend> other = spends(world, 1);
  ASSERT_EQ(other.size(), 1U) << "its records pay nothing for the measuring";
  EXPECT_EQ(other[0].epoch, 0U);
  // Both lanes have one model: the same units and bounds, and the same digest but for the rule of where an epoch
  // begins.
  EXPECT_EQ(publish::read_release(world.releases(0).back())->model,
            publish::read_release(world.releases(1).back())->model);
}

TEST(AttachMeasured, ARestartUnderOtherSettingsIsRefused) {
  const AttachWorld world;
  world.write(AttachWorld::values(records));
  ASSERT_EQ(world.run(with({"--until-end"})).code, 0);
  const CommandResult other = world.run(with({"--until-end", "--set", "ranges.share=0.3"}));
  EXPECT_EQ(other.code, 65);
  EXPECT_THAT(other.err, HasSubstr("were measured under a different configuration"));
  world.write(AttachWorld::values(200, 2));
  ASSERT_EQ(world.run(with({"--until-end"})).code, 0);
  EXPECT_EQ(spends(world).size(), 2U);
  EXPECT_EQ(ledger_end(world).steps, records / 100 + 2);
}

TEST(AttachMeasured, RefusesBeforeItSpends) {
  const AttachWorld world;
  world.write(AttachWorld::values(records - 1));
  const CommandResult few = world.run(with({"--until-end"}));
  EXPECT_EQ(few.code, 78);
  EXPECT_THAT(few.err, HasSubstr("partition 0 holds only 1999 records before kafka.stop"));
  const CommandResult poor = world.run(with({"--until-end", "--set", "privacy.rho=1e-3"}));
  EXPECT_EQ(poor.code, 78);
  EXPECT_THAT(poor.err, HasSubstr("nothing is spent"));
  const CommandResult capped = world.run(with({"--until-end", "--set", "privacy.budget=1"}));
  EXPECT_EQ(capped.code, 73);
  EXPECT_TRUE(spends(world).empty());
  EXPECT_TRUE(world.committed(world.name() + ".state").empty());
}

// The same for a descent, with all of its settings that may be measured.
TEST(AttachMeasured, MeasuresStepSizeNoiseAndClampsAsAReplayDoes) {
  const AttachWorld world;
  const std::vector<std::string> values = AttachWorld::values(records);
  world.write(values);
  std::vector<std::string> measured{"--set", "privacy.rho=200", "--set", "ranges.records=2000"};
  for (const char* key : {"descent.step_size", "descent.clip_norm", "descent.start", "noise.nu", "features.0.clamp",
                          "features.0.center", "features.0.scale", "target.clamp"}) {
    measured.insert(measured.end(), {"--set", std::string(key) + "=private"});
  }
  std::vector<std::string> arguments = measured;
  arguments.insert(arguments.end(), {"--until-end", "--insecure-seed", "7"});
  const CommandResult result = world.run(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* key : {"descent.step_size = ", "noise.nu = ", "features.0.clamp = ", "target.clamp = "}) {
    EXPECT_THAT(result.err, HasSubstr(key));
  }
  measured.emplace_back("--quiet");
  EXPECT_EQ(without_digest(joined(world.releases())), without_digest(replayed(world, values, 7, 0, measured)));
  const std::vector<Spend> found = spends(world);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].to, records);
  EXPECT_NEAR(found[0].rho, 40, 1e-9);
}

/// Settings of a descent that are measured.
std::vector<std::string> by_user(std::uint64_t records_measured, std::vector<std::string> more) {
  const std::vector<std::string> measured{
      "--set", "descent.clip_norm=private", "--set", "descent.start=private",
      "--set", "features.0.center=private", "--set", "features.0.scale=private",
      "--set", "target.center=private",     "--set", "target.scale=private",
      "--set", "privacy.rho=200",           "--set", "ranges.records=" + std::to_string(records_measured)};
  more.insert(more.begin(), measured.begin(), measured.end());
  return more;
}

std::string measured_values(const std::string& release) {
  simdjson::dom::parser parser;
  std::string values;
  const simdjson::dom::object measured = parser.parse(release)["measured"].get_object();
  for (const auto& [key, value] : measured) {
    if (key != "digest") values += std::string(key) + "=" + simdjson::to_string(value) + "\n";
  }
  return values;
}

// By user: the other lane has the values of lane 0, which are those of a replay of its partition as it was recorded.
TEST(AttachMeasuredByUser, PublishesTheValuesThatAReplayOfTheRecordingPublishes) {
  const AttachUsersWorld world(2, "@key");
  const std::vector<std::string> values = AttachUsersWorld::values_of_users(4000);
  world.write_keyed(values);
  const std::size_t of_lane = world.values_of_lane(values, 0).size();
  const std::vector<std::string> settings = by_user(of_lane, {"--insecure-seed", "7"});
  std::vector<std::string> until_end = settings;
  until_end.emplace_back("--until-end");
  const CommandResult attached = world.run(until_end);
  ASSERT_EQ(attached.code, 0) << attached.err;
  const std::string recording = (world.folder().path() / "recorded").string();
  const CommandResult recorded =
      run_command(NUSTREAM_COMMAND, {"record", world.config(), "--to-folder", recording, "--until-end"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  const std::string state = (world.folder().path() / "as_recorded").string();
  std::vector<std::string> replay{"replay",  world.config(), recording + "/partition-0.segment",
                                  "--quiet", "--set",        "state.directory=\"" + state + "\""};
  replay.insert(replay.end(), settings.begin(), settings.end());
  const CommandResult replayed = run_command(NUSTREAM_COMMAND, replay);
  ASSERT_EQ(replayed.code, 0) << replayed.err;
  const std::string lines = read_file(state + "/releases.jsonl");
  const std::string found = measured_values(lines.substr(0, lines.find('\n')));
  EXPECT_THAT(found, HasSubstr("descent.clip_norm="));
  for (const int lane : {0, 1}) {
    for (const std::string& release : world.releases(lane)) EXPECT_EQ(measured_values(release), found) << lane;
  }
  EXPECT_GE(expect_same_estimates(world.releases(0), lines), 10U);
  // Lane 0 has spent both parts, and the other lane the rest alone; the replay has spent what lane 0 has.
  const std::vector<Spend> zero = spends(world, 0);
  ASSERT_EQ(zero.size(), 2U);
  EXPECT_NEAR(zero[0].rho, 40, 1e-9);
  EXPECT_EQ(zero[0].to, of_lane);
  EXPECT_EQ(spends(world, 1).size(), 1U);
  const auto last = publish::read_release(world.releases(0).back()).value();
  EXPECT_NEAR(last.rho_ledger, last.rho + 40, 1e-9);
  EXPECT_LE(last.rho_ledger, 200);
  EXPECT_THAT(values_of(world.committed(world.name() + ".ledger", 0)).front(),
              HasSubstr(R"("protects":"user","participations":1,"separation":1,"counts":false,)"));
  const auto other = publish::read_release(world.releases(1).back()).value();
  EXPECT_NEAR(other.rho_ledger, other.rho, 1e-9);
  const auto of_replay = publish::read_release(lines.substr(lines.rfind('\n', lines.size() - 2) + 1)).value();
  EXPECT_NEAR(of_replay.rho_ledger, last.rho_ledger, 1e-9);
}

// A user's counts go on where the process was stopped, behind a measuring as anywhere.
TEST(AttachMeasuredByUser, IsMeasuredOnceWhateverComesAfter) {
  const AttachUsersWorld world;
  world.write(AttachUsersWorld::values_of_users(2500));
  const std::vector<std::string> settings = by_user(2000, {"--until-end"});
  ASSERT_EQ(world.run(settings).code, 0);
  world.write(AttachUsersWorld::values_of_users(500, 2));
  const CommandResult again = world.run(settings);
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(spends(world).size(), 2U);
  world.write(AttachUsersWorld::values_of_users(300, 3));
  std::vector<std::string> anew = settings;
  anew.insert(anew.end(), {"--new-epoch", "--set", "descent.step_size=0.02"});
  EXPECT_EQ(world.run(anew).code, 0);
  EXPECT_EQ(spends(world).size(), 3U);
  expect_one_value_a_step(world.releases_uncommitted());
  const auto last = publish::read_release(world.releases().back()).value();
  EXPECT_LE(last.rho_ledger, 200) << "counts carry over between the epochs of steps, and the measuring is beside";
}

// The noisy share alone decides that. The spend is in the ledger, and another start does not try again.
TEST(AttachMeasured, StopsWhereHardlyAnythingIsUsableAndChargesItOnce) {
  const AttachWorld world;
  world.write(std::vector<std::string>(records, "no,numbers"));
  for (int start = 0; start < 2; ++start) {
    const CommandResult result = world.run(with({"--until-end"}));
    EXPECT_EQ(result.code, 65);
    EXPECT_THAT(result.err, HasSubstr("hardly any usable"));
    const std::vector<Spend> found = spends(world);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found[0].rho, 4, 1e-9);
    EXPECT_TRUE(world.releases().empty());
  }
}

}  // namespace
}  // namespace nustream::tests
