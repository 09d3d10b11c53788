// Small inputs as people have them, each with its settings in tests/cases/NAME: what the command answers, whole line
// by whole line. tests/cases/README.md says which test stands for which case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"
#include "typed_look.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
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
    CommandResult result = run_command(NUSTREAM_COMMAND, more);
    result.out = shown(result.out);
    result.err = with_short_look(shown(result.err));
    return result;
  }
  [[nodiscard]] bool has_begun() const { return fs::exists(path("run/state")) || fs::exists(path("run/ledger")); }

 private:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// The text with DIR in place of this folder.
  [[nodiscard]] std::string shown(std::string text) const {
    const std::string folder = folder_.path().string();
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
      text.replace(at, folder.size(), "DIR");
    return text;
  }

  TemporaryFolder folder_;
};

const Words no_header{
    "--set", "stream.format=csv", "--set", "stream.header=false", "--set", R"(stream.columns=["id","x","y"])"};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Without the lines that count the clipped gradients of a run, which depend on its noise.
std::string without_clips(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" gradients (") == std::string::npos) kept += line + '\n';
  }
  return kept;
}

/// Expects that standard error holds this text and nothing else.
void expect_says(const std::string& name, const std::string& command, const Words& more, const std::string& text) {
  const CommandResult result = Case(name).run(command, more);
  EXPECT_EQ(result.code, 0) << name;
  EXPECT_EQ(without_clips(result.err), text) << name;
}

/// The same with --quiet and with --json, which keep what is the operator's. --json keeps `warning` of the settings,
/// too.
void expect_says_however_quiet(const std::string& name, const std::string& command, const Words& more,
                               const std::string& warning, const std::string& text) {
  expect_says(name, command, joined(more, {"--quiet"}), text);
  expect_says(name, command, joined(more, {"--json"}), warning + text);
}

/// Expects that the case is refused with `code` and this text before anything is charged.
void expect_refused(const std::string& name, const Words& more, int code, const std::string& text) {
  for (const Words& how : {Words{}, Words{"--json"}, Words{"--quiet"}}) {
    const Case one(name);
    const CommandResult result = one.run("estimate", joined(more, how));
    EXPECT_EQ(result.code, code) << name;
    EXPECT_EQ(result.err, "nustream: error: " + text + "\n");
    EXPECT_FALSE(one.has_begun()) << name;
  }
}

/// What `check --data` shows of the records, from the line on their number to the one on clips, or to the end where
/// not one can be used; and what it says on standard error then.
void expect_shows(const std::string& name, const Words& more, const std::string& text, bool any_usable = true) {
  const CommandResult result = Case(name).run("check", joined({"--data"}, more));
  EXPECT_EQ(result.code, any_usable ? 0 : 66) << name;
  EXPECT_EQ(result.err, any_usable ? ""
                                   : "nustream: no record can be used: a run would be noise alone; nothing was "
                                     "charged here\n");
  const std::size_t begin = result.out.find("\nrecords ");
  const std::size_t end = any_usable ? result.out.find("\nclipped ") : result.out.size() - 1;
  ASSERT_NE(begin, std::string::npos) << result.out << result.err;
  ASSERT_NE(end, std::string::npos) << result.out;
  EXPECT_EQ(result.out.substr(begin + 1, end - begin), text) << name;
}

/// What a run over a table says of its settings: of forty records, and of others.
std::string too_noisy(const std::string& deviation = "4.56") {
  return "nustream: warning: after 20 steps the noise of this budget has a standard deviation of " + deviation +
         " in a coordinate (working units): take fewer steps, a smaller clip norm or more rho; nustream plan shows "
         "what they leave\n";
}

const std::string operators = "operator only, not private: ";
const std::string ask_check = ": nustream check CONFIG --data shows more\n";
const std::string are_listed = "; listed in DIR/run/rejects.jsonl\n";

