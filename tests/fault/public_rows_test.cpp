// Public instruments and regressors with a private target (IV paper, Algorithm 3), end to end. The first stage takes
// steps without noise, so that no target may move it, whatever the target's text does to its line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "engine/table_design.h"
#include "journal/disk.h"
#include "journal/state_record.h"
#include "nustream/lane/lane.h"
#include "recording/segment_writer.h"
#include "stored_message.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t records = 600;

std::string config_text(const std::string& more = "") {
  return R"([stream]
name = "public"
input = "rows"
record_bytes_max = 1000
)" + more +
         R"([target]
column = "y"
[[features]]
column = "w"
[[instruments]]
column = "z"
[[endogenous]]
column = "x"
[descent]
step_size = 0.05
clip_norm = 2
[first_stage]
step_size = 0.05
private = false
[privacy]
protects = "target"
rho = 1
delta = 1e-6
[noise]
nu = 0.01
[estimate]
steps = 20
)";
}

/// z, w and x of every record; some rows are bad by themselves.
std::vector<std::string> public_parts() {
  std::mt19937_64 bits(8);
  std::normal_distribution<double> normal;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < records; ++i) {
    const double z = normal(bits), w = normal(bits);
    parts.push_back(i % 50 == 49 ? "1,\"2,none" : fmt::format("{:.4f},{:.4f},{:.4f}", z, w, z + w + normal(bits)));
  }
  return parts;
}
std::vector<std::string> ordinary_targets() {
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < records; ++i) targets.push_back(fmt::format(",{}", i % 7));
  return targets;
}
std::vector<std::string> hostile_targets() {
  const std::vector<std::string> kinds{",12,5",
                                       ",\"open",
                                       "",
                                       ",",
                                       ",5\"",
                                       ",\xff",
                                       ",\"a\",\"b\"",
                                       ",,,,,,,,",
                                       ",none",
                                       ",1e999",
                                       ",{}",
                                       ",\"5\"",
                                       "," + std::string(1, '\0'),
                                       "," + std::string(2000, '9'),
                                       "," + std::string(600'000, '"')};
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < records; ++i) targets.push_back(i % 5 == 0 ? kinds[i / 5 % kinds.size()] : ",3");
  return targets;
}
std::vector<std::string> lines_of(const std::vector<std::string>& targets) {
  std::vector<std::string> lines = public_parts();
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += targets[i];
  return lines;
}
std::string csv(const std::vector<std::string>& lines) {
  std::string text = "z,w,x,y\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
std::string segment(const std::vector<std::string>& lines) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "0.segment").string();
  const auto disk = journal::posix_disk();
  auto writer = recording::SegmentWriter::create(*disk, path, {.topic = "t", .cluster = "c"});
  const std::vector<StoredMessage> stored = values_from(0, lines);
  auto messages = views(stored);
  for (const decode::Message& message : messages.messages()) writer.add(message);
  writer.finish(writer.next());
  return read_file(path);
}

/// The lane's parameters once the command is through, taken from its state: the second stage's, then the first's.
struct Fitted {
  std::vector<double> second;
  std::vector<double> first;
};
Fitted fit(const std::string& command, const std::string& config_text, const std::string& input) {
  const TemporaryFolder folder;
  folder.write("rows", input);
  const std::string file = folder.write("public.toml", config_text);
  const std::string directory = (folder.path() / "state").string();
  const CommandResult result = run_command(
      NUSTREAM_COMMAND, {command, file, "--quiet", "--insecure-seed", "3", "--set", "state.directory=" + directory});
  EXPECT_EQ(result.code, 0) << result.err;
  const bool table = command == "estimate";
  config::Config config = config::read_config(file, {}, table ? config::Purpose::table : config::Purpose::stream);
  const config::Mechanism mechanism = [&] {
    if (!table) return make_mechanism(config, privacy::Participation::once());
    const engine::TableDesign design = engine::settle_design(config, records);
    return make_mechanism(config, design.participation(), StepCount{design.steps});
  }();
  const journal::State state =
      journal::open_state(secrets::Keyring::insecure(3), read_file(folder.path() / "state" / "state"));
  const lane::Lane lane = lane::Lane::decode(config.descent, mechanism.grids, state.record.lane);
  const std::span<const double> theta = lane.theta();
  constexpr std::size_t second = 3;  // intercept, w and x
  return {{theta.begin(), theta.begin() + second}, {theta.begin() + second, theta.end()}};
}

void expect_first_stage_alike(const Fitted& ordinary, const Fitted& hostile) {
  ASSERT_EQ(ordinary.first.size(), 3U);
  EXPECT_EQ(hostile.first, ordinary.first);
  EXPECT_NE(hostile.second, ordinary.second);
  EXPECT_TRUE(std::all_of(ordinary.first.begin(), ordinary.first.end(), [](double value) { return value != 0; }));
}

TEST(PublicRowsEndToEnd, NoTargetOfAStreamMovesTheFirstStage) {
  expect_first_stage_alike(fit("replay", config_text(), csv(lines_of(ordinary_targets()))),
                           fit("replay", config_text(), csv(lines_of(hostile_targets()))));
}

TEST(PublicRowsEndToEnd, NoTargetOfATableMovesTheFirstStage) {
  expect_first_stage_alike(fit("estimate", config_text(), csv(lines_of(ordinary_targets()))),
                           fit("estimate", config_text(), csv(lines_of(hostile_targets()))));
}

// The records are decoded as `attach` does it, so that a value may hold line breaks, too.
TEST(PublicRowsEndToEnd, NoTargetOfARecordedTopicMovesTheFirstStage) {
  const std::string config = config_text("columns = [\"z\", \"w\", \"x\", \"y\"]\nheader = false\n");
  std::vector<std::string> hostile = lines_of(hostile_targets());
  for (std::size_t i = 2; i < hostile.size(); i += 10) hostile[i] += i % 20 == 2 ? "\n7" : "\n\n";
  expect_first_stage_alike(fit("replay", config, segment(lines_of(ordinary_targets()))),
                           fit("replay", config, segment(hostile)));
}

TEST(PublicRowsEndToEnd, AreRefusedWhereATargetCouldMoveThem) {
  const auto refused = [](const std::string& rows, const std::string& more, const std::vector<std::string>& options,
                          const char* why, const char* command = "replay") {
    const TemporaryFolder folder;
    folder.write("rows", rows);
    std::vector<std::string> arguments{command, folder.write("public.toml", config_text(more))};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    EXPECT_EQ(result.code, 78) << why;
    EXPECT_THAT(result.err, HasSubstr(why));
  };
  const std::string directory = "state.directory=/nonexistent/state";
  refused("z,y,w,x\n1,2,3,4\n", "", {"--set", directory}, "'y' is not the last in the header");
  refused("z,w,x,y,more\n1,2,3,4,5\n", "", {"--set", directory}, "'y' is not the last in the header");
  for (const char* command : {"check", "replay", "estimate"}) {
    refused("{}\n", "format = \"jsonl\"\n", {}, "decides how the rest of its object is read", command);
    refused("1,2,3,4\n", "header = false\ncolumns = [\"y\", \"z\", \"w\", \"x\"]\n", {}, "last of stream.columns",
            command);
    refused("", "", {"--set", "target.column=@key"}, "decides its record's partition", command);
    refused("", "time = \"y\"\n", {}, "stream.time is the target's column", command);
  }
}

}  // namespace
}  // namespace nustream::tests
