// The real command on recorded segments: it gives the same model as a file of the same records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "recording/segment_writer.h"
#include "release_text.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t rows = 3000;

class SegmentReplay : public ::testing::Test {
 protected:
  SegmentReplay() {
    std::istringstream csv(ReplayWorld::csv(rows));
    std::string line;
    std::getline(csv, line);  // skips the header
    while (std::getline(csv, line)) lines_.push_back(line);
    std::string text;
    for (const std::string& each : lines_) text += each + "\n";
    world_.write("lines.csv", text);
  }

  // A recording of `count` lines from offset `first` on, one in every `stride` offsets; with its end marker or not.
  std::string record(const std::string& name, std::uint64_t first = 0, std::uint64_t stride = 1,
                     std::size_t count = rows, bool ended = true, std::uint32_t partition = 0) {
    const std::string path = world_.path(name);
    std::filesystem::remove(path);
    const auto disk = journal::posix_disk();
    auto writer = recording::SegmentWriter::create(
        *disk, path, {.topic = "orders", .cluster = "", .partition = partition, .start = first});
    for (std::size_t i = 0; i < count; ++i) {
      decode::Message message{.offset = first + i * stride};
      message.value = lines_[i];
      message.milliseconds = 1000 * static_cast<std::int64_t>(i);
      message.time_kind = decode::TimeKind::broker;
      writer.add(message);
      if (i % 700 == 699) writer.close_block();
    }
    writer.close_block();
    if (ended) writer.finish(writer.next());
    return path;
  }

  CommandResult replay(std::vector<std::string> more, const std::string& state) {
    const std::vector<std::string> common{
        "--set", "stream.columns=[\"x\", \"y\"]", "--set", "stream.header=false", "--insecure-seed", "7", "--quiet"};
    more.insert(more.end(), common.begin(), common.end());
    return world_.run(more, state);
  }
  void expect_ok(const std::vector<std::string>& more, const std::string& state) {
    const CommandResult result = replay(more, state);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void expect_failure(const std::vector<std::string>& more, const std::string& state, int code,
                      const std::string& part) {
    const CommandResult result = replay(more, state);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
  }
  // The releases without their positions. What is left does not tell a file from a topic.
  std::string iterates(const std::string& state) {
    std::istringstream in(world_.releases(state));
    std::string out, line;
    while (std::getline(in, line)) {
      line = without_chain(line);
      const std::size_t begin = line.find("\"position\":");
      EXPECT_NE(begin, std::string::npos);
      out += line.erase(begin, line.find(',', begin) - begin) + "\n";
    }
    return out;
  }

  ReplayWorld world_;
  std::vector<std::string> lines_;
};

TEST_F(SegmentReplay, GivesTheReleasesOfAFileOfItsValues) {
  expect_ok({world_.path("lines.csv")}, "file");
  expect_ok({record("0.segment")}, "segment");
  ASSERT_GT(world_.releases("file").size(), 1000U);
  EXPECT_EQ(world_.releases("segment"), world_.releases("file"));
  // Gaps, and another start, move the positions alone.
  expect_ok({record("1.segment", 5000, 3)}, "gaps");
  EXPECT_NE(world_.releases("gaps"), world_.releases("file"));
  EXPECT_EQ(iterates("gaps"), iterates("file"));
  EXPECT_THAT(world_.releases("gaps"), HasSubstr("\"position\":" + std::to_string(5000 + 99 * 3 + 1)));
}

TEST_F(SegmentReplay, OfWhichTheEndIsMissingIsGoneOnWithOnceItIsThere) {
  expect_ok({record("whole.segment", 10, 2)}, "whole");
  const std::string path = record("growing.segment", 10, 2, 1900, false);
  expect_failure({path}, "state", 74, "before offset " + std::to_string(10 + 1899 * 2 + 1));
  record("growing.segment", 10, 2, 2500, false);
  expect_failure({path, "--resume"}, "state", 74, "before offset");
  record("growing.segment", 10, 2);
  expect_ok({path, "--resume"}, "state");
  // The ends of runs that failed leave no extra release.
  EXPECT_EQ(world_.releases("state"), world_.releases("whole"));
  // A recording that begins behind where the state goes on would leave records out.
  expect_failure({record("late.segment", 20'000), "--resume"}, "state", 65, "from offset 20000 on");
}

TEST_F(SegmentReplay, IsTheLaneOfItsPartitionUnlessAnotherIsAskedForOnPurpose) {
  const std::string path = record("3.segment", 0, 1, 200, true, 3);
  expect_failure({path, "--set", "stream.lane=2"}, "state", 65, "partition 3 of topic orders");
  expect_ok({path}, "own");
  EXPECT_THAT(world_.releases("own"), HasSubstr("\"lane\":3"));
  expect_ok({path, "--set", "stream.lane=3"}, "same");
  expect_ok({path, "--lane", "5"}, "purpose");
  EXPECT_THAT(world_.releases("purpose"), HasSubstr("\"lane\":5"));
}

TEST_F(SegmentReplay, SeveralPassesNeedEveryOffset) {
  expect_failure({record("gaps.segment", 0, 2, 100), "--passes", "2"}, "state", 65, "no record at offset 1");
  expect_ok({record("tight.segment", 1000), "--passes", "2"}, "segment");
  expect_ok({world_.path("lines.csv"), "--passes", "2"}, "file");
  EXPECT_EQ(iterates("segment"), iterates("file"));
}

TEST_F(SegmentReplay, FromAndToByOffsetAndByTime) {
  const std::string path = record("0.segment", 100, 2);
  expect_ok({path, "--from", "300", "--to", "2300"}, "offsets");
  expect_ok({path, "--from", "1970-01-01T00:01:40Z", "--to", "1970-01-01T00:18:20Z"}, "times");
  EXPECT_EQ(world_.releases("times"), world_.releases("offsets"));
  EXPECT_THAT(world_.releases("times"), HasSubstr("\"step\":1000,"));
  expect_failure({path, "--from", "50"}, "early", 65, "from offset 100 on");
}

TEST_F(SegmentReplay, DamageStopsItBehindTheSoundBlocks) {
  const std::string path = record("0.segment");
  std::string bytes = read_file(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  expect_failure({world_.write("damaged", bytes)}, "state", 65, "damaged in the block of offsets");
  EXPECT_THAT(world_.releases("state"), HasSubstr("\"step\":700,"));
}

// Offsets begin anywhere and may leave some out: an unusable record is told by its row all the same.
TEST_F(SegmentReplay, MeasuresWhatALineFileOfTheSameRecordsDoes) {
  const auto measured = [&](const std::string& input, const std::string& state) {
    const CommandResult result = world_.run(
        {input, "--set", "stream.columns=[\"x\", \"y\"]", "--set", "stream.header=false", "--insecure-seed", "7",
         "--json", "--set", "target.center=private", "--set", "target.scale=private", "--set", "privacy.rho=5"},
        state);
    EXPECT_EQ(result.code, 0) << result.err;
    const std::size_t begin = result.out.find("\"ranges\":{");
    EXPECT_NE(begin, std::string::npos) << result.out;
    return result.out.substr(begin, result.out.find('}', begin) - begin);
  };
  EXPECT_EQ(measured(record("gaps.segment", 4000, 2), "gaps"), measured(world_.path("lines.csv"), "lines"));
}

}  // namespace
}  // namespace nustream::tests
