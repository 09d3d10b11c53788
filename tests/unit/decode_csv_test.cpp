// CSV records that are bad, odd or large: each is one row, never more and never fewer.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "decode/reader.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::read_all;

record::RowBatch read(const std::string& text, InputSettings settings = {},
                      const record::Schema& schema = columns({"a"}, "b")) {
  const tests::TemporaryFolder folder;
  settings.files = {folder.write("a.csv", text)};
  return read_all(settings, schema);
}

// What becomes of `line` between two good records. The test expects that they are untouched and that the line is one
// row.
struct Middle {
  double x, y;
  std::string reason;  // empty where the line is usable
};
Middle between(const std::string& line, const InputSettings& settings = {}) {
  const auto batch = read("a,b\n1,2\n" + line + "\n3,4\n", settings);
  EXPECT_EQ(batch.count(), 3U) << line.substr(0, 40);
  if (batch.count() != 3) return {};
  EXPECT_EQ(batch.x[0], 1);
  EXPECT_EQ(batch.y[0], 2);
  EXPECT_EQ(batch.x[2], 3);
  EXPECT_EQ(batch.y[2], 4);
  EXPECT_LE(batch.rejects.size(), 1U);
  if (batch.rejects.empty()) return {batch.x[1], batch.y[1], ""};
  EXPECT_EQ(batch.rejects[0].position, Position{1});
  return {batch.x[1], batch.y[1], batch.rejects[0].reason};
}
void expect_unusable(const std::string& line, const std::string& reason, const InputSettings& settings = {}) {
  const Middle middle = between(line, settings);
  EXPECT_EQ(middle.reason, reason) << line.substr(0, 40);
  EXPECT_EQ(middle.x, 0);
  EXPECT_EQ(middle.y, 0);
}

TEST(Csv, EachBadRecordIsOneRowOfZeros) {
  expect_unusable("1e999,5", "column 'a': not a number");
  expect_unusable("nan,5", "column 'a': not a number");
  expect_unusable("5,inf", "column 'b': not a number");
  expect_unusable("0x10,5", "column 'a': not a number");
  expect_unusable("\"1,5\",5", "column 'a': not a number");
  expect_unusable("1,5,5", "more fields than columns");
  expect_unusable("5", "fewer fields than columns");
  expect_unusable("", "the line is empty");
  expect_unusable("\r", "the line is empty");
  expect_unusable(",", "column 'a': empty");
  expect_unusable("\"5,6", "a quotation mark is never closed");
  expect_unusable("5,\"6", "a quotation mark is never closed");
  expect_unusable("\"5\"x,6", "text follows a closing quotation mark");
  expect_unusable(std::string("5,6\0", 4), "the line holds a NUL byte");
  expect_unusable(std::string("\0\1\2\377,\0", 6), "the line holds a NUL byte");
}

TEST(Csv, QuotedRecordsAreReadAsTheirContent) {
  EXPECT_EQ(between("\"5\",6").x, 5);
  EXPECT_EQ(between("\"5\",\"-6.5\"\r").y, -6.5);
  EXPECT_EQ(between(" 5 ,\t6\r").x, 5);
  EXPECT_EQ(between(" 5 ,\t6\r").reason, "");
}

TEST(Csv, ReasonsHoldNothingOfTheRecord) {
  for (const char* const line : {"SECRET,1", "1,\"SECRET", "SECRET", "1,2,SECRET"}) {
    EXPECT_EQ(between(line).reason.find("SECRET"), std::string::npos);
    EXPECT_FALSE(between(line).reason.empty());
  }
}

// With one column an empty line could pass for an empty field, and an indicator reads any text.
TEST(Csv, AnEmptyLineIsUnusableWithOneColumnToo) {
  record::Schema schema;
  record::Feature france;
  france.name = "france";
  france.first = {"country", record::Transform::indicator, "France"};
  schema.features = {france};
  schema.intercept = true;
  const auto batch = read("country\nFrance\n\n\r\nSpain\n", {}, schema);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 1, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(batch.rejects.size(), 2U);
}

// A record ends at its newline: a newline within quotes makes two bad records, and nothing after them is shifted.
TEST(Csv, AnOpenQuoteSpoilsItsLineOnly) {
  const auto batch = read("a,b\n\"1\n2\",3\n5,6\n");
  EXPECT_EQ(batch.x, (std::vector<double>{0, 0, 5}));
  EXPECT_EQ(batch.rejects.size(), 2U);
}

