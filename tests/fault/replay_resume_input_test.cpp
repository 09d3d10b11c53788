// A resume over an input that is not the one that was read is refused, and nothing is published or cut. Rows would
// take part twice, or never, while the ledger says that each did once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "changed_streams.h"
#include "command.h"
#include "decode_rows.h"
#include "journal/disk.h"
#include "recording/segment_writer.h"
#include "replay_world.h"
#include "stored_message.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// All that a refusal must leave as it was.
std::string folder_of(const ReplayWorld& world, const std::string& state) {
  std::string all;
  for (const char* file : {"state", "ledger", "releases.jsonl"})
    all += read_file(world.path(state + "/" + file)) + "\n--\n";
  return all;
}

void expect_refused(const ReplayWorld& world, const std::vector<std::string>& resume, const std::string& state,
                    const std::string& what) {
  const std::string before = folder_of(world, state);
  const CommandResult result = world.run(resume, state);
  EXPECT_EQ(result.code, 65) << what << ": " << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("record"), HasSubstr("input"))) << what;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << what << ": " << result.err;
  EXPECT_TRUE(folder_of(world, state) == before) << what << ": the folder has changed";
}

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TEST(ResumedInput, IsRefusedWhereItIsAnotherOne) {
  const ReplayWorld world(3000);
  const std::string csv = read_file(world.path("rows.csv"));
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  for (const ChangedStream& change : changes(csv)) {
    world.write("rows.csv", change.csv);
    expect_refused(world, {"--resume"}, "state", change.name);
  }
  world.write("rows.csv", csv);
  EXPECT_EQ(world.run({"--resume"}).code, 0);
}

// What the new epoch reads counts in the ledger as disjoint from what was read before; with --from it is charged
// again.
TEST(NewEpochBehind, IsRefusedOverAnotherInput) {
  const ReplayWorld world(3000);
  const std::string csv = read_file(world.path("rows.csv"));
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  for (const ChangedStream& change : changes(csv)) {
    world.write("rows.csv", change.csv);
    expect_refused(world, {"--new-epoch"}, "state", change.name);
  }
  const CommandResult piped =
      run_command(NUSTREAM_COMMAND, world.replay({"-", "--new-epoch", "--to", "1500"}), world.write("b.csv", csv));
  EXPECT_EQ(piped.code, 0) << piped.err;
  world.write("rows.csv", changes(csv).front().csv);
  EXPECT_EQ(world.run({"--new-epoch", "--from", "0"}).code, 0);
}

