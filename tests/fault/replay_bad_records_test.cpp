// Records that a replay cannot use: each takes a step of its own and spoils no other, and its operator is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <random>
#include <string>

#include "command.h"
#include "decode_rows.h"
#include "replay_outcome.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(BadInput, BinaryRecordsTakeZeroGradientSteps) {
  const ReplayWorld world;
  std::string bytes = "x,y\n";
  std::mt19937_64 bits(3);
  for (int i = 0; i < 20000; ++i) bytes += static_cast<char>(bits());
  bytes += '\n';
  world.write("rows.csv", bytes);
  const CommandResult result = world.run({});
  EXPECT_THAT(result.err, AllOf(HasSubstr("none of"), HasSubstr("noise alone"), HasSubstr("most often")));
  const Counts counts = counts_of(world, world.run(with_counts(world), "again"));
  EXPECT_GT(counts.steps, 10u);
  EXPECT_EQ(counts.steps, counts.rejected);
  EXPECT_EQ(counts.steps, static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n') - 1));
}

// A record that begins as a compressed file does must not end a run that has released something, or spent.
TEST(BadInput, AFileThatOnlyBeginsAsACompressedOneIsRefusedBeforeTheFirstStep) {
  const ReplayWorld world;
  std::string rows;
  for (int i = 0; i < 500; ++i) rows += "0.5,1\n";
  const std::string first = world.write("first.csv", rows);
  for (const char* magic : {"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "PK\x03\x04"}) {
    const std::string second = world.write("second.csv", magic + std::string(",1\n") + rows);
    for (const std::vector<std::string>& files : {std::vector{first, second}, std::vector{second, first}}) {
      std::vector<std::string> arguments = files;
      arguments.insert(arguments.end(), {"--set", "stream.header=false", "--set", "stream.columns=[\"x\",\"y\"]"});
      const CommandResult result = world.run(arguments);
      EXPECT_EQ(result.code, 74) << result.err;
      EXPECT_THAT(result.err, HasSubstr("second.csv"));
      EXPECT_FALSE(std::filesystem::exists(world.path("state/ledger")));
    }
  }
}

// Its first record is a whole gzip file, so that records would be read out of it before the damage shows.
TEST(BadInput, AFirstRecordThatIsACompressedFileSpendsNothing) {
  const ReplayWorld world;
  std::string rows = gzip("0.5,1\n0.5,1\n") + "\n";
  for (int i = 0; i < 500; ++i) rows += "0.5,1\n";
  const CommandResult result = world.run(
      {world.write("first.csv", rows), "--set", "stream.header=false", "--set", "stream.columns=[\"x\",\"y\"]"});
  EXPECT_EQ(result.code, 74) << result.err;
  EXPECT_FALSE(std::filesystem::exists(world.path("state/ledger")));
}

// What everybody is told about two runs over neighbours differs by noise alone; the counts are in the operator's
// file.
TEST(OperatorJson, HoldsWhatIsNotToldToEverybody) {
  const ReplayWorld world;
  const std::string file = world.path("operator.json");
  world.write("operator.json", "what was there before");
  const mode_t before = ::umask(0);
  const CommandResult result = world.run(with_counts(world, {"--set", "state.rejects=true"}));
  ::umask(before);
  const Counts counts = counts_of(world, result);
  EXPECT_GT(counts.rejected, 0U);
  for (const char* word : {"operator", "rejected", "most_often", "left_over", "used_up", "rejects", "records"}) {
    EXPECT_THAT(result.out, Not(HasSubstr(std::string("\"") + word + '"')));
  }
  const std::string told = read_file(file);
  EXPECT_THAT(told, AllOf(StartsWith("{\"private\":false,"), EndsWith("}\n"), HasSubstr("\"most_often\":\""),
                          HasSubstr("\"rejects_written\":true")));
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));
}

