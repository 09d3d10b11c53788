// What a newcomer's input is: pipes and files of another kind, compressed or cut ones, times in another unit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "first_contact_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class InputKinds : public FirstContact {};

/// Lines for a test of pipes: 40 objects.
std::string forty_objects(const std::string& between) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += (i == 0 ? "" : between) + fmt::format(R"({{"x":{},"y":{}}})", i % 5, i % 3);
  return text;
}

// A pipe is named by what it begins with, as a file is: its first record waits for the second line, or for the end.
TEST_F(InputKinds, PipesOfAnotherKindAreNamed) {
  const auto piped = [&](const std::string& text, Words more, const std::string& state = "state") {
    more.insert(more.begin(),
                {"replay", config_, "-", "--set", "state.directory=" + (folder_.path() / state).string(), "--quiet"});
    return run_command(NUSTREAM_COMMAND, more, write("piped", text));
  };
  const Words jsonl{"--set", "stream.format=jsonl"};
  const std::string array = "[" + forty_objects(",") + "]";
  const std::string cure = " and nustream reads one object on each line: write it so: jq -c '";
  for (const auto& [text, more, told] :
       {std::tuple(array, jsonl, "'-' is a JSON array," + cure + ".[]' 'FILE' > 'FILE.jsonl'"),
        {array + "\n", jsonl, "'-' is a JSON array," + cure + ".[]' 'FILE' > 'FILE.jsonl'"},
        {R"({"schema":{"fields":[]},"data":)" + array + "}", jsonl,
         "'-' is one JSON document whose records are an array inside it," + cure + ".data[]' 'FILE' > 'FILE.jsonl'"},
        {R"({"0":{"x":1,"y":2},"1":{"x":3,"y":4}})", jsonl,
         "'-' is one JSON document whose members are the records," + cure + ".[]' 'FILE' > 'FILE.jsonl'"},
        {R"({"columns":["x","y"],"data":[[1,2],[3,4]]})", jsonl,
         "'-' is one JSON document with the columns' names beside the rows," + cure +
             ".columns as $names | .data[] | [[$names, .] | transpose[] | {(.[0]): .[1]}] | add' 'FILE' > "
             "'FILE.jsonl'"},
        {std::string("x,y\r1,2\r3,4\r"), Words{},
         "'-' is text whose lines end in carriage returns alone: write it "
         "with newlines: tr '\\r' '\\n' < 'FILE' > 'FILE.lf'"}}) {
    const CommandResult result = piped(text, more);
    EXPECT_EQ(result.code, 65);
    EXPECT_EQ(result.err, "nustream: error: " + std::string(told) + "\n");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state/ledger")) << told;
  }
  // One record whose columns lie inside of a member is a record.
  for (const std::string& text :
       {forty_objects("\n"), std::string(R"({"payload":{"x":1,"y":2},"meta":{"q":1}})"),
        std::string(R"({"payload":{"x":1,"y":2},"list":[1]})"), std::string(R"({"payload":{"x":1,"y":2}})")}) {
    const CommandResult plain = piped(text + "\n", jsonl, fmt::format("of-{}", text.size()));
    EXPECT_EQ(plain.code, 0) << plain.err;
  }
}

// A command for a compressed file is for its content, which has to be unpacked before.
TEST_F(InputKinds, CommandsForACompressedFileAreForItsContent) {
  const std::string file = write("in.json", "[" + forty_objects(",\n") + "]\n");
  ASSERT_EQ(std::system(("gzip -kf '" + file + "'").c_str()), 0);
  const CommandResult result = run("replay", {file + ".gz", "--set", "stream.format=jsonl"});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err,
              HasSubstr(fmt::format("jq -c '.[]' '{0}.gz.unpacked' > '{0}.gz.unpacked.jsonl'; unpack it before: gzip "
                                    "-dc '{0}.gz' > '{0}.gz.unpacked'",
                                    file)))
      << "no command overwrites a file that is there";
  std::filesystem::remove(file);
  EXPECT_THAT(run("replay", {file + ".gz", "--set", "stream.format=jsonl"}).err,
              HasSubstr(fmt::format("jq -c '.[]' '{0}' > '{0}.jsonl'; unpack it before: gzip -dc '{0}.gz' "
                                    "> '{0}'",
                                    file)));
}

// A compressed file is read as it is, so that a setting is all that has to change.
TEST_F(InputKinds, ACompressedFileOfAnotherFormatNeedsASettingAlone) {
  const std::string file = write("in.jsonl", forty_objects("\n") + "\n");
  ASSERT_EQ(std::system(("gzip -f '" + file + "'").c_str()), 0);
  const CommandResult result = run("replay", {file + ".gz"});
  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, AllOf(HasSubstr("set stream.format = \"jsonl\"\n"), Not(HasSubstr("unpack"))));
}

