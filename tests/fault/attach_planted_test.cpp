// A service that releases a batch in the same transaction as its state, planted on purpose: the reader of aborted
// records has to catch it, or the other tests with that reader prove nothing.
#include <gtest/gtest.h>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

bool a_step_has_two_values(const std::vector<std::string>& uncommitted) {
  simdjson::dom::parser parser;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known;
  for (const std::string& line : uncommitted) {
    const simdjson::dom::element release = parser.parse(line);
    const auto [first, is_new] =
        known.emplace(std::pair{release["epoch"].get_uint64().value(), release["step"].get_uint64().value()}, line);
    if (!is_new && first->second != line) return true;
  }
  return false;
}

std::vector<StoredRecord> timed(const std::vector<std::string>& values) {
  std::vector<StoredRecord> records;
  std::int64_t time = 1'700'000'000'000;
  for (const std::string& value : values) records.push_back({.value = value, .milliseconds = ++time});
  return records;
}

/// A run dies right before a commit; the records that it had read and not committed are others when they are read
/// again. Where anything computed from the first ones was readable, it is under the same noise as the second ones.
bool shows_two_inputs_under_one_noise(const std::string& program) {
  const AttachWorld world;
  const std::vector<std::string> settings{
      "--set", "state.commit_records=100",    "--set", "kafka.group_instance_id=\"one\"",
      "--set", "kafka.transaction_seconds=6", "--set", "release.every=10"};
  const std::vector<StoredRecord> committed = timed(AttachWorld::values(100));
  write_records(AttachWorld::direct(), world.name(), 0, committed);
  auto bounded = settings;
  bounded.insert(bounded.end(), {"--set", "kafka.stop=100"});
  const CommandResult first = run_command(program, world.attach(bounded));
  EXPECT_EQ(first.code, 0) << first.err;
  world.write(AttachWorld::values(100, 2));
  const CommandResult killed =
      run_command(program, world.attach(settings), {}, {"NUSTREAM_FAILPOINT=after-send-offsets:1"});
  EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
  delete_topic(AttachWorld::direct(), world.name());
  create_topic(AttachWorld::direct(), world.name());
  write_records(AttachWorld::direct(), world.name(), 0, committed);
  world.write(AttachWorld::values(100, 3));
  bounded.back() = "kafka.stop=200";
  const CommandResult last = run_command(program, world.attach(bounded));
  EXPECT_EQ(last.code, 0) << last.err;
  return a_step_has_two_values(world.releases_uncommitted());
}

TEST(PlantedRelease, InTheTransactionOfItsOwnStateIsCaughtByTheReaderOfAbortedRecords) {
  EXPECT_TRUE(shows_two_inputs_under_one_noise(NUSTREAM_PLANTED));
}

TEST(PlantedRelease, AndTheServiceAsItIsShowsNothing) {
  EXPECT_FALSE(shows_two_inputs_under_one_noise(NUSTREAM_FAULTY));
}

}  // namespace
}  // namespace nustream::tests
