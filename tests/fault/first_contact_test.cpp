// What a newcomer meets: names that are misspelt, files that are something else, and where to look next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "first_contact_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Where all records of an epoch were unusable, the answer is shown again, and so is what it is worth.
TEST_F(FirstContact, AResumeThatReadsNothingNewSaysAgainThatAllWasNoise) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},", i); }));
  EXPECT_THAT(run("replay", {"--json"}).err, HasSubstr("none of 40 records could be used"));
  const std::string again =
      "operator only, not private: none of the 40 records that this epoch has read could be used: every step was "
      "noise alone";
  const CommandResult resumed = run("replay", {"--json", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr(again + ": nustream check CONFIG --data shows more\n"));
  EXPECT_THAT(resumed.out, Not(HasSubstr("could be used")));
  const std::string state = (folder_.path() / "state").string();
  const CommandResult inspected = run_command(NUSTREAM_COMMAND, {"inspect", state, "--json"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_THAT(inspected.err, HasSubstr("operator only, not private: " + state + ": none of the 40 records"));
  EXPECT_THAT(inspected.out, Not(HasSubstr("could be used")));
}

TEST_F(FirstContact, AResumeOfGoodRecordsSaysNothing) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},1", i % 2); }));
  EXPECT_EQ(run("replay", {"--quiet"}).code, 0);
  EXPECT_THAT(run("replay", {"--quiet", "--resume"}).err, Not(HasSubstr("operator only")));
}

// A setting that fits no record would spend the budget without a word.
TEST_F(FirstContact, WhatIsTheSameInAllOfTheFirstRecordsIsSaidOnce) {
  const std::string said = "operator only, not private: the first 40 usable records all have ";
  const std::string more = "nustream check CONFIG --data shows the texts and ranges\n";
  write("in.csv", "x,y,w\n" + lines_of(40, [](int i) { return fmt::format("yes,{},0", i); }));
  const Words texts{"--set", "features.0.one_hot=[\"Yes\", \"No\"]", "--quiet"};
  const CommandResult first = run("replay", texts);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr(said +
                                   "the same 'x=Yes', 'x=No': while that stays so, what is released of them "
                                   "tells nothing; " +
                                   more));
  EXPECT_THAT(first.out, IsEmpty());
  Words again = texts;
  again.push_back("--resume");
  EXPECT_THAT(run("replay", again).err, Not(HasSubstr("all have the same")));
  Words weighted = texts;
  weighted.insert(weighted.end(), {"--set", "weight.column=w", "--set", "weight.max=1", "--new-epoch", "--from-start",
                                   "--from", "0"});
  EXPECT_THAT(run("replay", weighted).err,
              HasSubstr(said + "weight 0: while that stays so, what is released is noise alone; " + more));
}

// The command that is advised reads what the run has read, under the settings that were typed.
TEST_F(FirstContact, TheCommandThatShowsMoreHasWhatWasTyped) {
  write("in.csv", "x,y\n1,2\n");
  const std::string other = write("other.csv", "x,z\n" + lines_of(40, [](int i) { return fmt::format("{},-", i); }));
  const std::string table = write("table.toml", door_without_noise() + "[estimate]\nsteps = 10\n");
  for (const auto& [command, config] :
       {std::pair<std::string, std::string>{"replay", config_}, {"estimate", table}}) {
    const std::string state = "state.directory=" + (folder_.path() / command).string();
    const CommandResult result = run_command(
        NUSTREAM_COMMAND, {command, config, other, "--quiet", "--set", state, "--set", "target.column=z"});
    const std::string look =
        "nustream check " + config + " " + other + " --data --set " + state + " --set target.column=z";
    EXPECT_THAT(result.err, AllOf(HasSubstr("of the first 40 records 40 (100%) cannot be used"),
                                  HasSubstr(": " + look + " shows more\n")))
        << command;
  }
  const CommandResult looked =
      run_command(NUSTREAM_COMMAND, {"check", config_, other, "--data", "--set", "target.column=z"});
  EXPECT_EQ(looked.code, 66) << "the file that was read, which the settings do not name";
}

TEST_F(FirstContact, WhatIsTheSameInAllOfATableIsSaid) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},3", 1'700'000'000 + i); }));
  const std::string table = write("table.toml", door_without_noise() + "[estimate]\nsteps = 10\n");
  const auto estimated = [&](Words more) {
    more.insert(more.begin(), {"estimate", table, "--set", "state.directory=" + (folder_.path() / "state").string()});
    return with_short_look(run_command(NUSTREAM_COMMAND, more).err);
  };
  // Seconds that are read as milliseconds are all of one hour of 1970.
  EXPECT_THAT(
      estimated({"--set", "features.0.transform=hour", "--set", "features.0.unit=ms"}),
      HasSubstr("operator only, not private: all 40 usable records have the same 'hour(x)' and the same target "
                "'y': what is released of them tells nothing; nustream check CONFIG --data shows the texts "
                "and ranges\n"));
}