TEST(Csv, AVeryLongLineIsOneRecordWhateverItHolds) {
  for (const char filler : {'x', '"', ',', '\0', '7'}) {
    expect_unusable(std::string(3'000'000, filler), "the record is longer than record_bytes_max");
  }
  // A line that is long but within the limit: longer than a segment, and than what is read at once.
  EXPECT_EQ(between("5," + std::string(900'000, ' ') + "6").y, 6);
  EXPECT_EQ(between("5,\"6" + std::string(900'000, ' ') + "\"").y, 6);
}

// 100 MB in one line, in compressed members of 1 MB, so that the test itself stays small.
TEST(Csv, AHugeLineTakesNoMemory) {
  const std::string part = tests::gzip(std::string(1'000'000, 'x'));
  std::string stored = tests::gzip("a,b\n1,2\n");
  for (int i = 0; i < 100; ++i) stored += part;
  rusage before{}, after{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &before), 0);
  const auto batch = read(stored + tests::gzip("\n3,4\n"));
  ASSERT_EQ(getrusage(RUSAGE_SELF, &after), 0);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 0, 3}));
  EXPECT_EQ(batch.rejects.size(), 1U);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20'000);  // kB
}

TEST(Csv, TheLimitOfBytesDoesNotCountTheNewline) {
  InputSettings settings;
  settings.record_bytes_max = 5;
  EXPECT_EQ(between("12,34", settings).x, 12);
  expect_unusable("123,45", "the record is longer than record_bytes_max", settings);
  const auto last = read("a,b\n123,45", settings);
  ASSERT_EQ(last.rejects.size(), 1U);
  EXPECT_EQ(last.rejects[0].reason, "the record is longer than record_bytes_max");
}

TEST(Csv, CarriageReturnsAndAByteOrderMark) {
  const auto batch = read("\xef\xbb\xbf\"a\", b\r\n1,2\r\n\"3\",4\r\n5,6");
  EXPECT_EQ(batch.x, (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(batch.y, (std::vector<double>{2, 4, 6}));
  // A carriage return elsewhere is a character and no end of a line, even where the number of separators fits.
  EXPECT_EQ(read("a,b,c\n1\r,2,3\n").rejects.size(), 1U);
  EXPECT_EQ(read("a,b,c\n1,2\r\n").rejects[0].reason, "fewer fields than columns");
}

TEST(Csv, OtherDelimitersAndUnneededColumns) {
  InputSettings settings;
  settings.delimiter = ';';
  const auto batch = read("z;a;b;y\nx,\"y;1;2;3\n;4;5;\n", settings);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 4}));
  EXPECT_EQ(batch.y, (std::vector<double>{2, 5}));
  EXPECT_TRUE(batch.rejects.empty());
}

TEST(Csv, NamedColumnsWithoutAHeader) {
  InputSettings settings;
  settings.header = false;
  settings.columns = {"x", "b", "a"};
  const auto batch = read("0,2,1\n0,4,3\n", settings);
  EXPECT_EQ(batch.x, (std::vector<double>{1, 3}));
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Csv, SettingsThatContradictEachOther) {
  const auto refused = [](InputSettings settings, const char* part) {
    tests::expect_failure(
        Exit::configuration, [&] { (void)read("a,b\n", settings); }, part);
  };
  refused({.columns = {"a"}}, "header = true");
  refused({.header = false}, "no columns are named");
  refused({.header = false, .columns = {"a", "c"}}, "no column 'b'");
  refused({.delimiter = '"'}, "delimiter");
  refused({.delimiter = '\n'}, "delimiter");
}

TEST(Csv, TextReadingsOfPlainAndQuotedRows) {
  record::Schema schema = columns({"a"});
  record::Feature country;
  country.name = "france";
  country.first = {"country", record::Transform::indicator, "France, \"la\""};
  record::Feature hour;
  hour.name = "hour";
  hour.first = {"ts", record::Transform::hour, {}};
  schema.features.insert(schema.features.begin(), {hour, country});
  const auto batch =
      read("country,ts,a\nSpain,2010-12-01 08:26:00,1\n\"France, \"\"la\"\"\",2010-12-01 09:26:00,2\r\nx,8,3\n", {},
           schema);
  EXPECT_EQ(batch.x, (std::vector<double>{8, 0, 1, 9, 1, 2, 0, 0, 0}));
  ASSERT_EQ(batch.rejects.size(), 1U);
  EXPECT_EQ(batch.rejects[0].reason,
            "column 'ts': not a timestamp such as 2010-01-31T09:00 (ISO 8601; a plain number is one where its unit "
            "is set)");
}

TEST(Csv, ASchemaThatNeedsNothingStillCountsEveryRecord) {
  const auto batch = read("a,b\n1,2\n\nx\n", {}, record::Schema{});
  EXPECT_EQ(batch.count(), 3U);
  EXPECT_EQ(batch.dimension, 0U);
}

}  // namespace
}  // namespace nustream::decode
