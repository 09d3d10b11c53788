// What an attached service logs, for programs, and what it reads again when it is told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

#include "attach_promise.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

struct Line {
  std::string event;
  std::string level;
  std::string message;
  std::map<std::string, std::uint64_t> numbers;
};

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  simdjson::dom::parser parser;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one);) {
    const simdjson::dom::object read = parser.parse(one);
    Line line{std::string(std::string_view(read["event"])),
              std::string(std::string_view(read["level"])),
              std::string(std::string_view(read["message"])),
              {}};
    for (const auto& [key, value] : read) {
      std::uint64_t number = 0;
      if (value.get(number) == simdjson::SUCCESS) line.numbers.emplace(key, number);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

const Line& the(const std::vector<Line>& lines, const std::string& event) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.event == event; });
  if (found == lines.end()) throw std::runtime_error("no line of event " + event);
  return *found;
}

std::vector<std::string> events_of(const std::vector<Line>& lines) {
  std::vector<std::string> events;
  for (const Line& line : lines) events.push_back(line.event);
  return events;
}

TEST(AttachLog, TellsTheLifeOfALaneInJsonLines) {
  const AttachWorld world;
  world.write(AttachWorld::values(1000));
  CommandResult first = world.run({"--set", "log.format=\"json\"", "--set", "kafka.stop=400"});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::vector<Line> begun = lines_of(first.err);
  EXPECT_EQ(the(begun, "joined").level, "info");
  EXPECT_EQ(the(begun, "lane_gained").numbers,
            (std::map<std::string, std::uint64_t>{{"lane", 0}, {"epoch", 0}, {"step", 0}, {"offset", 0}}));
  EXPECT_EQ(the(begun, "lane_finished").numbers.at("exit_code"), 0U);

  CommandResult second = world.run({"--set", "log.format=\"json\"", "--set", "noise.correlation=\"anti-pgd\"",
                                    "--set", "noise.horizon=300", "--new-epoch"});
  EXPECT_EQ(second.code, 73) << second.err;
  const std::vector<Line> ended = lines_of(second.err);
  EXPECT_EQ(the(ended, "epoch_begun").numbers.at("epoch"), 1U);
  EXPECT_EQ(the(ended, "lane_gained").numbers,
            (std::map<std::string, std::uint64_t>{{"lane", 0}, {"epoch", 1}, {"step", 0}, {"offset", 400}}));
  EXPECT_EQ(the(ended, "budget_reached").level, "info");

  const CommandResult refused = world.run({"--set", "log.format=\"json\"", "--set", "kafka.topic=\"nowhere\""});
  EXPECT_NE(refused.code, 0);
  const Line last = lines_of(refused.err).back();
  EXPECT_EQ(last.event, "failed");
  EXPECT_EQ(last.level, "error");
  EXPECT_EQ(last.numbers.at("exit_code"), static_cast<std::uint64_t>(refused.code));
}

TEST(AttachLog, NamesWhoDrainsAndWhereTheNextOneGoesOn) {
  const AttachWorld world;
  for (const std::uint64_t step : {0U, 1000U}) {
    world.write(AttachWorld::values(1000));
    Command command(NUSTREAM_COMMAND, world.attach({"--set", "log.format=\"json\""}));
    wait_until([&] { return ledger_end(world).steps == step + 1000; });
    // The ledger is durable before the lane can be drained, at whatever moment this comes.
    command.signal(SIGTERM);
    const CommandResult result = command.wait();
    ASSERT_EQ(result.code, 0) << result.err;
    const std::vector<Line> lines = lines_of(result.err);
    EXPECT_THAT(events_of(lines), ::testing::Contains("lane_drained"));
    EXPECT_EQ(the(lines, "lane_gained").numbers.at("step"), step);
  }
}

TEST(AttachLog, IsOpenedAgainAndTokensAreReadAgainAtAHangup) {
  const AttachWorld world;
  const std::string log = (world.folder().path() / "log").string();
  const std::string token = world.folder().write("token", "first-token-of-operator");
  std::filesystem::permissions(token, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::string address = some_operator_address();
  Command command(NUSTREAM_COMMAND, world.attach({"--set", "log.file=\"" + log + "\"", "--set", "log.format=\"text\"",
                                                  "--set", "serve.operator_address=\"" + address + "\"", "--set",
                                                  "serve.operator_token_file=\"" + token + "\""}));
  const auto is_let_in = [&](const std::string& shown) {
    return run_command("/usr/bin/curl",
                       {"--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{http_code}",
                        "--header", "Authorization: Bearer " + shown, "http://" + address + "/metrics"})
               .out == "200";
  };
  wait_until([&] { return is_let_in("first-token-of-operator"); });
  wait_until([&] { return read_file(log).find("event=lane_gained") != std::string::npos; });
  EXPECT_FALSE(is_let_in("other-token-of-operator"));
  std::filesystem::rename(log, log + ".1");
  static_cast<void>(world.folder().write("token", "other-token-of-operator"));
  EXPECT_FALSE(is_let_in("other-token-of-operator")) << "until it is told";
  command.signal(SIGHUP);
  wait_until([&] { return is_let_in("other-token-of-operator"); });
  EXPECT_FALSE(is_let_in("first-token-of-operator"));
  wait_until([&] { return read_file(log).find("event=read_again") != std::string::npos; });

  std::filesystem::remove(token);  // a token that cannot be read again stays as it was
  command.signal(SIGHUP);
  wait_until([&] { return read_file(log).find("event=not_read_again") != std::string::npos; });
  EXPECT_TRUE(is_let_in("other-token-of-operator"));
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait().code, 0);
  EXPECT_THAT(read_file(log), ::testing::HasSubstr("event=lane_drained"));
  EXPECT_THAT(read_file(log + ".1"), ::testing::Not(::testing::HasSubstr("event=lane_drained")));
}

}  // namespace
}  // namespace nustream::tests