// Ordinals of another input say nothing about what was read before. What was read is charged as the sum, and so is
// all that comes after it.
TEST(NewEpochFrom, BehindWhatWasReadIsDisjointOverTheSameInputAlone) {
  const auto total = [](const ReplayWorld& world) {
    const CommandResult result = run_command(NUSTREAM_COMMAND, {"inspect", world.path("state"), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    simdjson::dom::parser parser;
    return parser.parse(result.out)["total_rho"].get_double().value();
  };
  const ReplayWorld same(3000);
  ASSERT_EQ(same.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(same.run({"--new-epoch", "--from", "1200", "--to", "1500"}).code, 0);
  EXPECT_NEAR(total(same), 0.5, 1e-9);
  ASSERT_EQ(same.run({"--new-epoch"}).code, 0);
  EXPECT_NEAR(total(same), 0.5, 1e-9);

  const ReplayWorld prepended(3000);
  const std::vector<std::string> lines = lines_of(read_file(prepended.path("rows.csv")));
  ASSERT_EQ(prepended.run({"--to", "1000"}).code, 0);
  std::vector<std::string> more(lines.begin() + 2000, lines.end());
  more.insert(more.end(), lines.begin(), lines.end());
  prepended.write("rows.csv", joined(more));
  ASSERT_EQ(prepended.run({"--new-epoch", "--from", "1000", "--to", "2000"}).code, 0);
  EXPECT_NEAR(total(prepended), 1.0, 1e-9) << "they were read before";
  ASSERT_EQ(prepended.run({"--new-epoch"}).code, 0);
  EXPECT_NEAR(total(prepended), 1.5, 1e-9) << "and where they stand is not known any more";

  const ReplayWorld piped(3000);
  ASSERT_EQ(piped.run({"--to", "1000"}).code, 0);
  const CommandResult result =
      run_command(NUSTREAM_COMMAND, piped.replay({"-", "--new-epoch", "--from", "1000"}), piped.path("rows.csv"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NEAR(total(piped), 1.0, 1e-9) << "a pipe is read once: nobody has looked";
}

TEST(ResumedInput, MayHaveGrownAtItsEndOrLostItsLastNewline) {
  const ReplayWorld world(1500);
  const std::string csv = read_file(world.path("rows.csv"));
  const std::vector<std::string> lines = lines_of(csv);
  ASSERT_EQ(world.run({"--insecure-seed", "5"}, "whole").code, 0);
  std::string part = joined({lines.begin(), lines.begin() + 1000});
  part.pop_back();
  world.write("rows.csv", part);
  ASSERT_EQ(world.run({"--insecure-seed", "5"}, "halves").code, 0);
  world.write("rows.csv", csv);
  const CommandResult result = world.run({"--insecure-seed", "5", "--resume"}, "halves");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(world.releases("halves"), HasSubstr("\"step\":1500"));
}

// The same records are the same input, whether they are compressed anew, come from standard input or from several
// files.
// What a file looks like by its records may keep a stream from beginning, and never ends one that has begun.
TEST(ResumedInput, MayHoldAFileThatLooksLikeAnotherKind) {
  const ReplayWorld world(300);
  const std::string rows = ReplayWorld::csv(300);
  world.write("day1.csv", rows.substr(rows.find('\n') + 1));
  world.write("day2.csv", "[\n{\"x\": 1},\n{\"y\": 2}\n]\n");
  const auto over = [](const char* files, std::vector<std::string> more = {}) {
    for (const std::string& setting : {std::string("stream.header=false"), std::string(R"(stream.columns=["x","y"])"),
                                       std::string("stream.input=") + files}) {
      more.push_back("--set");
      more.push_back(setting);
    }
    return more;
  };
  const CommandResult fresh = world.run(over(R"(["day1.csv","day2.csv"])"));
  EXPECT_EQ(fresh.code, 65);
  EXPECT_THAT(fresh.err, HasSubstr("day2.csv' is a JSON array"));
  EXPECT_FALSE(std::filesystem::exists(world.path("state/releases.jsonl")));
  ASSERT_EQ(world.run(over(R"(["day1.csv"])")).code, 0);
  const CommandResult more = world.run(over(R"(["day1.csv","day2.csv"])", {"--resume", "--json"}));
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_THAT(more.out, HasSubstr("\"steps\":304,"));
}

TEST(ResumedInput, IsKnownHoweverItIsStored) {
  const ReplayWorld world(3000);
  const std::string csv = read_file(world.path("rows.csv"));
  const std::vector<std::string> lines = lines_of(csv);
  const std::vector<std::string> stored{world.write("a.csv.gz", gzip(csv)), world.write("a.csv.zst", zstd(csv)),
                                        world.write("a.csv", csv)};
  const std::vector<std::string> halves{world.write("0.csv", joined({lines.begin(), lines.begin() + 400})),
                                        world.write("1.csv", joined({lines.begin() + 400, lines.end()}))};
  for (const std::string& first : stored) {
    const std::string state = "state-of" + std::to_string(&first - stored.data());
    ASSERT_EQ(world.run({first, "--to", "1000"}, state).code, 0);
    for (const ChangedStream& change : changes(csv)) {
      expect_refused(world, {world.write("b.csv.gz", gzip(change.csv)), "--resume"}, state, change.name);
      expect_refused(world, {world.write("b.csv.zst", zstd(change.csv)), "--resume"}, state, change.name);
      const std::string before = folder_of(world, state);
      const CommandResult piped =
          run_command(NUSTREAM_COMMAND, world.replay({"-", "--resume"}, state), world.write("b.csv", change.csv));
      EXPECT_EQ(piped.code, 65) << change.name << ": " << piped.err;
      EXPECT_TRUE(folder_of(world, state) == before) << change.name;
    }
    ASSERT_EQ(world.run({stored[0], "--resume", "--to", "1100"}, state).code, 0);
    ASSERT_EQ(world.run({stored[1], "--resume", "--to", "1200"}, state).code, 0);
    ASSERT_EQ(run_command(NUSTREAM_COMMAND, world.replay({"-", "--resume", "--to", "1300"}, state), stored[2]).code,
              0);
    ASSERT_EQ(world.run({halves[0], halves[1], "--resume"}, state).code, 0);
    expect_refused(world, {halves[1], halves[0], "--resume"}, state, "files in another order");
  }
}

// Marks are taken at commits, and some of them stay for ever. A change anywhere in what was read is found if it moves
// as many records as there are between two commits.
TEST(ResumedInput, IsMarkedAllAlong) {
  const ReplayWorld world(4000);
  const std::string csv = read_file(world.path("rows.csv"));
  ASSERT_EQ(world.run({"--to", "250"}).code, 0);
  for (int to = 500; to <= 3000; to += 250) ASSERT_EQ(world.run({"--resume", "--to", std::to_string(to)}).code, 0);
  const std::vector<std::string> lines = lines_of(csv);
  for (const std::ptrdiff_t from : {100, 900, 1700, 2300}) {
    std::vector<std::string> shifted = lines;
    std::rotate(shifted.begin() + from, shifted.begin() + from + 1, shifted.begin() + from + 600);
    world.write("rows.csv", joined(shifted));
    expect_refused(world, {"--resume"}, "state", "shifted from " + std::to_string(from));
  }
  world.write("rows.csv", csv);
  EXPECT_EQ(world.run({"--resume"}).code, 0);
}

// Of 127 records 64 were stepped, and the others wait for their minibatch. The 64th is the last one that is marked,
// whether or not the input ended there.
TEST(ResumedInput, IsMarkedWhereRecordsWaitForTheirMinibatch) {
  const std::vector<std::string> settings{"--set", "descent.minibatch=64"};
  for (const bool ended : {true, false}) {
    const ReplayWorld world(164);
    const std::string csv = read_file(world.path("rows.csv"));
    std::vector<std::string> lines = lines_of(csv);
    if (ended) world.write("rows.csv", joined({lines.begin(), lines.begin() + 127}));
    ASSERT_EQ(world.run(with(settings, {"--to", "127"})).code, 0);
    std::swap(lines[63], lines[64]);
    world.write("rows.csv", joined(lines));
    expect_refused(world, with(settings, {"--resume"}), "state", "swapped across the position");
    world.write("rows.csv", csv);
    EXPECT_EQ(world.run(with(settings, {"--resume"})).code, 0);
  }
}

// A record that is longer than any buffer is marked by its beginning, wherever the buffers end.
TEST(ResumedInput, MayHoldRecordsThatAreTooLong) {
  const ReplayWorld world(10);
  const std::string rest = ReplayWorld::csv(20).substr(std::string_view("x,y\n").size());
  const auto stream = [&](char beginning, char end) {
    const std::string line(400'000, 'z');
    return "x,y\n" + (beginning + line + end) + "\n" + rest + (beginning + line + end) + "\n" + rest;
  };
  const std::vector<std::string> settings{"--set", "stream.record_bytes_max=1000"};
  world.write("rows.csv", stream('a', 'a'));
  ASSERT_EQ(world.run(with(settings, {"--to", "22"})).code, 0);
  world.write("rows.csv", stream('b', 'a'));
  expect_refused(world, with(settings, {"--resume"}), "state", "another beginning");
  world.write("rows.csv", stream('a', 'b'));
  EXPECT_EQ(world.run(with(settings, {"--resume"})).code, 0) << "what no row depends on";
}

TEST(ResumedInput, MayBeARecordedSegment) {
  const ReplayWorld world(10);
  const std::vector<std::string> lines = lines_of(ReplayWorld::csv(1500));
  const auto disk = journal::posix_disk();
  const auto record = [&](const std::string& name, const std::vector<std::string>& values) {
    const std::string path = world.path(name);
    auto writer = recording::SegmentWriter::create(*disk, path, {.topic = "t", .cluster = "c", .start = 100});
    std::vector<StoredMessage> stored = values_from(100, values);
    auto messages = views(stored);
    std::size_t count = 0;
    for (const decode::Message& message : messages.messages()) {
      writer.add(message);
      if (++count % 300 == 0) writer.close_block();
    }
    writer.finish(writer.next());
    return path;
  };
  const std::vector<std::string> settings{"--set", "stream.columns=[\"x\",\"y\"]", "--set", "stream.header=false"};
  const std::string whole = record("whole", lines);
  ASSERT_EQ(world.run(with(settings, {whole, "--to", "1100"})).code, 0);
  std::vector<std::string> other = lines;
  std::rotate(other.begin() + 999, other.begin() + 1000, other.end());
  for (const std::string& changed : {record("other", other), record("cut", {lines.begin(), lines.begin() + 700}),
                                     record("shifted", {lines.begin() + 1, lines.end()})}) {
    expect_refused(world, with(settings, {changed, "--resume"}), "state", changed);
  }
  std::vector<std::string> grown = lines;
  grown.insert(grown.end(), lines.begin(), lines.begin() + 50);
  EXPECT_EQ(world.run(with(settings, {record("grown", grown), "--resume"})).code, 0);
}

// The marks have a key of their own: another key file changes nothing about them.
TEST(ResumedInput, IsKnownAfterARotation) {
  const ReplayWorld world(3000);
  const std::string csv = read_file(world.path("rows.csv"));
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  const std::string key = world.path("new.key");
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "new", key}).code, 0);
  ASSERT_EQ(run_command(NUSTREAM_COMMAND, {"key", "rotate", world.path("state"), key}).code, 0);
  const std::vector<std::string> resume{"--resume", "--set", "state.key_file=\"" + key + "\""};
  world.write("rows.csv", changes(csv).front().csv);
  expect_refused(world, resume, "state", "prepended");
  world.write("rows.csv", csv);
  EXPECT_EQ(world.run(resume).code, 0);
}

// A check that waits for a slow pipe ends by a signal, and leaves everything as it was.
TEST(ResumedInput, IsNotWaitedForThroughASignal) {
  const ReplayWorld world(3000);
  ASSERT_EQ(world.run({"--to", "1000"}).code, 0);
  ASSERT_EQ(::mkfifo(world.path("pipe").c_str(), 0600), 0);
  const std::string before = folder_of(world, "state");
  Command command(NUSTREAM_COMMAND, world.replay({world.path("pipe"), "--resume"}));
  ::usleep(200'000);
  command.signal(SIGINT);
  EXPECT_EQ(command.wait().code, 130);
  EXPECT_TRUE(folder_of(world, "state") == before);
}

}  // namespace
}  // namespace nustream::tests
