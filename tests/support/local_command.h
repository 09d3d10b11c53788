// Runs `nustream local` as a child process, over a small world of records.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "command.h"
#include "local_world.h"

namespace nustream::tests {

using Lines = std::vector<std::string>;

inline Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline void expect_failure(const CommandResult& result, int code, const std::string& mentions) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_THAT(result.err, ::testing::AllOf(::testing::StartsWith("nustream: error: "), ::testing::HasSubstr(mentions),
                                           ::testing::EndsWith("\n")));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << "one line: " << result.err;
}

class Local : public ::testing::Test {
 protected:
  const LocalWorld world{400};
  simdjson::dom::parser parser;

  [[nodiscard]] CommandResult run(const std::string& command, std::vector<std::string> more,
                                  const std::optional<std::string>& input = {}) const {
    std::vector<std::string> arguments{"local", command, world.config()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(NUSTREAM_COMMAND, arguments, input);
  }
  [[nodiscard]] CommandResult randomize(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), world.path("records.csv"));
    return run("randomize", std::move(more));
  }
  /// The reports of the world's records, in a file.
  [[nodiscard]] std::string reports(std::vector<std::string> more = {}) const {
    const CommandResult result = randomize(std::move(more));
    EXPECT_EQ(result.code, 0) << result.err;
    return world.write("reports.jsonl", result.out);
  }
  simdjson::dom::element collect(std::vector<std::string> more) {
    more.emplace_back("--json");
    const CommandResult result = run("collect", std::move(more));
    EXPECT_EQ(result.code, 0) << result.err;
    return parser.parse(result.out);
  }
  static std::uint64_t count(simdjson::dom::element json, const char* pointer) {
    return json.at_pointer(pointer).get_uint64().value();
  }
  static std::vector<std::string> set(const std::string& setting) { return {"--set", setting}; }
};

}  // namespace nustream::tests
