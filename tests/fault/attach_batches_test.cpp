// Where an attached lane closes its batches, at the sizes of a real stream, and what it takes from a record whose
// time is wrong. Neither shows in the releases.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

constexpr std::size_t features = 80;
constexpr std::size_t records = 3000;

/// Makes each release some 4 kB long, and gives each step one.
void widen(AttachWorld& world) {
  std::string columns;
  std::string sections;
  for (std::size_t j = 0; j < features; ++j) {
    columns += fmt::format("\"feature_{}\", ", j);
    sections += fmt::format("[[features]]\ncolumn = \"feature_{}\"\n", j);
  }
  world.change_config({{"columns = [\"x\", \"y\"]", "columns = [" + columns + "\"y\"]"},
                       {"[[features]]\ncolumn = \"x\"\n", sections},
                       {"every = 100", "every = 1"},
                       {"step_size = 0.01", "step_size = 0.001"},
                       {"commit_records = 250", "commit_records = 1000000\ncommit_seconds = 3600"}});
}

std::vector<std::string> wide_values() {
  std::mt19937_64 bits(5);
  std::normal_distribution<double> normal;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < records; ++i) {
    std::string value;
    for (std::size_t j = 0; j < features; ++j) value += fmt::format("{:.3f},", normal(bits));
    values.push_back(value + fmt::format("{:.3f}", normal(bits)));
  }
  return values;
}

// A state holds its batch's releases, and no topic takes a record of more than max.message.bytes, which is 1 MiB
// unless it is set. The batch therefore closes at half of that, long before its count of records.
TEST(AttachBatches, CloseByTheBytesOfTheirReleases) {
  AttachWorld world;
  widen(world);
  const std::vector<std::string> values = wide_values();
  world.write(values);
  const CommandResult result = world.run({"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string releases = joined(world.releases());
  ASSERT_GT(releases.size(), std::size_t{8} << 20) << "many batches";
  std::size_t largest = 0;
  for (const StoredRecord& state : world.committed(world.name() + ".state")) {
    largest = std::max(largest, state.value.value_or("").size());
  }
  EXPECT_GT(largest, std::size_t{300'000}) << "batches of a realistic size";
  EXPECT_LT(largest, std::size_t{1} << 20);
  EXPECT_EQ(ledger_end(world).steps, records);
  EXPECT_TRUE(releases == replayed(world, values, 7)) << "a border of batches shows";
  expect_one_value_a_step(world.releases_uncommitted());
}

// A producer's clock is content of its records: setting it to the year 2100, or to 1970, changes nothing.
TEST(RecordOfAnotherTime, ChangesNoRelease) {
  constexpr std::int64_t year_2100 = 4'102'444'800'000;
  const std::vector<std::string> values = AttachWorld::values(600);
  std::string before;
  for (const std::int64_t time : {std::int64_t{0}, year_2100, std::int64_t{1}}) {
    SCOPED_TRACE(time);
    AttachWorld world;
    world.change_config({{"name = \"" + world.name() + "\"", "name = \"one\""},
                         {"[kafka]", "[kafka]\ngroup = \"" + world.name() + "\"\nrelease_topic = \"" + world.name() +
                                         ".releases\"\nstate_topic = \"" + world.name() +
                                         ".state\"\nledger_topic = \"" + world.name() + ".ledger\""}});
    std::vector<StoredRecord> log;
    for (const std::string& value : values) log.push_back({.value = value, .milliseconds = 1'700'000'000'000});
    if (time != 0) log[250].milliseconds = time;
    write_records(AttachWorld::direct(), world.name(), 0, log);
    const CommandResult result =
        world.run({"--until-end", "--insecure-seed", "3", "--set", "stream.time=\"@timestamp\""});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(ledger_end(world).steps, 600U);
    const std::string releases = joined(world.releases());
    if (before.empty()) before = releases;
    EXPECT_TRUE(releases == before);
  }
}

}  // namespace
}  // namespace nustream::tests
