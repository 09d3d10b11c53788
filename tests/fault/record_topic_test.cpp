// The real command records topics of a real broker into folders of segments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "attach_world.h"
#include "decode/byte_source.h"
#include "kafka_support.h"
#include "segment_bytes.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using State = decode::SegmentReader::State;

// --- what was recorded -------------------------------------------------------------------------------------------

class Recording {
 public:
  explicit Recording(const AttachWorld& world, const std::string& folder = "recording")
      : world_(world), folder_(world.folder().path() / folder) {}

  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    more.insert(more.begin(), {"record", world_.config(), "--to-folder", folder_.string()});
    return more;
  }
  [[nodiscard]] CommandResult run(std::vector<std::string> more) const {
    return run_command(NUSTREAM_COMMAND, arguments(std::move(more)));
  }
  void expect_ok(std::vector<std::string> more) const {
    const CommandResult result = run(std::move(more));
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void expect_failure(std::vector<std::string> more, int code, const std::string& part) const {
    const CommandResult result = run(std::move(more));
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
  }

  [[nodiscard]] std::filesystem::path file(int partition = 0) const {
    return folder_ / ("partition-" + std::to_string(partition) + ".segment");
  }
  [[nodiscard]] SegmentContent content(int partition = 0) const { return read_segment(read_file(file(partition))); }
  [[nodiscard]] std::vector<std::string> values(int partition = 0) const {
    std::vector<std::string> values;
    for (const StoredMessage& message : content(partition).messages)
      values.push_back(message.value.value_or("(null)"));
    return values;
  }

 private:
  const AttachWorld& world_;
  std::filesystem::path folder_;
};

// Expects that the recording of a partition is what a reader of committed records finds there.
void expect_all_of(const AttachWorld& world, const Recording& recording, int partition = 0) {
  const std::vector<StoredRecord> expected = read_committed_records(world.direct(), world.name(), partition);
  const SegmentContent content = recording.content(partition);
  ASSERT_TRUE(content.header);
  ASSERT_EQ(content.state, State::end);
  ASSERT_EQ(content.messages.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const StoredMessage& message = content.messages[i];
    ASSERT_EQ(message.offset, static_cast<std::uint64_t>(expected[i].offset));
    ASSERT_EQ(message.key, expected[i].key);
    ASSERT_EQ(message.value, expected[i].value);
    ASSERT_EQ(message.headers, expected[i].headers);
    ASSERT_EQ(message.milliseconds, expected[i].milliseconds);
  }
}

// Expects that the recording of a partition, replayed as its lane, gives the lane's committed releases, byte for
// byte.
void expect_replayed_as_attached(const AttachWorld& world, const Recording& recording, int lane,
                                 const std::vector<std::string>& more) {
  const std::string state = (world.folder().path() / ("replayed-" + std::to_string(lane))).string();
  std::vector<std::string> arguments{"replay", world.config(), recording.file(lane).string(),      "--insecure-seed",
                                     "7",      "--set",        "state.directory=\"" + state + "\""};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult replayed = run_command(NUSTREAM_COMMAND, arguments);
  ASSERT_EQ(replayed.code, 0) << replayed.err;
  std::string releases;
  for (const std::string& line : world.releases(lane)) releases += line + "\n";
  EXPECT_GT(releases.size(), 5000U);
  EXPECT_TRUE(read_file(std::filesystem::path(state) / "releases.jsonl") == releases) << "lane " << lane;
}

std::vector<std::string> numbers(int from, int to) {
  std::vector<std::string> values;
  for (int i = from; i < to; ++i) values.push_back(std::to_string(i));
  return values;
}

// The records of the bundled stream, without the header.
std::vector<std::string> retail_lines() {
  const auto source =
      decode::open_source(std::string(NUSTREAM_ROOT_DIR) + "/examples/retail/online_retail_events.csv.gz");
  std::string text;
  std::vector<char> buffer(1 << 20);
  for (bool end = false; !end;) {
    const decode::ByteSource::Result result = source->read(buffer);
    text.append(buffer.data(), result.bytes);
    end = result.end;
  }
  std::istringstream in(text);
  std::vector<std::string> lines;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) lines.push_back(line);
  return lines;
}

// --- tests -------------------------------------------------------------------------------------------------------

