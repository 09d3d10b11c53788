// `nustream export`: releases as CSV, read back and compared with the lines that they are made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bike_columns.h"
#include "command.h"
#include "configured_command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Rows = std::vector<std::vector<std::string>>;

/// Parses CSV by RFC 4180, with quotation marks and newlines inside cells.
Rows parsed(const std::string& text) {
  Rows rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n')) {
      cell += c;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else {
      rows.push_back({""});
    }
  }
  rows.pop_back();
  return rows;
}

CommandResult exported(const std::string& place) {
  return run_command(NUSTREAM_COMMAND, {"export", place, "--csv"}, std::nullopt);
}

/// Exports a text from standard input.
CommandResult exported_text(const std::string& text) {
  const TemporaryFolder folder;
  return run_command(NUSTREAM_COMMAND, {"export", "-", "--csv"}, folder.write("input", text));
}

TEST(Export, HasOneRowForEachReleaseOfAFolder) {
  const TemporaryFolder folder;
  const std::string config = bike_columns() + R"([descent]
step_size = 0.5
clip_norm = 4
[privacy]
rho = 1
delta = [1e-6, 1e-9]
[estimate]
steps = 7
)";
  JsonOutput run = run_configured("estimate", folder, config, {});
  ASSERT_EQ(run.command.code, 0) << run.command.err;
  const std::string state = (folder.path() / "state").string();
  const CommandResult found = exported(state);
  ASSERT_EQ(found.code, 0) << found.err;
  const Rows rows = parsed(found.out);
  ASSERT_THAT(rows, SizeIs(8));
  const auto cell = [&](std::size_t row, const char* name) {
    for (std::size_t j = 0; j < rows[0].size(); ++j) {
      if (rows[0][j] == name) return rows[row].at(j);
    }
    return std::string("no such column");
  };
  std::ifstream lines(state + "/releases.jsonl");
  std::string text;
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_EQ(rows[i].size(), rows[0].size());
    std::string line;
    std::getline(lines, line);
    text += line + '\n';
    EXPECT_EQ(cell(i, "step"), std::to_string(i));
    EXPECT_THAT(line, HasSubstr("\"temp\":" + cell(i, "estimate.temp")));
    EXPECT_THAT(line, HasSubstr("\"rho\":" + cell(i, "rho") + ","));
    EXPECT_EQ(cell(i, "epsilons.1.delta"), "1e-09");
    EXPECT_EQ(cell(i, "private"), "true");
    EXPECT_EQ(cell(i, "average"), "");
  }
  // The file, and its lines on standard input, give the same.
  EXPECT_EQ(exported(state + "/releases.jsonl").out, found.out);
  EXPECT_EQ(exported_text(text).out, found.out);
}

TEST(Export, QuotesNamesAndTextsAndKeepsAllColumns) {
  const CommandResult found = exported_text(R"({"stream":"a,\"b\"","estimate":{"x,1":0.5,"line\nend":-2},"n":3}
{"stream":"plain","estimate":{"later":1e-300},"private":false,"gone":null,"n":18446744073709551615}
)");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(parsed(found.out),
              ElementsAre(ElementsAre("stream", "estimate.x,1", "estimate.line\nend", "n", "estimate.later",
                                      "private", "gone"),
                          ElementsAre("a,\"b\"", "0.5", "-2", "3", "", "", ""),
                          ElementsAre("plain", "", "", "18446744073709551615", "1e-300", "false", "")));
  EXPECT_THAT(found.out, HasSubstr("\"a,\"\"b\"\"\","));
}

TEST(Export, SaysWhichLineIsNoRelease) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mixed.jsonl", "{\"stream\":\"s\",\"estimate\":{\"x\":1}}\n{\"cut\":\n");
  const CommandResult cut = exported(file);
  EXPECT_EQ(cut.code, 65);
  EXPECT_EQ(cut.out, "");
  EXPECT_THAT(cut.err, HasSubstr("mixed.jsonl:2: this line is no release"));
  EXPECT_EQ(exported_text("").code, 65);
  EXPECT_THAT(exported_text("17\n").err, HasSubstr("standard input:1: this line is no release"));
  const CommandResult later =
      exported_text("{\"stream\":\"s\",\"estimate\":{\"x\":1}}\n{\"format\":2,\"stream\":\"s\"}\n");
  EXPECT_EQ(later.code, 65);
  EXPECT_EQ(later.out, "");
  EXPECT_THAT(later.err, HasSubstr("standard input:2: a release of format 2; this version reads format 1"));
  EXPECT_EQ(exported(folder.path().string()).code, 74);  // a folder without releases
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"export", file}, std::nullopt).code, 64);
}

}  // namespace
}  // namespace nustream::tests