TEST_F(FirstContact, AllMembersThatAreMissingAreNamedAtOnceWithTheNearest) {
  write("in.jsonl", lines_of(30, [](int i) {
          return fmt::format(R"({{"Horsepower":{},"user":{{"age":{}}},"Miles":{}}})", i, i, i);
        }));
  const Words names{"--set", "stream.input=in.jsonl", "--set", "stream.format=jsonl",
                    "--set", "target.column=miles",   "--set", "features.0.column=Horspower"};
  const std::string missing =
      "in none of the first 30 records: 'Horspower' (did you mean 'Horsepower'?), 'miles' (did you mean 'Miles'? it "
      "differs in its capital letters: copy it from there)";
  const CommandResult looked = check(names);
  EXPECT_EQ(looked.code, 66);
  EXPECT_THAT(looked.out, AllOf(HasSubstr("missing         " + missing + "\n"),
                                HasSubstr("they have 'Horsepower', 'Miles', 'user', '/user/age'\n")));
  EXPECT_THAT(run("replay", names).err, HasSubstr("; " + missing + ": nustream check CONFIG --data shows more\n"));
  Words nested = names;
  nested.back() = "features.0.column=age";
  EXPECT_THAT(check(nested).out,
              HasSubstr("'age' (it is inside another member: write the JSON pointer '/user/age')"));
  nested.back() = "features.0.column=/usr/age";
  EXPECT_THAT(check(nested).out, HasSubstr("'/usr/age' (did you mean '/user/age'?)"));
}

TEST_F(FirstContact, AllColumnsThatAreMissingAreNamedAtOnce) {
  write("in.csv", "a,b\n1,2\n");
  const CommandResult result = run("replay");
  EXPECT_EQ(result.code, 78);
  EXPECT_THAT(result.err, HasSubstr("no columns 'x', 'y' in the header of '"));
  EXPECT_THAT(result.err, HasSubstr("which has 2 columns"));
  EXPECT_THAT(check({}).err, HasSubstr("whose columns are 'a', 'b'"));
  write("in.csv", "X,y\n1,2\n");
  EXPECT_THAT(check({}).err, HasSubstr("no column 'x' in the header of '"));
  EXPECT_THAT(check({}).err, HasSubstr("(did you mean 'X'? it differs in its capital letters: copy it from there), "
                                       "whose columns are 'X', 'y'; name one that is there"));
}

TEST_F(FirstContact, LinesThatAnotherDelimiterDividesSayWhich) {
  write("in.csv", "x;y\n1;2\n");
  EXPECT_THAT(run("replay").err, HasSubstr("whose lines have 1 column and hold ';': set stream.delimiter = \";\""));
}

// A header in quotes as a whole is one name, and the delimiter in it divides nothing.
TEST_F(FirstContact, LinesThatAreWhollyInQuotesAreNamed) {
  write("in.csv", "\"x,y\"\n\"1,2\"\n");
  EXPECT_THAT(run("replay").err,
              AllOf(HasSubstr("where each line is wholly in quotes: the file was written as CSV twice; "
                              "take the outer quotes away: sed 's/\\r$//; s/^\"\\(.*\\)\"$/\\1/; "
                              "s/\"\"/\"/g' FILE > FILE.csv"),
                    Not(HasSubstr("stream.delimiter"))));
  write("in.csv", "\"Report, 2024\"\nx,y\n1,2\n");
  EXPECT_THAT(run("replay").err,
              AllOf(HasSubstr("which is one text in quotes (if it is a title above the header, set "
                              "stream.skip_lines = N, the number of such lines)"),
                    Not(HasSubstr("stream.delimiter"))));
}