TEST(OperatorJson, ThatCannotBeWrittenIsToldBeforeAnythingIsSpent) {
  const ReplayWorld world;
  expect_failure(world.run({"--operator-json", world.path("missing/operator.json")}), 74, "missing/operator.json");
  EXPECT_FALSE(std::filesystem::exists(world.path("state")));
}

struct BadRecord {
  const char* name;
  std::string line;
  friend void PrintTo(const BadRecord& record, std::ostream* out) { *out << record.name; }
};
class OneBadRecord : public ::testing::TestWithParam<BadRecord> {};

// Whatever a line holds, its record takes a zero-gradient step, and its neighbours are untouched.
TEST_P(OneBadRecord, SpoilsItselfOnly) {
  const ReplayWorld world(0);
  world.write("rows.csv", "x,y\n1,2\n3,4\n" + GetParam().line + "\n5,6\n7,8\n");
  const CommandResult result = world.run(with_counts(world, {"--set", "state.rejects=true"}));
  const Counts counts = counts_of(world, result);
  EXPECT_EQ(counts.steps, 5u);
  EXPECT_EQ(counts.rejected, 1u);
  EXPECT_THAT(read_file(world.path("state/rejects.jsonl")),
              AllOf(StartsWith("{\"position\":2,\"reason\":\""), EndsWith("\"}\n")));
}
INSTANTIATE_TEST_SUITE_P(All, OneBadRecord,
                         ::testing::Values(BadRecord{"OpenQuote", "\"3,4"}, BadRecord{"Overflow", "1e999,4"},
                                           BadRecord{"NotANumber", "nan,4"}, BadRecord{"Infinity", "inf,4"},
                                           BadRecord{"Hexadecimal", "0x10,4"}, BadRecord{"DecimalComma", "1,5,4"},
                                           BadRecord{"QuotedDecimalComma", "\"1,5\",4"}, BadRecord{"Empty", ""},
                                           BadRecord{"MissingField", "3"}, BadRecord{"Text", "a,b"}),
                         [](const auto& bad) { return std::string(bad.param.name); });

TEST(BadInput, ALineOf100MegabytesIsOneBadRecordInFlatMemory) {
  const ReplayWorld world(0);
  world.write("rows.csv", "x,y\n1,2\n" + std::string(100'000'000, '7') + "\n5,6\n");
  Command command(NUSTREAM_COMMAND, world.replay(with_counts(world)));
  struct rusage before {};
  struct rusage after {};
  getrusage(RUSAGE_CHILDREN, &before);
  const Counts counts = counts_of(world, command.wait());
  getrusage(RUSAGE_CHILDREN, &after);
  EXPECT_EQ(counts.steps, 3u);
  EXPECT_EQ(counts.rejected, 1u);
#ifndef __SANITIZE_ADDRESS__  // which has memory of its own
  EXPECT_LT(after.ru_maxrss, 64 * 1024) << "KiB, the largest of any child so far";
#endif
}

// What arrived with its newline is stepped and released. What is left of a cut archive is not a record.
TEST(BadInput, ATruncatedArchiveIs74AfterItsWholeRecords) {
  const ReplayWorld world(20'000);
  const std::string csv = world.path("rows.csv");
  ASSERT_EQ(std::system(("gzip -kf " + csv + " && head -c 80000 " + csv + ".gz > " + csv + ".cut.gz").c_str()), 0);
  std::system(("gzip -dc " + csv + ".cut.gz 2>/dev/null > " + csv + ".whole").c_str());
  const std::string arrived = read_file(csv + ".whole");
  const auto records = static_cast<std::uint64_t>(std::count(arrived.begin(), arrived.end(), '\n')) - 1;
  ASSERT_GT(arrived.size(), 65'536U) << "damage before is told before the first step";
  expect_failure(world.run({csv + ".cut.gz", "--quiet"}), 74, "cut.gz");
  const CommandResult shown = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"});
  EXPECT_THAT(shown.out, HasSubstr("\"steps\":" + std::to_string(records) + ","));
}

}  // namespace
}  // namespace nustream::tests
