// Small inputs as people have them, each with its settings in tests/cases/NAME: what the command answers, word by
// word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

/// A copy of one case, in which its command may leave what it makes.
class Case {
 public:
  explicit Case(const std::string& name) {
    fs::copy(fs::path(NUSTREAM_ROOT_DIR) / "tests/cases" / name, folder_.path(), fs::copy_options::recursive);
  }

  [[nodiscard]] CommandResult run(const std::string& command, Words more = {}) const {
    more.insert(more.begin(), {command, path("t.toml"), "--set", "state.directory=" + path("run")});
    return run_command(NUSTREAM_COMMAND, more);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] bool has_begun() const { return fs::exists(path("run/state")) || fs::exists(path("run/ledger")); }

 private:
  TemporaryFolder folder_;
};

/// Expects that the case is refused with 65 and this one line before anything is charged, also without a header.
void expect_named(const std::string& name, const std::string& file, const std::string& what) {
  const Case one(name);
  const Words no_header{
      "--set", "stream.format=csv", "--set", "stream.header=false", "--set", "stream.columns=[\"id\",\"x\",\"y\"]"};
  const std::string path = one.path(file);
  std::string sentence = what;
  for (std::size_t at = sentence.find('%'); at != std::string::npos; at = sentence.find('%'))
    sentence.replace(at, 1, path);
  for (const Words& more : {Words{}, Words{"--json"}, Words{"--quiet"}}) {
    const CommandResult result = one.run("estimate", more);
    EXPECT_EQ(result.code, 65) << name;
    EXPECT_EQ(result.err, "nustream: error: '" + path + "' is " + sentence + "\n");
    EXPECT_FALSE(one.has_begun()) << name;
  }
  if (name == "csv-called-jsonl") return;  // without a header it is JSON lines
  EXPECT_EQ(one.run("estimate", no_header).code, 65) << name;
  EXPECT_FALSE(one.has_begun()) << name;
}

TEST(Cases, FilesThatAreSomethingElseAreNamed) {
  expect_named("pretty-json-array", "in.jsonl",
               "a JSON array, and one object a line is read: write it so: jq -c "
               "'.[]' '%' > '%.jsonl'");
  expect_named("json-array-on-one-line", "in.jsonl",
               "a JSON array, and one object a line is read: write it so: jq -c "
               "'.[]' '%' > '%.jsonl'");
  expect_named("csv-called-jsonl", "in.csv", "CSV, and stream.format = \"jsonl\": set stream.format = \"csv\"");
  expect_named(
      "utf16", "in.csv",
      "UTF-16 text, and CSV or JSON lines are read: write it as UTF-8: iconv -f UTF-16 -t UTF-8 '%' > '%.utf8'");
}

/// What `check --data` says about a case; nothing is parsed where it failed.
struct Checked {
  Checked(const std::string& name, Words more) {
    more.insert(more.begin(), {"--json", "--data"});
    result = Case(name).run("check", std::move(more));
    if (result.code == 0) data = parser.parse(result.out)["data"];
  }
  CommandResult result;
  simdjson::dom::parser parser;
  simdjson::dom::element data;
};

/// Expects forty records y = 2x + `constant`, all of which are used.
void expect_read(const std::string& name, const Words& more = {}, double constant = 1) {
  const Checked checked(name, more);
  ASSERT_EQ(checked.result.code, 0) << name << checked.result.err;
  const simdjson::dom::element data = checked.data;
  EXPECT_EQ(std::uint64_t(data["usable"]), std::uint64_t(data["records"])) << name << checked.result.out;
  EXPECT_EQ(std::uint64_t(data["records"]), 40U) << name;
  EXPECT_NEAR(double(data["target"]["mean"]), 2 * double(data["columns"].at(0)["mean"]) + constant, 1e-9) << name;
}

TEST(Cases, FilesAsTheyAreShippedAreRead) {
  expect_read("xz");
  expect_read("bzip2");
  expect_read("zip");
  expect_read("byte-order-mark-without-header");
  expect_read("json-with-latin1");
  expect_read("decimal-commas", {"--set", "stream.decimal=,"}, 0.5);
  expect_read("lines-above-the-header", {"--set", "stream.comment=#"});
  expect_read("lines-above-the-header", {"--set", "stream.skip_lines=2"});
}

