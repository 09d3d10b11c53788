// What a newcomer is told of names, delimiters and encodings that are not those of the settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "first_contact_world.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FirstNames : public FirstContact {};

const Words no_header{"--set", "stream.header=false", "--set", R"(stream.columns=["x","y"])"};

Words and_more(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string quoted_rows(const std::string& divider) {
  return lines_of(40, [&](int i) { return fmt::format("\"{}\"{}\"{}\"", i, divider, i % 3); });
}

// To set stream.header = false was proposed, which spent the budget on 41 records of 41 that cannot be used.
TEST_F(FirstNames, AHeaderInQuotesUnderAnotherDelimiterSaysWhich) {
  for (const auto& [divider, typed] : {std::pair{";", ";"}, {"\t", "\\t"}, {"|", "|"}, {" ", " "}}) {
    const std::string file = write("in.csv", fmt::format("\"x\"{}\"y\"\n", divider) + quoted_rows(divider));
    const std::string told = fmt::format(
        "nustream: error: '{}': its header is divided by '{}', and not by ',': set stream.delimiter = \"{}\"{}\n",
        file, typed, typed, *divider == ' ' ? " (and where R wrote the table, write it with row.names = FALSE)" : "");
    for (const CommandResult& refused : {run("replay"), run("estimate", {"--set", "estimate.steps=10"}), check({})}) {
      EXPECT_EQ(refused.code, 78);
      EXPECT_EQ(refused.err, told);
    }
    EXPECT_EQ(check({"--set", fmt::format("stream.delimiter={}", typed)}).code, 0) << typed;
    const CommandResult fitted = run_command(NUSTREAM_COMMAND, {"fit", file, "--target", "y"});
    EXPECT_EQ(fitted.code, 78);
    EXPECT_THAT(fitted.err, AllOf(HasSubstr(": give --delimiter "), Not(HasSubstr("--columns"))));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state"));
}

TEST_F(FirstNames, RecordsUnderAnotherDelimiterSayWhich) {
  const std::string set = "; set stream.delimiter = \";\"";
  write("in.csv", quoted_rows(";"));
  EXPECT_THAT(check(no_header).out,
              HasSubstr("text follows a closing quotation mark; record 0 is one (line 1" + set + ")\n"));
  const std::string most = "most often text follows a closing quotation mark (record 0)" + set;
  EXPECT_THAT(run("replay", and_more(no_header, {"--quiet"})).err,
              AllOf(HasSubstr("of the first 40 records 40 (100%) cannot be used; " + most),
                    HasSubstr("none of 40 records could be used: every step was noise alone; " + most)));
  const Words fitted{"fit", (folder_.path() / "in.csv").string(), "--target", "y", "--look"};
  EXPECT_THAT(run_command(NUSTREAM_COMMAND, and_more(fitted, {"--columns", "x,y"})).out,
              HasSubstr("text follows a closing quotation mark (such as line 1); give --delimiter ';'\n"));
  write("in.csv", lines_of(40, [](int i) { return fmt::format("{};{}", i, i % 3); }));
  EXPECT_THAT(check(no_header).out, HasSubstr("(line 1 has 1 field, where 2 columns are expected" + set + ")\n"));
  write("in.csv", "x,y\n" + lines_of(40, [](int i) { return fmt::format("{};{}", i, i % 3); }));
  EXPECT_THAT(check({}).out, HasSubstr("(line 2 has 1 field, where 2 columns are expected" + set + ")\n"));
}

TEST_F(FirstNames, ARunNamesTheFramingAsTheDryRunDoes) {
  write("in.csv", "x,y,note\n" + lines_of(20, [](int i) { return fmt::format("{},1,\"two\nlines\"", i); }));
  const std::string advice =
      "a quotation mark is never closed (record 0); where quoted texts hold line breaks, set stream.framing = "
      "\"trusted\"";
  EXPECT_THAT(run("replay", {"--quiet"}).err,
              AllOf(HasSubstr("of the first 40 records 40 (100%) cannot be used; most often "), HasSubstr(advice)));
  // No option of fit lets a record go over several lines.
  const Words fitted{"fit", (folder_.path() / "in.csv").string(), "--target", "y", "--look"};
  EXPECT_THAT(
      run_command(NUSTREAM_COMMAND, fitted).out,
      HasSubstr("is never closed (such as line 2); where quoted texts hold line breaks, take a configuration with "
                "stream.framing = \"trusted\" (nustream estimate)\n"));
}

TEST_F(FirstNames, ANameThatOnlyLooksTheSameIsFoundInEveryScript) {
  write("in.csv", "\u0426\u0435\u043d\u0430,\u0439,y\n1,2,3\n");
  EXPECT_THAT(check({"--set", "features.0.column=\u0446\u0435\u043d\u0430"}).err,
              HasSubstr("(did you mean '\u0426\u0435\u043d\u0430'? it differs in its capital letters: copy it"));
  EXPECT_THAT(
      check({"--set", "features.0.column=\u0438\u0306"}).err,
      HasSubstr("(did you mean '\u0439'? it differs in how its letters are composed (Unicode NFC or NFD): copy"));
}

TEST_F(FirstNames, TheMemberThatIsMeantIsFoundAtItsPlace) {
  const auto told = [&](const std::string& record, const std::string& column) {
    write("in.csv", lines_of(30, [&](int) { return record; }));
    const std::string out = check({"--set", "stream.format=jsonl", "--set", "features.0.column=" + column}).out;
    const std::string before = "missing         in none of the first 30 records: ";
    const std::size_t begin = out.find(before);
    return begin == std::string::npos
               ? out
               : out.substr(begin + before.size(), out.find('\n', begin) - begin - before.size());
  };
  const std::string record = R"({"a":{"b":{"X":1}},"a2":{"x":1},"y":1})";
  EXPECT_EQ(told(record, "x"), "'x' (it is inside another member: write the JSON pointer '/a2/x')");
  EXPECT_EQ(told(record, "/A/b/X"),
            "'/A/b/X' (did you mean '/a/b/X'? it differs in its capital letters: copy it from there)");
  EXPECT_EQ(told(R"({"before":null,"after":{"x":1,"y":2},"op":"c"})", "x"),
            "'x' (it is inside another member: write the JSON pointer '/after/x'), 'y' (it is inside another member: "
            "write the JSON pointer '/after/y'); the records look like changes of a database's rows (Debezium): set "
            "stream.envelope = \"debezium\", under which a plain name is a column of the row");
}

TEST_F(FirstNames, TextThatIsNotUtf8IsNamedAndShownEscaped) {
  const std::string iconv =
      " not UTF-8: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8 (or -f with the encoding that it has)";
  write("in.csv",
        "Gr\xf6\xdf"
        "e,y\n1,2\n");
  EXPECT_THAT(check({"--set", "features.0.column=Gr\u00f6\u00dfe"}).err,
              HasSubstr("whose columns are 'Gr\\xf6\\xdfe', 'y'; some names are" + iconv));
  write("in.csv", "x,y\nZ\xfcrich,1\nBern,2\n");
  EXPECT_THAT(check({}).out, HasSubstr("(line 2: 'Z\\xfcrich'; this is" + iconv + ")\n"));
  const Words texts{"--set", "features.0.one_hot=[\"Z\u00fcrich\", \"Bern\"]"};
  EXPECT_THAT(check(texts).out, HasSubstr("encoding        1 text of 'x', such as 'Z\\xfcrich', is" + iconv + "\n"));
  EXPECT_THAT(check(and_more(texts, {"--json"})).out, HasSubstr("\"encoding\":[\"1 text of 'x'"));
  EXPECT_THAT(check({"--set", "features.0.one_hot=[\"Bern\"]"}).out, Not(HasSubstr("encoding")))
      << "ASCII is the same in both";
  write("in.csv", "x,y\n1,nein\n2,gew\xe4hlt\n");
  EXPECT_THAT(check({"--set", "model.loss=logistic"}).out,
              AllOf(HasSubstr("refused labels  'gew\\xe4hlt' 1 times, 'nein' 1 times\n"),
                    HasSubstr("                some labels are" + iconv + "\n")));
}

TEST_F(FirstNames, ATitleThatIsFilledUpIsATitle) {
  const std::string title =
      "(if it is a title above the header, set stream.skip_lines = N, the number of such lines)";
  write("in.csv", "Report of 2024,,\nx,y,z\n1,2,3\n");
  EXPECT_THAT(check({}).err, HasSubstr(title));
  EXPECT_THAT(run("replay").err, HasSubstr(title));
  write("in.csv", ",u,v\n1,2,3\n");
  EXPECT_THAT(check({}).err, Not(HasSubstr("title"))) << "an index without a name, as pandas writes it";
}

TEST_F(FirstNames, DoubledCarriageReturnsAreNamed) {
  const std::string file = write("in.csv", "x,y\r\r\n1,2\r\r\n3,4\r\r\n");
  for (const CommandResult& refused : {run("replay"), check({})}) {
    EXPECT_EQ(refused.code, 65);
    EXPECT_EQ(refused.err, fmt::format("nustream: error: '{0}' is text whose lines end in doubled carriage returns: "
                                       "take them away: sed 's/\\r*$//' '{0}' > '{0}.lf'\n",
                                       file));
  }
  write("in.csv", "1,2\r\r\n3,4\r\r\n");
  EXPECT_THAT(check(no_header).out,
              HasSubstr("its lines end in doubled carriage returns, which are to be taken away"));
}

}  // namespace
}  // namespace nustream::tests