TEST_F(FirstContact, OneDocumentIsNamedBeforeAnythingIsChargedAndShowsNoValue) {
  const std::string records = lines_of(3, [](int i) { return fmt::format(R"({{"x":{},"y":{}}},)", i, i); });
  std::string one = R"({"data":[)" + records + R"({"x":9,"y":9}]})";
  std::erase(one, '\n');
  write("in.csv", one + "\n");
  for (const char* format : {"jsonl", "csv"}) {
    const CommandResult result = run("replay", {"--set", std::string("stream.format=") + format});
    EXPECT_EQ(result.code, 65) << format;
    EXPECT_THAT(result.err, HasSubstr("' is one JSON document whose records are an array inside it"));
    EXPECT_THAT(result.err, HasSubstr("jq -c '.data[]' '"));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state/ledger"));
  }
  write("in.csv", R"({"x":[1,2,3],"y":[4,5,6]})");
  EXPECT_THAT(run("replay", {"--set", "stream.format=jsonl"}).err,
              HasSubstr(R"(jq -c '[.x, .y | [.[]]] | transpose[] | {"x": .[0], "y": .[1]}' ')"));
  // The name of a member may be somebody's name.
  write("in.csv", R"({"alice":[{"x":1,"y":2},{"x":3,"y":4}]})");
  const CommandResult unknown = run("replay", {"--set", "stream.format=jsonl"});
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("jq -c '.NAME[]'"), Not(HasSubstr("alice"))));
  // A record that can be used is a record, whatever else it holds.
  write("in.csv", R"({"x":1,"y":2,"data":[{"x":1}]})");
  EXPECT_EQ(run("replay", {"--set", "stream.format=jsonl"}).code, 0);
}

TEST_F(FirstContact, CheckShowsTheLineAndWhatStandsThere) {
  write("in.csv", "# by hand\nx,y\n1,2\nNA,3\n4,5,6\n,7\n\"1,5\",8\n");
  const CommandResult result = check({"--set", "stream.comment=#"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("column 'x': not a number; record 1 is one (line 4: 'NA')\n"),
            HasSubstr(
                "more fields than columns; record 2 is one (line 5 has 3 fields, where 2 columns are expected)\n"),
            HasSubstr("column 'x': empty; record 3 is one (line 6)\n")));
  write("in.csv", "x,y\n\"1,5\",8\n1,2\n");
  EXPECT_THAT(check({}).out, HasSubstr("(line 2: '1,5'; set stream.decimal = \",\")"));
}

TEST_F(FirstContact, LineBreaksInQuotedTextsAreProposedAsFraming) {
  write("in.csv", "x,y,note\n1,2,\"two\nlines\"\n3,4,\"two\nlines\"\n");
  EXPECT_THAT(check({}).out,
              HasSubstr("a quotation mark is never closed; record 0 is one (line 2; where quoted texts "
                        "hold line breaks, set stream.framing = \"trusted\")"));
  EXPECT_THAT(check({"--set", "stream.framing=trusted"}).out, HasSubstr("usable          2 (100%)"));
}

TEST_F(FirstContact, NothingUsableIsNoValidInput) {
  write("in.csv", "x,y\nno,1\nyes,2\n");
  const CommandResult result = check({});
  EXPECT_EQ(result.code, 66);
  EXPECT_THAT(result.out, HasSubstr("NO RECORD CAN BE USED"));
  EXPECT_THAT(result.out, Not(HasSubstr("toml: valid")));
  EXPECT_THAT(result.out, Not(HasSubstr("nustream plan says")));
  EXPECT_THAT(check({"--json"}).out, HasSubstr("{\"valid\":false"));
}

TEST_F(FirstContact, AHeaderAloneIsRefusedAlike) {
  write("in.csv", "x,y\n");
  const std::string table = write("table.toml", door_without_noise() + "[estimate]\nsteps = 10\n");
  EXPECT_EQ(check({}).code, 65);
  const CommandResult replayed = run("replay", {"--json"});
  EXPECT_EQ(replayed.code, 65);
  EXPECT_THAT(replayed.err, HasSubstr("a header and no records"));
  EXPECT_THAT(replayed.out, IsEmpty());
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"estimate", table, "--set", "state.directory=none"}).code, 65);
}

TEST_F(FirstContact, LabelsAreTheOnesThatStandThere) {
  const Words logistic{"--set", "model.loss=logistic"};
  const auto labelled = [&](const std::string& no, const std::string& yes) {
    write("in.csv", "x,y\n" + lines_of(20, [&](int i) { return fmt::format("{},{}", i, i % 2 == 0 ? yes : no); }));
    return check(logistic).out;
  };
  EXPECT_THAT(labelled("False", "True"),
              AllOf(HasSubstr("usable          20 (100%)"), HasSubstr("labels          'False'"),
                    Not(HasSubstr("refused labels"))));
  EXPECT_THAT(labelled("benign", "malignant"), HasSubstr("model.labels = [\"benign\", \"malignant\"]\n"));
  const std::string one_two = labelled("1", "2");
  EXPECT_THAT(one_two, AllOf(HasSubstr("labels          '1' 10 times\n"), HasSubstr("refused labels  '2' 10 times\n"),
                             HasSubstr("model.labels = [\"1\", \"2\"]\n")));
  EXPECT_THAT(labelled("-1", "1"), HasSubstr("model.labels = [\"-1\", \"1\"]\n"));
}