/// What a run says, before its first step and at its end, where not one of `records` can be used. `missing` is said
/// before the first step, and `odd` of the times between the two lines.
std::string all_unusable(const std::string& records, const std::string& reason, const std::string& missing = "",
                         const std::string& odd = "") {
  return operators + "of the first " + records + " records " + records + " (100%) cannot be used; most often " +
         reason + missing + ask_check + (odd.empty() ? "" : operators + odd) + operators + "none of " + records +
         " records could be used: every step was noise alone; most often " + reason + are_listed;
}

TEST(Cases, FilesThatAreSomethingElseAreNamed) {
  const auto array = [](const std::string& to_set) {
    return "'DIR/in.jsonl' is a JSON array, and nustream reads one object on each line: write it so" + to_set +
           ": jq -c '.[]' 'DIR/in.jsonl' > 'DIR/in.jsonl.jsonl'";
  };
  const std::string utf16 =
      "'DIR/in.csv' is UTF-16 text, and nustream reads CSV or JSON lines: write it as UTF-8: iconv -f UTF-16 -t "
      "UTF-8 "
      "'DIR/in.csv' > 'DIR/in.csv.utf8'";
  for (const Words& more : {Words{}, no_header}) {
    const std::string to_set = more.empty() ? "" : ", and set stream.format = \"jsonl\"";  // no_header says csv
    expect_refused("pretty-json-array", more, 65, array(to_set));
    expect_refused("json-array-on-one-line", more, 65, array(to_set));
    expect_refused("utf16", more, 65, utf16);
  }
  expect_refused("utf16", {"--set", "stream.format=jsonl"}, 65, utf16);
  expect_refused("csv-called-jsonl", {}, 65,
                 "'DIR/in.csv' is CSV, and stream.format = \"jsonl\": set stream.format = \"csv\"");
}

/// Expects forty records y = 2x + `constant`, all of which are used, and that a run has nothing to say of them.
void expect_read(const std::string& name, const std::string& file, const Words& more = {}, double constant = 1) {
  expect_shows(name, more, "records         40 of DIR/" + file + "\nusable          40 (100%)\n");
  expect_says_however_quiet(name, "estimate", more, too_noisy(), "");
  simdjson::dom::parser parser;
  const simdjson::dom::element data =
      parser.parse(Case(name).run("check", joined({"--json", "--data"}, more)).out)["data"];
  EXPECT_NEAR(double(data["target"]["mean"]), 2 * double(data["columns"].at(0)["mean"]) + constant, 1e-9) << name;
}

TEST(Cases, FilesAsTheyAreShippedAreRead) {
  expect_read("xz", "in.csv.xz");
  expect_read("bzip2", "in.csv.bz2");
  expect_read("zip", "in.csv.zip");
  expect_read("byte-order-mark-without-header", "in.csv");
  expect_read("json-with-latin1", "in.jsonl");
  expect_read("decimal-commas", "in.csv", {"--set", "stream.decimal=,"}, 0.5);
  expect_read("lines-above-the-header", "in.csv", {"--set", "stream.comment=#"});
  expect_read("lines-above-the-header", "in.csv", {"--set", "stream.skip_lines=2"});
}

// What is compressed is read all the same where the settings say that there is no header; its header is then a
// record.
TEST(Cases, AHeaderThatIsReadAsARecordIsTold) {
  for (const char* name : {"xz", "bzip2"}) {
    expect_says_however_quiet(
        name, "estimate", no_header, too_noisy("4.45"),
        operators +
            "1 of 41 records (2.44%) could not be used (zero gradients); most often column 'x': "
            "not a number (record 0)" +
            are_listed);
  }
}

