// What a text is that is not what the settings say, and what to type then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "file_kinds.h"

namespace nustream::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace std::string_literals;
using tests::csv;
using tests::jsonl;
using tests::kind;
using tests::kind_of_long_line;
using tests::under;

TEST(FileKind, OfBinaryDataIsNamed) {
  const std::string sentence = "'in' is binary data, with zero bytes in its first lines: write its records as CSV";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_THAT(kind("\x0a\x07\0\x12\nab\0,c\n"s, settings), StartsWith(sentence));
  }
  EXPECT_THAT(kind("a,b\n1,\0\n3,4\n"s), IsEmpty()) << "one record does not decide";
  EXPECT_THAT(kind("1,\0\n3,4\n"s, csv(false)), IsEmpty()) << "one record does not decide";
  EXPECT_THAT(kind("{\"a\": 1}\n\0\n"s, jsonl()), IsEmpty()) << "one record does not decide";
}

TEST(FileKind, OfCarriageReturnsAloneIsNamed) {
  const std::string sentence =
      "'in' is text whose lines end in carriage returns alone: write it with newlines: tr '\\r' '\\n' < 'in' > "
      "'in.lf'";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(kind("a,b\r1,2\r3,4\r", settings), sentence);
  }
  EXPECT_THAT(kind("a,b\r\n1,2\r\n"), IsEmpty());
  EXPECT_THAT(kind("a,b\r"), IsEmpty()) << "one line, with its end";
}

// One carriage return belongs to the line's end. The second one was called binary data.
TEST(FileKind, OfDoubledCarriageReturnsIsNamed) {
  const std::string sentence =
      "'in' is text whose lines end in doubled carriage returns: take them away: sed 's/\\r*$//' 'in' > 'in.lf'";
  EXPECT_EQ(kind("a,b\r\r\n1,2\r\r\n"), sentence);
  EXPECT_EQ(kind("a,b\r\r\r\n1,2\r\n"), sentence);
  EXPECT_THAT(kind("a,b\r\n1,2\r\r\n"), IsEmpty()) << "one record does not decide";
  EXPECT_THAT(kind("1,2\r\r\n3,4\r\r\n", csv(false)), IsEmpty()) << "records of which the first field can be read";
  EXPECT_THAT(kind("{\"a\": 1}\r\r\n{\"a\": 2}\r\r\n", jsonl()), IsEmpty()) << "white space of JSON";
}

TEST(FileKind, OfJsonThatIsNotOneObjectALineIsNamedUnderEitherFormat) {
  const std::string array =
      "'in' is a JSON array, and nustream reads one object on each line: write it so, and set stream.format = "
      "\"jsonl\": jq -c "
      "'.[]' 'in' > 'in.jsonl'";
  const std::string document =
      "'in' is JSON with each object over several lines, and nustream reads one object on each line: write it so, "
      "and set stream.format = "
      "\"jsonl\": jq -c . 'in' > 'in.jsonl'";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(kind("[{\"a\": 1, \"b\": 2}, {\"a\": 3, \"b\": 4}]", settings), under(settings, array))
        << "one record alone";
    EXPECT_EQ(kind_of_long_line("[{\"a\": 1, \"b\": 2}, {\"a\": 3", settings), under(settings, array));
    EXPECT_EQ(kind("[\n{\"a\": 1},\n{\"a\": 2}\n]\n", settings), under(settings, array));
    EXPECT_EQ(kind("[\n  {\n    \"a\": 1\n  }\n]\n", settings), under(settings, array));
    EXPECT_EQ(kind("{\n  \"a\": 1,\n  \"b\": 2\n}\n", settings), under(settings, document));
  }
}

TEST(FileKind, OfObjectsWithCommasBehindThemIsNamed) {
  const std::string sentence =
      "'in' is JSON objects with a comma behind each, and JSON lines have none: take the commas out, and set "
      "stream.format = \"jsonl\": sed 's/,[[:space:]]*$//' 'in' > 'in.jsonl'";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(kind("{\"a\": 1, \"b\": 2},\n{\"a\": 3, \"b\": 4} ,\n", settings), under(settings, sentence));
  }
  EXPECT_THAT(kind("[{\"a\": 1},\n{\"a\": 2},\n{\"a\": 3}]\n", jsonl()), StartsWith("'in' is a JSON array"));
  EXPECT_THAT(kind("{\"d\": [\n{\"a\": 2},\n{\"a\": 3},\n{\"a\": 4}\n]}\n", jsonl()),
              StartsWith("'in' is JSON with each object over several lines"));
}

