// Inputs of which nothing, or little, can be used: no answer comes without a word about it, whatever else is shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "command.h"
#include "temporary_folder.h"
#include "typed_look.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// A folder with an input, and settings for a stream or a table over it.
class UnusableInput : public ::testing::Test {
 protected:
  /// `more` is added to [stream], and `model` to [model].
  std::string settings(const std::string& input, const std::string& more, const std::string& model = "",
                       const std::string& clip_norm = "50.0") const {
    return fmt::format(
        "[stream]\nname = \"t\"\ninput = \"{}\"\n{}\n[target]\ncolumn = \"y\"\n[[features]]\ncolumn = \"x\"\ncenter "
        "= 5.0\nscale = 3.0\n[model]\n{}\n[descent]\nstep_size = 0.05\nclip_norm = {}\n[privacy]\nrho = 1.0\ndelta = "
        "1e-6\n",
        input, more, model, clip_norm);
  }
  std::string stream(const std::string& text) const { return folder_.write("s.toml", text + "[noise]\nnu = 0.05\n"); }
  std::string table(const std::string& text) const {
    return folder_.write("t.toml", text + "[estimate]\nsteps = 20\n");
  }

  CommandResult run(const std::string& command, const std::string& config, Words more = {}) {
    Words arguments{command, config, "--set", "state.directory=" + path(fmt::format("run-{}", ++runs_))};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CommandResult result = run_command(NUSTREAM_COMMAND, arguments);
    result.err = with_short_look(result.err);
    return result;
  }
  bool has_state() const { return std::filesystem::exists(path(fmt::format("run-{}/state", runs_))); }
  bool has_ledger() const { return std::filesystem::exists(path(fmt::format("run-{}/ledger", runs_))); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const { static_cast<void>(folder_.write(name, text)); }

  TemporaryFolder folder_;
  int runs_ = 0;
};

/// `count` lines, the i-th of which is line(i), from 0.
std::string lines(int count, const std::function<std::string(int)>& line) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line(i) + "\n";
  return text;
}

std::string decimal_commas(int count) {
  return "id;x;y\n" + lines(count, [](int i) { return fmt::format("{},5;{},5;{},5", i, i % 10, 2 * (i % 10) + 1); });
}

TEST_F(UnusableInput, DecimalCommasAreToldByEveryCommandHoweverQuiet) {
  write("in.csv", decimal_commas(40));
  const std::string text = settings("in.csv", "delimiter = \";\"");
  const std::string at_once =
      "operator only, not private: of the first 40 records 40 (100%) cannot be used; most often column 'x': not a "
      "number (record 0): nustream check CONFIG --data shows more\n";
  const std::string at_end =
      "operator only, not private: none of 40 records could be used: every step was noise alone; most often column "
      "'x': not a number (record 0): nustream check CONFIG --data shows more\n";
  for (const char* how : {"--json", "--quiet"}) {
    const CommandResult estimate = run("estimate", table(text), {how});
    EXPECT_EQ(estimate.code, 0);
    EXPECT_THAT(estimate.err, AllOf(HasSubstr(at_once), HasSubstr(at_end))) << how;
    const CommandResult replay = run("replay", stream(text), {how});
    EXPECT_EQ(replay.code, 0);
    EXPECT_EQ(replay.err, at_once + at_end) << how;
  }
}

TEST_F(UnusableInput, MinUsableRefusesToBeginBeforeAnythingIsSpent) {
  write("in.csv", decimal_commas(40));
  const std::string text = settings("in.csv", "delimiter = \";\"");
  for (const auto& [command, config] : {std::pair("estimate", table(text)), std::pair("replay", stream(text))}) {
    const CommandResult result = run(command, config, {"--quiet", "--min-usable", "0.5"});
    EXPECT_EQ(result.code, 66);
    EXPECT_THAT(result.err, HasSubstr("of the first 40 records 40 (100%) cannot be used")) << command;
    EXPECT_THAT(result.err, HasSubstr("fewer than --min-usable 0.5 allows, so nothing was begun"));
    EXPECT_FALSE(has_state()) << command;
    EXPECT_FALSE(has_ledger()) << command;
  }
}