// A name with a dot is the name of one member. What was probably meant is said before anything is read.
TEST(Cases, MembersInsideOthersAreReadByPointer) {
  const std::string sentence =
      "column 'after.x': a dot is part of a member's name; for a member inside another one write the JSON pointer "
      "'/after/x'\n";
  EXPECT_EQ(
      Case("nested-json").run("check").out,
      "DIR/t.toml: valid; table t, 2 parameters, 20 steps (settings alone: no record was read)\nbut " + sentence);
  const std::string missing =
      "in none of the first 40 records: 'after.x' (did you mean '/after/x'?), 'after.y' (did you mean '/after/y'?)";
  expect_says_however_quiet("nested-json", "estimate", {}, too_noisy() + "nustream: warning: " + sentence,
                            all_unusable("40", "column 'after.x': missing (record 0)", "; " + missing));
  expect_shows("nested-json", {},
               "records         40 of DIR/in.jsonl\n"
               "usable          0 (0%)\n"
               "unusable        40 (100%): column 'after.x': missing; record 0 is one (line 1)\n"
               "missing         " +
                   missing + "\n                they have 'after', '/after/x', '/after/y', 'op'\n",
               false);
  expect_read("nested-json", "in.jsonl", {"--set", "features.0.column=/after/x", "--set", "target.column=/after/y"});
  expect_read("nested-json", "in.jsonl",
              {"--set", "stream.envelope=debezium", "--set", "features.0.column=x", "--set", "target.column=y"});
}

/// Expects one record for each hour of two days, all usable, whose feature is the hour.
void expect_hours(const std::string& name, const Words& more = {}) {
  expect_shows(name, more, "records         48 of DIR/in.csv\nusable          48 (100%)\n");
  expect_says_however_quiet(name, "estimate", more, too_noisy("3.8"), "");
  simdjson::dom::parser parser;
  const simdjson::dom::element data =
      parser.parse(Case(name).run("check", joined({"--json", "--data"}, more)).out)["data"];
  EXPECT_NEAR(double(data["columns"].at(0)["mean"]), 11.5, 1e-9) << name;
}

TEST(Cases, TimesAsOthersWriteThemAreRead) {
  expect_hours("times-without-colon");
  expect_hours("times-in-milliseconds", {"--set", "features.0.unit=ms"});
}

// A number beyond the unit that is set is shown with the unit that reads it.
TEST(Cases, TheUnitOfATimeIsProposed) {
  const std::string no_time = "column 'ts': not a timestamp such as 2010-01-31T09:00 (ISO 8601";
  const Words seconds{"--set", "features.0.unit=s"};
  const std::string beyond =
      "the first 20 times of column 'ts' lie beyond the year 9999, but between 1990 and 2100 if they count "
      "milliseconds: set unit = \"ms\"\n";
  for (const auto& [set, reason] :
       {std::pair{Words{}, no_time + "; a plain number is one where its unit is set)"},
        std::pair{seconds, no_time + "), nor a number of its unit in the years 0 to 9999"}}) {
    const std::string odd = set.empty() ? "" : beyond;
    expect_says_however_quiet("times-in-milliseconds", "estimate", set, too_noisy("3.8"),
                              all_unusable("48", reason + " (record 0)", "", odd));
    expect_shows("times-in-milliseconds", set,
                 "records         48 of DIR/in.csv\n"
                 "usable          0 (0%)\n"
                 "unusable        48 (100%): " +
                     reason + "; record 0 is one (line 2: '1709251200000'; set unit = \"ms\")\n" +
                     (odd.empty() ? "" : "times           " + odd),
                 false);
  }
}

TEST(Cases, LinesAboveTheHeaderAreProposed) {
  expect_refused("lines-above-the-header", {}, 78,
                 "no columns 'x', 'y' in the header of 'DIR/in.csv', whose lines have 1 column (is stream.delimiter "
                 "right?); name columns that are there (if lines that begin with '#' stand above the header, set "
                 "stream.comment = \"#\", or stream.skip_lines to their number)");
}

TEST(Cases, NothingUsableIsSaidHoweverQuiet) {
  expect_says_however_quiet("decimal-commas", "estimate", {}, too_noisy(),
                            all_unusable("40", "column 'x': not a number (record 0)"));
  expect_shows("decimal-commas", {},
               "records         40 of DIR/in.csv\n"
               "usable          0 (0%)\n"
               "unusable        40 (100%): column 'x': not a number; record 0 is one (line 2: '0,5'; set "
               "stream.decimal = \",\")\n",
               false);
  expect_says_however_quiet(
      "json-missing-member", "estimate", {}, too_noisy(),
      all_unusable("40", "column 'x': missing (record 0)", "; in none of the first 40 records: 'x'"));
  expect_shows("json-missing-member", {},
               "records         40 of DIR/in.jsonl\n"
               "usable          0 (0%)\n"
               "unusable        40 (100%): column 'x': missing; record 0 is one (line 1)\n"
               "missing         in none of the first 40 records: 'x'\n"
               "                they have 'y', 'z'\n",
               false);
}