// A name with a dot is the name of one member. What was probably meant is said before anything is read.
TEST(Cases, MembersInsideOthersAreReadByPointer) {
  const std::string sentence =
      "column 'after.x': a dot is part of a member's name; for a member inside another one write the JSON pointer "
      "'/after/x'\n";
  const Case one("nested-json");
  EXPECT_THAT(one.run("check").out, HasSubstr("but " + sentence));
  EXPECT_THAT(one.run("estimate").err, HasSubstr("nustream: warning: " + sentence));
  expect_read("nested-json", {"--set", "features.0.column=/after/x", "--set", "target.column=/after/y"});
  expect_read("nested-json",
              {"--set", "stream.envelope=debezium", "--set", "features.0.column=x", "--set", "target.column=y"});
}

/// Expects one record for each hour of two days, all usable, whose feature is the hour.
void expect_hours(const std::string& name, const Words& more = {}) {
  const Checked checked(name, more);
  ASSERT_EQ(checked.result.code, 0) << name << checked.result.err;
  const simdjson::dom::element data = checked.data;
  EXPECT_EQ(std::uint64_t(data["usable"]), 48U) << name << checked.result.out;
  EXPECT_NEAR(double(data["columns"].at(0)["mean"]), 11.5, 1e-9) << name;
}

TEST(Cases, TimesAsOthersWriteThemAreRead) {
  expect_hours("times-without-colon");
  expect_hours("times-in-milliseconds", {"--set", "features.0.unit=ms"});
  EXPECT_THAT(
      Case("times-in-milliseconds").run("estimate", {"--quiet"}).err,
      HasSubstr(
          "none of 48 records could be used: every step was noise alone; most often column 'ts': not a "
          "timestamp such as 2010-01-31T09:00 (ISO 8601; a plain number is one where its unit is set) (record 0)"));
}

// A number beyond the unit that is set is shown with the unit that reads it.
TEST(Cases, TheUnitOfATimeIsProposed) {
  for (const Words& set : {Words{"--data"}, Words{"--data", "--set", "features.0.unit=s"}}) {
    EXPECT_THAT(Case("times-in-milliseconds").run("check", set).out,
                HasSubstr("record 0 is one (line 2: '1709251200000'; set unit = \"ms\")\n"));
  }
  EXPECT_THAT(
      Case("times-in-milliseconds").run("estimate", {"--quiet", "--set", "features.0.unit=s"}).err,
      HasSubstr("most often column 'ts': not a timestamp such as 2010-01-31T09:00 (ISO 8601), nor a number of "
                "its unit in the years 0 to 9999 (record 0)"));
}

TEST(Cases, LinesAboveTheHeaderAreProposed) {
  const Case one("lines-above-the-header");
  const CommandResult result = one.run("estimate");
  EXPECT_EQ(result.code, 78);
  EXPECT_EQ(result.err,
            "nustream: error: no columns 'x', 'y' in the header of '" + one.path("in.csv") +
                "', whose lines have 1 column (is stream.delimiter right?); name such as are there (if lines "
                "that begin with '#' stand above the header, set stream.comment = \"#\", or stream.skip_lines "
                "to their number)\n");
  EXPECT_FALSE(one.has_begun());
}

TEST(Cases, NothingUsableIsSaidHoweverQuiet) {
  for (const char* how : {"--json", "--quiet"}) {
    EXPECT_THAT(Case("decimal-commas").run("estimate", {how}).err,
                HasSubstr("operator only, not private: none of 40 records could be used: every step was noise alone; "
                          "most often column 'x': not a number (record 0); listed in "));
    EXPECT_THAT(Case("json-missing-member").run("estimate", {how}).err,
                HasSubstr("none of 40 records could be used: every step was noise alone; most often column 'x': "
                          "missing (record 0); listed in "));
    EXPECT_THAT(Case("labels-of-minus-one-and-one").run("replay", {how}).err,
                HasSubstr("all of them were refused for their label alone: where the labels are not 0 and 1"));
    EXPECT_THAT(Case("counts-below-zero").run("replay", {how}).err,
                HasSubstr("most often column 'y': negative, so not a count (record "));
  }
}

// An estimate needs all of its table: what has arrived of a cut one is not used.
TEST(Cases, ACutTableIsNotUsed) {
  const Case one("gzip-cut");
  const CommandResult result = one.run("estimate");
  EXPECT_EQ(result.code, 74);
  EXPECT_EQ(result.err, "nustream: error: '" + one.path("in.csv.gz") +
                            "' ends in the middle of its gzip data: fetch the file again\n");
  EXPECT_FALSE(one.has_begun());
}

}  // namespace
}  // namespace nustream::tests