// 999 of the first 1,000 records can be used, and none of those after them. Only the first ones can stop a run.
TEST_F(UnusableInput, MinUsableLooksAtTheFirstRecordsAlone) {
  write("in.csv", "x,y\n" + lines(3000, [](int i) {
                    return i > 0 && i < 1000 ? fmt::format("{},{}", i % 10, i % 7) : std::string("?,1");
                  }));
  const std::string config = stream(settings("in.csv", ""));
  const Words more{"--quiet", "--min-usable"};
  const CommandResult begun = run("replay", config, {"--quiet", "--min-usable", "0.999"});
  EXPECT_EQ(begun.code, 0) << begun.err;
  EXPECT_THAT(begun.err, HasSubstr("2,001 of 3,000 records (66.7%) could not be used"));
  EXPECT_TRUE(has_state());
  EXPECT_EQ(run("replay", config, {"--quiet", "--min-usable", "0.9995"}).code, 66);
  EXPECT_FALSE(has_state());
  // As many records as a batch holds are judged: of the first 10 one is bad.
  EXPECT_EQ(run("replay", config, {"--quiet", "--min-usable", "0.95", "--set", "state.commit_records=10"}).code, 66);
}

TEST_F(UnusableInput, MinUsableIsNoOptionOfWhatHasBegunOrIsAttached) {
  write("in.csv", "x,y\n1,2\n");
  const std::string config = stream(settings("in.csv", "") + "[kafka]\nbrokers = \"localhost:1\"\ntopic = \"t\"\n");
  EXPECT_EQ(run("replay", config, {"--resume", "--min-usable", "0.5"}).code, 64);
  EXPECT_EQ(run("replay", config, {"--min-usable", "1.5"}).code, 64);
  const CommandResult attach = run("attach", config, {"--min-usable", "0.5"});
  EXPECT_EQ(attach.code, 64);
  EXPECT_THAT(attach.err, HasSubstr("--min-usable: attach has no such option"));
}

TEST_F(UnusableInput, AMemberThatIsNotThereIsMissing) {
  write("in.jsonl", lines(40, [](int i) { return fmt::format("{{\"z\": {}, \"y\": {}}}", i % 10, i % 7); }));
  const CommandResult result = run("estimate", table(settings("in.jsonl", "format = \"jsonl\"")), {"--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("none of 40 records could be used: every step was noise alone; most often column "
                                    "'x': missing (record 0): nustream check CONFIG --data shows more\n"));
  EXPECT_THAT(result.err, Not(HasSubstr("not a number")));
}

std::string labelled(const std::string& no, const std::string& yes) {
  return "x,y\n" + lines(200, [&](int i) { return fmt::format("{},{}", i % 10, i % 10 < 5 ? no : yes); });
}

TEST_F(UnusableInput, LabelsThatNobodyNamedAreExplained) {
  for (const auto& [no, yes] : {std::pair("-1", "1"), std::pair("1", "2"), std::pair("no", "yes")}) {
    write("in.csv", labelled(no, yes));
    const std::string text = settings("in.csv", "", "loss = \"logistic\"", "2.0");
    const CommandResult plain = run("replay", stream(text), {"--json"});
    EXPECT_EQ(plain.code, 0);
    EXPECT_THAT(plain.err, HasSubstr("most often column 'y': not a label 0 … 1 (record "));
    EXPECT_THAT(
        plain.err,
        HasSubstr(
            "; all of them were refused for their label alone: where the labels are not 0 and 1 (or 0 to K - 1), "
            "name the classes, class 0 first, such as model.labels = [\"-1\", \"1\"]"));

    const std::string labels = fmt::format("model.labels=[\"{}\",\"{}\"]", no, yes);
    const CommandResult named = run("replay", stream(text), {"--json", "--insecure-seed", "3", "--set", labels});
    EXPECT_EQ(named.code, 0) << named.err;
    EXPECT_THAT(named.err, Not(HasSubstr("could not be used")));
    // Only the names differ from labels 0 and 1: equal noise gives equal estimates.
    write("in.csv", labelled("0", "1"));
    const CommandResult numbers = run("replay", stream(text), {"--json", "--insecure-seed", "3"});
    simdjson::dom::parser one, other;
    EXPECT_EQ(double(one.parse(named.out)["estimate"]["x"]), double(other.parse(numbers.out)["estimate"]["x"]));
  }
}