TEST(RecordTopic, KeepsOffsetsKeysHeadersAndTimes) {
  const AttachWorld world(2);
  write_records(
      world.direct(), world.name(), 0,
      {{.key = "k", .value = "v", .headers = {{"h", "1"}, {"h", std::nullopt}, {"e", ""}}, .milliseconds = 5},
       {.key = std::nullopt, .value = std::nullopt, .headers = {}, .milliseconds = 1'700'000'000'123},
       {.key = "", .value = "", .headers = {}, .milliseconds = 1},
       {.key = std::string("\0\xff", 2), .value = std::string(500'000, '\n'), .headers = {}}});
  world.write(numbers(0, 5000), 1);
  const Recording recording(world);
  recording.expect_ok({"--until-end"});
  expect_all_of(world, recording, 0);
  expect_all_of(world, recording, 1);
  EXPECT_EQ(recording.content(0).messages[0].time_kind, decode::TimeKind::producer);
  EXPECT_EQ(recording.content(1).messages.size(), 5000U);
  const decode::SegmentReader reader(std::make_unique<TextSource>(read_file(recording.file(1))), "bytes");
  EXPECT_EQ(reader.header(), (decode::SegmentHeader{world.name(), "bnVzdHJlYW0tdGVzdHMtMQ", 1, 0, 5000}));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(recording.file()).permissions(), perms::owner_read | perms::owner_write);
}

// The promise: the replay of a recorded topic is the topic attached, at every step.
TEST(RecordTopic, ReplayedItGivesTheReleasesOfTheTopicAttached) {
  const AttachWorld world(2);
  const std::vector<std::string> values = AttachWorld::values(4000);
  const auto producer = ready_producer(world.direct(), fresh_name("producer"), {world.name()});
  for (std::size_t i = 0; i < values.size(); i += 100) {  // control records and aborted ones leave gaps
    begin(*producer);
    for (std::size_t j = i; j < i + 100; ++j) produce(*producer, world.name(), values[j]);
    if (i % 700 == 0) {
      abort(*producer);
    } else {
      commit(*producer);
    }
  }
  world.write(AttachWorld::values(2500, 2), 1);
  const CommandResult attached = world.run({"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(attached.code, 0) << attached.err;
  const Recording recording(world);
  recording.expect_ok({"--until-end"});
  for (const int lane : {0, 1}) {
    expect_replayed_as_attached(world, recording, lane, {});
  }
}

// The bundled stream, as its file has it, over four partitions: every record takes its step in one of four lanes.
TEST(RecordTopic, TheRetailStreamOverFourPartitions) {
  const AttachWorld world(4);
  const std::vector<std::string> lines = retail_lines();
  ASSERT_EQ(lines.size(), 397'884U);
  for (std::size_t partition = 0; partition < 4; ++partition) {
    std::vector<std::string> part;
    for (std::size_t i = partition; i < lines.size(); i += 4) part.push_back(lines[i]);
    world.write(part, static_cast<int>(partition));
  }
  const std::vector<std::string> columns{"--set",
                                         "stream.columns=[\"ts\", \"user\", \"invoice\", \"stock\", "
                                         "\"quantity\", \"unit_price\", \"country\"]",
                                         "--set",
                                         "features.0.column=unit_price",
                                         "--set",
                                         "features.0.transform=log",
                                         "--set",
                                         "target.column=quantity",
                                         "--set",
                                         "target.transform=log",
                                         "--set",
                                         "state.commit_records=10000"};
  std::vector<std::string> more{"--until-end", "--insecure-seed", "7"};
  more.insert(more.end(), columns.begin(), columns.end());
  const CommandResult attached = world.run(more);
  ASSERT_EQ(attached.code, 0) << attached.err;
  const Recording recording(world);
  recording.expect_ok({"--until-end"});
  for (int lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(recording.content(lane).messages.size(), 397'884U / 4);
    expect_replayed_as_attached(world, recording, lane, columns);
  }
}

TEST(RecordTopic, RunsUntilASignalAndIsGoneOnWith) {
  const AttachWorld world;
  world.write(numbers(0, 100));
  const Recording recording(world);
  for (const int signal : {SIGTERM, SIGINT}) {
    Command command(NUSTREAM_COMMAND, recording.arguments(std::filesystem::exists(recording.file())
                                                              ? std::vector<std::string>{"--resume"}
                                                              : std::vector<std::string>{}));
    const std::size_t expected = signal == SIGTERM ? 100 : 200;
    wait_until([&] { return std::filesystem::exists(recording.file()) && recording.values().size() == expected; });
    command.signal(signal);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.code, signal == SIGTERM ? 0 : 130) << result.err;
    EXPECT_EQ(recording.content().state, State::end);
    world.write(numbers(100, 200));
  }
  recording.expect_failure({"--until-end"}, 65, "--resume");
  EXPECT_EQ(recording.values().size(), 200U);
}

TEST(RecordTopic, KilledAtAnyMomentItIsGoneOnWith) {
  const AttachWorld world(2);
  std::mt19937 random(1);
  const Recording recording(world);
  const int records = 100'000;
  std::vector<std::string> values = numbers(0, records);
  for (std::string& value : values) {
    for (int i = 0; i < 20; ++i) value += ',' + std::to_string(random());  // enough for several blocks
  }
  world.write(values, 0);
  world.write(values, 1);
  const auto size = [&] { return std::filesystem::exists(recording.file()) ? file_size(recording.file()) : 0; };
  int unfinished = 0;  // recordings that a kill ended in their middle
  bool done = false;
  for (int life = 0; life < 15 && !done; ++life) {
    std::vector<std::string> more{"--until-end"};
    if (std::filesystem::exists(recording.file(0))) more.emplace_back("--resume");
    Command command(NUSTREAM_COMMAND, recording.arguments(more));
    if (life < 12) {
      // Every third life ends while it starts. The others end a moment after the file grew, however slow the machine
      // is.
      const std::uintmax_t before = size();
      const std::chrono::milliseconds patience(life % 3 == 2 ? random() % 300 : 20'000);
      const auto until = std::chrono::steady_clock::now() + patience;
      while (size() == before && !command.has_ended() && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
      command.signal(SIGKILL);
    }
    done = command.wait().code == 0;
    const std::size_t so_far = std::filesystem::exists(recording.file(0)) ? recording.content(0).messages.size() : 0;
    if (!done && so_far > 0 && so_far < static_cast<std::size_t>(records)) ++unfinished;
  }
  ASSERT_TRUE(done);
  EXPECT_GE(unfinished, 2);
  expect_all_of(world, recording, 0);
  expect_all_of(world, recording, 1);
  // A finished recording stays as it is, whatever has come to the topic since.
  world.write(numbers(0, 10), 0);
  recording.expect_ok({"--resume", "--until-end"});
  EXPECT_EQ(recording.values().size(), static_cast<std::size_t>(records));
}

TEST(RecordTopic, ABrokerThatGoesAndComesBackIsWaitedFor) {
  KafkaCluster& broker = shared_broker();
  const AttachWorld world;
  world.write(numbers(0, 1000));
  const Recording recording(world);
  Command command(NUSTREAM_COMMAND, recording.arguments({"--stop", "2000"}));
  wait_until([&] { return std::filesystem::exists(recording.file()) && recording.values().size() == 1000; });
  broker.kill();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  broker.restart();
  world.write(numbers(1000, 2100));
  const CommandResult result = command.wait();
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(recording.values(), numbers(0, 2000));
  EXPECT_EQ(recording.content().state, State::end);
}

TEST(RecordTopic, StartsAndStopsAreOffsetsOrTimes) {
  const AttachWorld world;
  std::vector<StoredRecord> records;
  for (int i = 0; i < 50; ++i) {
    records.push_back({.value = std::to_string(i), .milliseconds = 1'000'000'000'000 + 1000 * i});
  }
  write_records(world.direct(), world.name(), 0, records);
  Recording(world, "a").expect_ok({"--start", "10", "--stop", "20"});
  EXPECT_EQ(Recording(world, "a").values(), numbers(10, 20));
  // 2001-09-09T01:46:40Z is second 1e9.
  const std::vector<std::string> by_time{"--start", "2001-09-09T01:46:45Z", "--stop", "2001-09-09T01:46:50Z"};
  Recording(world, "b").expect_failure(by_time, 78, "the producers' times");
  std::vector<std::string> declared = by_time;
  declared.insert(declared.end(), {"--set", "stream.times_public=true", "--set", "stream.time=@timestamp"});
  Recording(world, "c").expect_ok(declared);
  EXPECT_EQ(Recording(world, "c").values(), numbers(5, 10));
  Recording(world, "d").expect_ok({"--start", "latest", "--until-end"});
  EXPECT_TRUE(Recording(world, "d").values().empty());
  // The stop that a recording began with counts.
  Recording(world, "a").expect_ok({"--resume", "--stop", "40"});
  EXPECT_EQ(Recording(world, "a").values(), numbers(10, 20));
}

TEST(RecordTopic, TimesOfTheBrokerNeedNoDeclaration) {
  const AttachWorld world;
  const std::string topic = fresh_name("appended");
  create_topic(world.direct(), topic, 1, {{"message.timestamp.type", "LogAppendTime"}});
  write_values(world.direct(), topic, 0, numbers(0, 10));
  const Recording recording(world);
  recording.expect_ok({"-t", topic, "--start", "2001-09-09T01:46:45Z", "--until-end"});
  EXPECT_EQ(recording.values(), numbers(0, 10));
  EXPECT_EQ(recording.content().messages[0].time_kind, decode::TimeKind::broker);
  Recording(world, "later").expect_ok({"-t", topic, "--start", "2200-01-01", "--until-end"});
  EXPECT_TRUE(Recording(world, "later").values().empty());
}

TEST(RecordTopic, RecordsThatAreGoneAreNoGap) {
  const AttachWorld world;
  world.write(numbers(0, 100));
  const Recording recording(world);
  {
    Command command(NUSTREAM_COMMAND, recording.arguments({"--stop", "300"}));
    wait_until([&] { return std::filesystem::exists(recording.file()) && recording.values().size() == 100; });
    command.signal(SIGTERM);
    EXPECT_EQ(command.wait().code, 0);
  }
  world.write(numbers(100, 300));
  delete_records(world.direct(), world.name(), 0, 150);
  const std::string before = read_file(recording.file());
  recording.expect_failure({"--resume"}, 65, "offsets 100 to 149 are gone");
  EXPECT_EQ(read_file(recording.file()), before);
  // A new recording begins at the first record that is there.
  Recording(world, "other").expect_ok({"--until-end"});
  EXPECT_EQ(Recording(world, "other").values(), numbers(150, 300));
}

TEST(RecordTopic, ATopicThatWasMadeAnewIsAnotherOne) {
  const AttachWorld world;
  world.write(numbers(0, 100));
  const Recording recording(world);
  {
    Command command(NUSTREAM_COMMAND, recording.arguments({}));
    wait_until([&] { return std::filesystem::exists(recording.file()) && recording.values().size() == 100; });
    command.signal(SIGTERM);
    EXPECT_EQ(command.wait().code, 0);
  }
  delete_topic(world.direct(), world.name());
  create_topic(world.direct(), world.name());
  world.write(numbers(0, 10));
  const std::string before = read_file(recording.file());
  recording.expect_failure({"--resume", "--until-end"}, 65, "it ends at offset 10, but the recording goes on at 100");
  EXPECT_EQ(read_file(recording.file()), before);
}

TEST(RecordTopic, WhatCannotBeIsSaid) {
  const AttachWorld world;
  const Recording recording(world);
  recording.expect_failure({"-t", "nowhere"}, 78, "does not exist");
  recording.expect_failure({"-b", "127.0.0.1:9", "--set", "kafka.give_up_seconds=2"}, 69, "cannot");
  recording.expect_failure({"-X", "no.such=1"}, 78, "no.such");
  recording.expect_failure({"--stop", "soon"}, 78, "stop");
  recording.expect_failure({"--until-end", "--stop", "5"}, 64, "--stop");
  world.write(numbers(0, 10));
  Command command(NUSTREAM_COMMAND, recording.arguments({}));
  wait_until([&] { return std::filesystem::exists(recording.file()) && recording.values().size() == 10; });
  recording.expect_failure({"--resume"}, 75, "another run");
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait().code, 0);
  const auto others = std::filesystem::perms::others_write;
  std::filesystem::permissions(recording.file().parent_path(), others, std::filesystem::perm_options::add);
  recording.expect_failure({"--resume"}, 77, "writable by others");
  std::filesystem::permissions(recording.file().parent_path(), others, std::filesystem::perm_options::remove);
  const AttachWorld other;
  const CommandResult result = run_command(NUSTREAM_COMMAND, {"record", other.config(), "--resume", "--to-folder",
                                                              recording.file().parent_path().string()});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr("and not of this one"));
  EXPECT_EQ(recording.content().state, State::end);
}

}  // namespace
}  // namespace nustream::tests
