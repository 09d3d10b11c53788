// Lines that another character divides: the one to set is named, and no way that would read nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "decode/csv_columns.h"
#include "decode/delimiters.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& header, char delimiter = ',') {
  try {
    static_cast<void>(read_header(header, delimiter, "in.csv"));
  } catch (const Failure& failure) {
    return std::to_string(static_cast<int>(failure.code())) + " " + failure.what();
  }
  return {};
}

// The header looked like none, and "set stream.header = false" was proposed: the budget was then spent on records
// that could not be read either.
TEST(Header, InQuotesUnderAnotherDelimiterSaysWhich) {
  for (const auto& [divider, typed] : {std::pair{";", ";"}, {"\t", "\\t"}, {"|", "|"}, {" ", " "}}) {
    for (const char* const mark : {"", "\xef\xbb\xbf"}) {
      const std::string text = std::string(mark) + "\"x\"" + divider + "\"y\"\r\n";
      EXPECT_EQ(refusal(text),
                std::string("78 'in.csv': its header is divided by '") + typed +
                    "', and not by ',': set stream.delimiter = \"" + typed + "\"" +
                    (*divider == ' ' ? " (and where R wrote the table, write it with row.names = FALSE)" : ""));
    }
  }
  EXPECT_THAT(refusal("\"x\",\"y\"", ';'), HasSubstr("by ',', and not by ';': set stream.delimiter = \",\""));
  EXPECT_THAT(refusal("\"price, net\";\"y\""), HasSubstr("set stream.delimiter = \";\""));
}

TEST(Header, ThatNoCharacterDividesIsToBeMended) {
  const auto expect = [](const std::string& header, const std::string& words) {
    EXPECT_THAT(refusal(header), testing::AllOf(HasSubstr("65 'in.csv' has no header: its first line " + words),
                                                Not(HasSubstr("stream.header = false"))));
  };
  expect("\"x,y",
         "is not a CSV record: a quotation mark is never closed; close it; where a name goes on over the end "
         "of its line, set stream.framing = \"trusted\"");
  expect("\"x\"a,y", "is not a CSV record: text follows a closing quotation mark; mend that line");
  expect("\"x\" ,\"y\"", "is not a CSV record: text follows a closing quotation mark; take the spaces away: sed -E");
  expect("x,y\r\r\n", "ends in doubled carriage returns; take them away: sed 's/\\r*$//' FILE > FILE.csv");
}

TEST(Delimiter, IsTheOneThatDividesTheLine) {
  EXPECT_EQ(other_delimiter("1;2", ','), ';');
  EXPECT_EQ(other_delimiter("1,5;2,5", ',', 2), ';');
  EXPECT_EQ(other_delimiter("1,5;2,5", ',', 3), std::nullopt);
  EXPECT_EQ(other_delimiter("\"a\";\"b|c\"", ','), ';');
  EXPECT_EQ(other_delimiter("a;b|c|d", ','), '|') << "more fields";
  EXPECT_EQ(other_delimiter("1\x01"
                            "2",
                            ',', 2),
            '\x01');
  EXPECT_EQ(other_delimiter("1 2", ',', 2), ' ');
  EXPECT_EQ(other_delimiter("1  2", ','), std::nullopt) << "an empty field";
  EXPECT_EQ(other_delimiter("a, b", ','), std::nullopt) << "a space behind the delimiter";
  EXPECT_EQ(other_delimiter("\"a;b", ';'), std::nullopt);
  const std::vector<std::string> wanted{"x", "y"};
  EXPECT_EQ(delimiter_between("x y", ',', wanted), ' ');
  EXPECT_EQ(delimiter_between("on x", ',', wanted), std::nullopt) << "a title";
  EXPECT_EQ(delimiter_between("a,b;x;y", '|', wanted), ';');
}

TEST(Delimiter, OfMostRecordsIsThatOfTheFile) {
  const tests::TemporaryFolder folder;
  const auto found = [&](const std::string& text, bool has_header) {
    config::InputSettings settings{.files = {folder.write("in.csv", text)}, .header = has_header};
    if (!has_header) settings.columns = {"x", "y"};
    return other_delimiter_of_records(settings);
  };
  EXPECT_EQ(found("\"1\";\"2\"\n\"3\";\"4\"\n", false), ';');
  EXPECT_EQ(found("x,y\n1;2\n3;4\n", true), ';');
  EXPECT_EQ(found("1,2\n3,4\n\"5\";\"6\"\n", false), std::nullopt) << "one record of three";
  EXPECT_EQ(found("1,2,3\n", false), std::nullopt);
  EXPECT_EQ(other_delimiter_of_records({.files = {"/nowhere/in.csv"}}), std::nullopt);
  EXPECT_EQ(other_delimiter_of_records({.files = {"-"}}), std::nullopt);
}

}  // namespace
}  // namespace nustream::decode