TEST(Cases, LabelsThatHaveNoNamesAreExplained) {
  const std::string most =
      "most often column 'y': not a label 0 … 1 (record 0); all of them were refused for their label alone: where "
      "the "
      "labels are not 0 and 1 (or 0 to K - 1), name the classes, class 0 first, such as model.labels = [\"-1\", "
      "\"1\"], [\"1\", \"2\"] or [\"no\", \"yes\"]";
  expect_says_however_quiet(
      "labels-of-minus-one-and-one", "replay", {}, "",
      operators + "of the first 200 records 100 (50%) cannot be used; " + most + ask_check + operators +
          "the first 100 usable records all have the same target 'y': while that stays so, there "
          "is nothing for the features to explain; nustream check CONFIG --data shows the texts "
          "and ranges\n" +
          operators + "100 of 200 records (50%) could not be used (zero gradients); " + most + are_listed);
  const Words named{"--set", R"(model.labels=["-1","1"])"};
  expect_says_however_quiet("labels-of-minus-one-and-one", "replay", named, "", "");
  expect_shows("labels-of-minus-one-and-one", named,
               "records         200 of DIR/in.csv\nusable          200 (100%)\n");
}

TEST(Cases, NegativeNumbersAreNoCounts) {
  const std::string most = "most often column 'y': negative, so not a count (record 0)";
  expect_says_however_quiet("counts-below-zero", "replay", {}, "",
                            operators + "of the first 200 records 40 (20%) cannot be used; " + most + ask_check +
                                operators + "40 of 200 records (20%) could not be used (zero gradients); " + most +
                                are_listed);
  expect_shows("counts-below-zero", {},
               "records         200 of DIR/in.csv\n"
               "usable          160 (80%)\n"
               "unusable        40 (20%): column 'y': negative, so not a count; record 0 is one (line 2: '-2')\n");
}

// An estimate needs all of its table: what has arrived of a cut one is not used.
TEST(Cases, ACutTableIsNotUsed) {
  expect_refused("gzip-cut", {}, 74, "'DIR/in.csv.gz' ends in the middle of its gzip data: fetch the file again");
}

// The seed is fixed, because noise might by chance move the iterate to where one gradient is short.
TEST(Cases, ColumnsThatNobodyScaledAreSaidToBeClipped) {
  for (const char* how : {"--json", "--quiet"}) {
    const CommandResult result = Case("every-gradient-clipped").run("replay", {how, "--insecure-seed", "1"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err,
              operators +
                  "of the first 120 gradients 120 (100%) are longer than descent.clip_norm = 2 where the run begins: "
                  "centre and scale the columns by public figures; nustream check CONFIG --data shows them\n" +
                  operators +
                  "120 of 120 gradients (100%) were clipped: so much clipping biases the estimate: centre and scale "
                  "the columns by public figures, or raise descent.clip_norm\n");
  }
  EXPECT_THAT(Case("every-gradient-clipped").run("check", {"--data"}).out,
              HasSubstr("\nclipped         120 of 120 gradients (100%) at theta = 0, where a run begins\n"));
}

// A case that has no line in the table of tests/cases/README.md is perhaps not tested.
TEST(Cases, AreAllInTheTable) {
  const fs::path cases = fs::path(NUSTREAM_ROOT_DIR) / "tests/cases";
  const std::string table = read_file(cases / "README.md");
  for (const fs::directory_entry& each : fs::directory_iterator(cases)) {
    if (!each.is_directory()) continue;
    EXPECT_THAT(table, HasSubstr("\n| `" + each.path().filename().string() + "` |"));
  }
}

}  // namespace
}  // namespace nustream::tests