// No single record may refuse an input, so that the run goes on; but the operator has to know what was lost.
TEST_F(InputKinds, FilesOfOneLineBesideGoodOnesAreNamedToTheOperator) {
  const std::string good = write("d1", forty_objects("\n") + "\n");
  Words all{good};
  for (int i = 2; i <= 6; ++i) all.push_back(write(fmt::format("d{}", i), "[" + forty_objects(",") + "]\n"));
  for (const char* more : {"--set", "stream.format=jsonl"}) all.emplace_back(more);
  const std::string told = fmt::format(
      "5 of 6 files are one line each, which was read as one record: '{0}' is a JSON array, and nustream "
      "reads one object on each line: write it so: jq -c '.[]' '{0}' > '{0}.jsonl'; likewise '{1}', '{2}', "
      "'{3}' and 1 more\n",
      all[1], all[2], all[3], all[4]);
  const CommandResult result = run("replay", all);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("operator only, not private: " + told));
  EXPECT_THAT(check(all).out, HasSubstr("files           " + told));
  // Old Macs' line ends, and a document.
  const std::string rows = write("e1", "1,2\n3,4\n5,6\n");
  const std::string mac = write("e2", "1,2\r3,4\r5,6\r");
  const Words plain{rows, mac, "--set", "stream.header=false", "--set", "stream.columns=[\"x\",\"y\"]"};
  EXPECT_THAT(
      check(plain).out,
      HasSubstr(fmt::format("1 of 2 files are one line each, which was read as one record: '{0}' is text whose "
                            "lines end in carriage returns alone: write it with newlines: tr '\\r' '\\n' < "
                            "'{0}' > '{0}.lf'\n",
                            mac)));
  const std::string document = write("d2", R"({"data":[)" + forty_objects(",") + "]}\n");
  EXPECT_THAT(check({good, document, "--set", "stream.format=jsonl"}).out,
              HasSubstr("one JSON document whose records are an array inside it"));
  EXPECT_THAT(check({good, good, "--set", "stream.format=jsonl"}).out, Not(HasSubstr("one line each")));
}

// What was stepped before a cut is committed, and the way on is told.
TEST_F(InputKinds, AFileThatIsCutTellsWhatIsCommitted) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 40'000; ++i) rows += fmt::format("{},{}\n", i * 79 % 1000, i * 47 % 1009);
  const std::string file = write("in.csv", rows);
  ASSERT_EQ(
      std::system(("gzip -kf '" + file + "' && head -c 60000 '" + file + ".gz' > '" + file + ".cut.gz'").c_str()), 0);
  const CommandResult result = run("replay", {file + ".cut.gz", "--quiet"});
  EXPECT_EQ(result.code, 74);
  EXPECT_THAT(
      result.err,
      AllOf(ContainsRegex(
                "fetch the file again; [0-9,]+ steps are taken and paid for: rho [0-9.e+-]+ is in the ledger; "
                "once that is mended, go on with: nustream replay "),
            HasSubstr("--resume")));
  // The same through a pipe takes the same steps.
  const std::string state = (folder_.path() / "state").string();
  const auto releases = [](const std::string& folder) {
    const std::string text = read_file(folder + "/releases.jsonl");
    return std::ranges::count(text, '\n');
  };
  EXPECT_GT(releases(state), 0);
  const CommandResult piped = run_command(
      NUSTREAM_COMMAND,
      {"replay", config_, "-", "--quiet", "--insecure-seed", "1", "--set", "state.directory=" + state + "2"},
      file + ".cut.gz");
  EXPECT_EQ(piped.code, 74);
  EXPECT_THAT(piped.err, AllOf(HasSubstr("ends in the middle of its gzip data"),
                               HasSubstr("once that is mended, and the pipe gives all of its records again, go on")));
  EXPECT_EQ(releases(state + "2"), releases(state));
}

// Seconds that are read as milliseconds are all of January 1970, and every record can be used.
TEST_F(InputKinds, SecondsThatAreReadAsMillisecondsAreTold) {
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{},{}", 1767225600 + 3600 * i, i % 3); }));
  const Words of_time{"--set", "features.0.transform=hour", "--set", "features.0.unit=ms"};
  const std::string told =
      "the first 20 times of column 'x' lie in 1970, but between 1990 and 2100 if they count seconds: set unit = "
      "\"s\"";
  EXPECT_THAT(run("replay", of_time).err, HasSubstr("operator only, not private: " + told));
  EXPECT_THAT(check(of_time).out, HasSubstr("times           " + told));
  // A pipe cannot be read again: its first records are kept while they are read.
  for (const char* command : {"replay", "check"}) {
    Words piped{command, config_, "-"};
    if (piped.front() == "check") piped.emplace_back("--data");
    piped.insert(piped.end(), of_time.begin(), of_time.end());
    piped.insert(piped.end(), {"--set", "state.directory=" + (folder_.path() / "piped").string()});
    const CommandResult result = run_command(NUSTREAM_COMMAND, piped, (folder_.path() / "in.csv").string());
    EXPECT_THAT(result.out + result.err, HasSubstr(told)) << command;
  }
  Words right = of_time;
  right.back() = "features.0.unit=s";
  EXPECT_THAT(check(right).out, Not(HasSubstr("1970")));
}

}  // namespace
}  // namespace nustream::tests