TEST(FileKind, OfObjectsWithTextBehindThemIsNamed) {
  const std::string sentence =
      "'in' is JSON objects with text behind each, and JSON lines have none: take the text away, and set "
      "stream.format = \"jsonl\": sed 's/}[^}]*$/}/' 'in' > 'in.jsonl'";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(kind("{\"a\": 1, \"b\": 2} // c\n{\"a\": {\"b\": 4}} # c\n", settings), under(settings, sentence));
  }
}

TEST(FileKind, OfArraysOnLinesIsNamed) {
  const std::string sentence =
      "'in' is JSON arrays of values, one a line, and nustream reads one object on each line: write it as CSV, and "
      "set stream.format = \"csv\", stream.header = false and stream.columns: jq -r @csv 'in' > 'in.csv'";
  EXPECT_EQ(kind("[1.64,5]\n[2.5,\"a\"]\n[3,4]\n", jsonl()), sentence);
  EXPECT_THAT(kind("[\n[1,2],\n[3,4]\n]\n", jsonl()), StartsWith("'in' is a JSON array"));
}

TEST(FileKind, OfTextsAroundObjectsIsNamed) {
  EXPECT_EQ(kind("\"{\\\"a\\\":1,\\\"b\\\":2}\"\n\"{\\\"a\\\":3,\\\"b\\\":4}\"\n", jsonl()),
            "'in' is JSON written twice (a text in quotes on each line), and nustream reads one object on each line: "
            "write what is in "
            "the texts: jq -c fromjson 'in' > 'in.jsonl'");
  EXPECT_EQ(kind("2020-01-01 INFO {\"a\": 1, \"b\": 2}\n2020-01-02 INFO {\"a\": 3, \"b\": 4}\n", jsonl()),
            "'in' is a log with text before the JSON of its lines, and nustream reads one object on each line: take "
            "the text away: "
            "sed 's/^[^{]*//' 'in' > 'in.jsonl'");
  EXPECT_THAT(kind("1,\"{\"\n2,\"}\"\n", jsonl()), StartsWith("'in' is CSV"));
}

TEST(FileKind, OfObjectsWithoutLinesIsNamed) {
  const std::string sentence =
      "'in' is JSON with several objects on a line, and nustream reads one object on each line: write it so, and set "
      "stream.format = "
      "\"jsonl\": jq -c . 'in' > 'in.jsonl'";
  const std::string one = R"({"a": "}{", "b": [{"c": 1}]})";
  EXPECT_EQ(kind(one + one + "\n" + one + ' ' + one + "\n", jsonl()), under(jsonl(), sentence));
  EXPECT_EQ(kind(one + one, jsonl()), under(jsonl(), sentence)) << "no line end at all";
  EXPECT_EQ(kind_of_long_line(one + one + one.substr(0, 9), jsonl()), under(jsonl(), sentence));
  EXPECT_EQ(kind_of_long_line(one + one + one.substr(0, 9), csv(false)), sentence);
  EXPECT_THAT(kind(one + "\n" + one + "\n", jsonl()), IsEmpty());
  EXPECT_THAT(kind(one + one + "\n" + one + "\n", jsonl()), IsEmpty()) << "one record does not decide";
  EXPECT_EQ(kind("[\n" + one + one + "\n" + one + one + "\n", jsonl()), under(jsonl(), sentence))
      << "nor does it hide the others";
}

TEST(FileKind, OfJsonWithSeparatorsIsNamed) {
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(kind("\x1e{\"a\": 1}\n\x1e{\"a\": 2}\n", settings),
              under(settings,
                    "'in' is a sequence of JSON texts with separators (RFC 7464), and JSON lines have none: take "
                    "them out, and set stream.format = \"jsonl\": tr -d '\\036' < 'in' > 'in.jsonl'"));
  }
}

TEST(FileKind, OfOneTextForAnotherIsNamed) {
  EXPECT_EQ(kind("a,b\n1,2\n", jsonl()), "'in' is CSV, and stream.format = \"jsonl\": set stream.format = \"csv\"");
  EXPECT_EQ(kind("{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n"),
            "'in' is JSON lines, and stream.format = \"csv\": set stream.format = \"jsonl\"");
  EXPECT_THAT(kind("{\"a\": 1}\n{\"a\": 3}\n", csv(false)), HasSubstr("is JSON lines"));
  EXPECT_EQ(
      kind("sep=;\na;b\n1;2\n"),
      "'in' is CSV with a line of Excel's (sep=) above it: set stream.skip_lines = 1 and stream.delimiter = \";\"");
  InputSettings skipping = csv();
  skipping.skip_lines = 1;
  EXPECT_THAT(kind("sep=;\na;b\n1;2\n", skipping), IsEmpty());
}

}  // namespace
}  // namespace nustream::decode