TEST_F(UnusableInput, LabelsNameClassesAndNothingElse) {
  write("in.csv", labelled("no", "yes"));
  const auto refused = [&](const std::string& model, const std::string& part) {
    const CommandResult result = run("replay", stream(settings("in.csv", "", model)), {"--quiet"});
    EXPECT_EQ(result.code, 78) << model;
    EXPECT_THAT(result.err, HasSubstr(part)) << model;
  };
  refused("labels = [\"no\", \"yes\"]", "only with loss = \"logistic\" or \"multinomial\"");
  refused("loss = \"logistic\"\nlabels = [\"no\", \"yes\", \"maybe\"]", "2 texts, one a class, class 0 first");
  refused("loss = \"logistic\"\nlabels = [\"no\", \"no\"]", "texts that differ");
  refused("loss = \"logistic\"\nlabels = [\" no\", \"yes\"]", "texts without spaces around them");
  refused("loss = \"multinomial\"\nclasses = 3\nlabels = [\"no\", \"yes\"]", "3 texts");

  write("in.csv",
        "x,y\n" + lines(90, [](int i) { return fmt::format("{},{}", i % 10, std::string(1, "abc"[i % 3])); }));
  const CommandResult three = run(
      "replay", stream(settings("in.csv", "", "loss = \"multinomial\"\nlabels = [\"a\", \"b\", \"c\"]")), {"--json"});
  EXPECT_EQ(three.code, 0) << three.err;
  EXPECT_THAT(three.out, AllOf(HasSubstr("\"class b: x\""), HasSubstr("\"class c: x\"")));
  EXPECT_THAT(three.err, Not(HasSubstr("could not be used")));
}

TEST_F(UnusableInput, ANegativeNumberIsNoCount) {
  write("in.csv", "x,y\n" + lines(200, [](int i) { return fmt::format("{},{}", i % 10, i % 10 - 2); }));
  const CommandResult result = run("replay", stream(settings("in.csv", "", "loss = \"poisson\"", "2.0")), {"--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(
      result.err,
      HasSubstr("operator only, not private: 40 of 200 records (20%) could not be used (zero "
                "gradients); most often column 'y': negative, so not a count (record 0): nustream check CONFIG "
                "--data shows more\n"));
}

// Life expectancy by income and year, neither centred nor scaled: no gradient fits the clip norm.
TEST_F(UnusableInput, ColumnsThatNobodyCentredAreTold) {
  write("in.csv", "y,x,year\n" + lines(1704, [](int i) {
                    return fmt::format("{},{},{}", 30 + i % 50, 300 + 17 * (i % 997), 1952 + 5 * (i % 12));
                  }));
  const std::string text =
      "[stream]\nname = \"t\"\ninput = \"in.csv\"\n[target]\ncolumn = \"y\"\n[[features]]\ncolumn = "
      "\"x\"\n[[features]]\ncolumn = \"year\"\n[descent]\nstep_size = 0.01\nclip_norm = 2.0\n[privacy]\nrho = "
      "0.5\ndelta = 1e-6\n";
  const std::string at_once =
      "operator only, not private: of the first 1,704 gradients 1,704 (100%) are longer than descent.clip_norm = 2 "
      "where the run begins: centre and scale the columns by public figures; nustream check CONFIG --data shows "
      "them\n";
  const CommandResult replay = run("replay", stream(text), {"--quiet"});
  EXPECT_EQ(replay.code, 0);
  EXPECT_THAT(replay.err, StartsWith(at_once));
  EXPECT_THAT(replay.err, HasSubstr(" of 1,704 gradients ("));
  EXPECT_THAT(replay.err,
              EndsWith(" were clipped: so much clipping biases the estimate: centre and scale the columns by "
                       "public figures, or raise descent.clip_norm\n"));
  const CommandResult estimate = run("estimate", table(text), {"--quiet"});
  EXPECT_THAT(estimate.err, HasSubstr(at_once));
  EXPECT_THAT(estimate.err, HasSubstr(" of 34,080 gradients ("));
}

}  // namespace
}  // namespace nustream::tests