TEST_F(FirstContact, ADataFileInPlaceOfAConfigurationIsNamed) {
  const auto refused = [&](const std::string& text) {
    const std::string file = write("given", text);
    const CommandResult result = run_command(NUSTREAM_COMMAND, {"replay", file});
    EXPECT_EQ(result.code, 78);
    return result.err;
  };
  EXPECT_THAT(refused("x,y\n1,2\n"), AllOf(HasSubstr("this is CSV, and the first argument is a configuration"),
                                           HasSubstr("nustream fit '"), HasSubstr("--target COLUMN")));
  EXPECT_THAT(refused("{\"x\":1}\n"), HasSubstr("this is JSON lines"));
  EXPECT_THAT(refused("\x1f\x8b\x08garbage"), HasSubstr("this is a compressed file"));
  EXPECT_THAT(refused("{\"epoch\":0,\"step\":1,\"estimate\":{}}\n"),
              HasSubstr("this is a file of releases, and no configuration (TOML): nustream inspect " +
                        folder_.path().string() + " shows what is in its folder\n"));
  EXPECT_THAT(refused("[stream\nname = 1\n"), HasSubstr("not TOML"));
}

TEST_F(FirstContact, ARhoThatChangedBesideNuIsNamedToo) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},1", i % 2); }));
  EXPECT_EQ(run("replay", {"--quiet"}).code, 0);
  const CommandResult result = run("replay", {"--resume", "--set", "noise.nu=0.1", "--set", "privacy.rho=0.6"});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr("noise.nu (0.01 there, 0.1 here), privacy.rho (0.5 there, 0.6 here)"));
}

TEST_F(FirstContact, AStateOfAnotherStreamIsNoCaseForANewEpoch) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},1", i % 2); }));
  EXPECT_EQ(run("replay", {"--quiet"}).code, 0);
  const CommandResult result = run("replay", {"--new-epoch", "--set", "stream.name=doors"});
  EXPECT_EQ(result.code, 65) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("another stream"), Not(HasSubstr("with --new-epoch"))));
}

// It follows from public settings alone, so it is said before anything is spent.
TEST_F(FirstContact, ADeltaThatPromisesHardlyAnythingIsSaidAhead) {
  const auto with = [&](std::vector<std::string> overrides) {
    Words words{"check", config_};
    for (std::string& each : overrides) words.insert(words.end(), {"--set", std::move(each)});
    return run_command(NUSTREAM_COMMAND, words).out;
  };
  const char* const whole = "but privacy.delta = 0.01 is far above 1/n of 4000 records: ";
  EXPECT_THAT(with({"privacy.delta=0.01", "plan.records=4000"}), HasSubstr(whole));
  EXPECT_THAT(with({"privacy.delta=0.01"}), Not(HasSubstr("far above")));
  EXPECT_THAT(with({"privacy.delta=0.001", "plan.records=4000"}), Not(HasSubstr("far above")));
}

// The settings name a topic and no file, so that there is nothing else to run over.
TEST_F(FirstContact, CheckRefusesATopicWithoutAKeyFileOrColumns) {
  const std::string topic =
      write("topic.toml",
            std::string(door_settings).replace(std::string(door_settings).find("input = \"in.csv\""), 16, "") +
                "[kafka]\nbrokers = \"localhost:1\"\ntopic = \"t\"\n");
  const CommandResult no_key = run_command(NUSTREAM_COMMAND, {"check", topic});
  EXPECT_EQ(no_key.code, 78);
  EXPECT_THAT(no_key.err, HasSubstr("state.key_file is missing"));
  const CommandResult no_columns = run_command(NUSTREAM_COMMAND, {"check", topic, "--set", "state.key_file=k"});
  EXPECT_EQ(no_columns.code, 78);
  EXPECT_THAT(no_columns.err, HasSubstr("stream.columns"));
  const CommandResult inspected = run_command(NUSTREAM_COMMAND, {"inspect", topic});
  EXPECT_EQ(inspected.code, 78);
  EXPECT_THAT(inspected.err, HasSubstr("state.key_file is missing"));
}

}  // namespace
}  // namespace nustream::tests
