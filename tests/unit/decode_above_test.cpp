// What may stand above the records, and how people write fields: lines that are no records, byte order marks, decimal
// commas, booleans, delimiters.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode/message_decoder.h"
#include "decode/reader.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::expect_failure;
using Numbers = std::vector<double>;

constexpr const char* mark = "\xef\xbb\xbf";

record::RowBatch read(const std::string& text, InputSettings settings = {},
                      const record::Schema& schema = columns({"a"}, "b")) {
  const tests::TemporaryFolder folder;
  settings.files = {folder.write("in", text)};
  return tests::read_all(settings, schema);
}

InputSettings without_header() {
  InputSettings settings;
  settings.header = false;
  settings.columns = {"a", "b"};
  return settings;
}

TEST(LinesAbove, ThatAreSkippedAreNoRecordsWhateverTheyHold) {
  InputSettings settings;
  settings.skip_lines = 2;
  const auto batch = read("a,\"open\n\na,b\n1,2\n3,4\n", settings);
  EXPECT_EQ(batch.x, (Numbers{1, 3}));
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{1, 2})) << "ordinals begin behind them";
  InputSettings values = without_header();
  values.skip_lines = 1;
  EXPECT_EQ(read("9,9\n1,2\n", values).x, (Numbers{1}));
  values.format = Format::json_lines;
  EXPECT_EQ(read("9,9\n{\"a\":1,\"b\":2}\n", values).x, (Numbers{1}));
}

TEST(LinesAbove, MayBeLongerThanARecord) {
  InputSettings settings;
  settings.skip_lines = 1;
  settings.record_bytes_max = 100;
  EXPECT_EQ(read(std::string(1'000'000, '#') + "\na,b\n1,2\n", settings).x, (Numbers{1}));
  settings.skip_lines = 0;
  settings.comment = "#";
  EXPECT_EQ(read(std::string(1'000'000, '#') + "\n# more\na,b\n1,2\n", settings).x, (Numbers{1}));
}

// Behind the header, a line that looks like a comment takes a step: were it skipped, one record would move all
// others.
TEST(LinesAbove, CommentsEndAtTheHeader) {
  InputSettings settings;
  settings.comment = "#";
  const auto batch = read("# exported\n#\na,b\n1,2\n# no record\n3,4\n", settings);
  EXPECT_EQ(batch.x, (Numbers{1, 0, 3}));
  ASSERT_EQ(batch.rejects.size(), 1U);
  EXPECT_EQ(batch.rejects.front().position, Position{1});
}

// What follows a long line above the records is still above them, in a later file as in the first one.
TEST(LinesAbove, OfALaterFileMayBeLongerThanARecord) {
  const tests::TemporaryFolder folder;
  InputSettings settings;
  settings.skip_lines = 2;
  settings.record_bytes_max = 100'000;
  const std::string title = std::string(400'000, 'T') + "\nx\n";
  settings.files = {folder.write("a", "x\nx\na,b\n1,2\n"), folder.write("b", title + "a,b\n3,4\n")};
  const auto batch = tests::read_all(settings, columns({"a"}, "b"));
  EXPECT_EQ(batch.x, (Numbers{1, 3}));
  EXPECT_TRUE(batch.rejects.empty());
}

TEST(LinesAbove, OfEachFileAreSkipped) {
  const tests::TemporaryFolder folder;
  InputSettings settings;
  settings.skip_lines = 1;
  settings.comment = "%";
  settings.files = {folder.write("a", "x\n%\na,b\n1,2\n"), folder.write("b", "y\na,b\n3,4\n")};
  EXPECT_EQ(tests::read_all(settings, columns({"a"}, "b")).x, (Numbers{1, 3}));
  EXPECT_EQ(count_records(settings), 2U);
}

TEST(LinesAbove, AreProposedWhereTheHeaderLooksLikeOne) {
  expect_failure(
      Exit::configuration, [&] { (void)read("# exported\na,b\n1,2\n"); },
      "(if lines that begin with '#' stand above the header, set stream.comment = \"#\", or stream.skip_lines to");
  expect_failure(
      Exit::configuration, [&] { (void)read("Orders of May\na,b\n1,2\n"); },
      "(if it is a title above the header, set stream.skip_lines = N, the number of such lines)");
  InputSettings settings;
  settings.skip_lines = 9;
  expect_failure(
      Exit::data, [&] { (void)read("a,b\n1,2\n", settings); }, "is empty behind the lines that stream.skip_lines");
}

TEST(ByteOrderMark, IsDroppedWhereverARecordBegins) {
  EXPECT_EQ(read(std::string(mark) + "a,b\n1,2\n").x, (Numbers{1}));
  EXPECT_EQ(read(std::string(mark) + "1,2\n3,4\n", without_header()).x, (Numbers{1, 3}));
  EXPECT_EQ(read("1,2\n" + std::string(mark) + "3,4\n", without_header()).x, (Numbers{1, 3}));
  InputSettings json;
  json.format = Format::json_lines;
  EXPECT_EQ(read(std::string(mark) + "{\"a\":1,\"b\":2}\n" + mark + "{\"a\":3,\"b\":4}\n", json).x, (Numbers{1, 3}));
  record::Schema words = columns({"a"}, "b");
  words.features[0].first.transform = record::Transform::indicator;
  words.features[0].first.equals = "yes";
  EXPECT_EQ(read(std::string(mark) + "yes,2\n", without_header(), words).x, (Numbers{1}));
}

TEST(DecimalComma, IsReadAndADotThenIsNoNumber) {
  InputSettings settings;
  settings.delimiter = ';';
  settings.decimal = ',';
  const auto batch = read("a;b\n1,5;-2,25e1\n,5;\"7,\"\n3;4\n1.234;1\n1.234,5;1\n1,2,3;1\ntrue;0\n", settings);
  EXPECT_EQ(batch.x, (Numbers{1.5, 0.5, 3, 0, 0, 0, 1}));
  EXPECT_EQ(batch.y, (Numbers{-22.5, 7, 4, 0, 0, 0, 0}));
  EXPECT_EQ(batch.rejects.size(), 3U);
  settings.delimiter = ',';
  EXPECT_EQ(read("a,b\n\"1,5\",\"2,5\"\n", settings).x, (Numbers{1.5}));
}

TEST(Booleans, OfCsvAreOneAndZero) {
  const auto batch = read("a,b\ntrue,1\n False ,TRUE\nfalse,0\nTrue,2\nyes,1\ntrue1,1\n5,True\n");
  EXPECT_EQ(batch.x, (Numbers{1, 0, 0, 1, 0, 0, 5}));
  EXPECT_EQ(batch.y, (Numbers{1, 1, 0, 2, 0, 0, 1}));
  EXPECT_EQ(batch.rejects.size(), 2U);
}

TEST(Delimiters, MayBeTabsOrControlCharactersAndStandInQuotedFields) {
  InputSettings settings;
  for (const char delimiter : {'\t', '\x01', '|', ';', ' '}) {
    settings.delimiter = delimiter;
    const std::string d(1, delimiter);
    const auto batch =
        read("\"n" + d + "n\"" + d + "a" + d + "b\n\"x" + d + "\"\"y\"" + d + "1" + d + "2\n", settings);
    EXPECT_EQ(batch.x, (Numbers{1})) << static_cast<int>(delimiter);
    EXPECT_EQ(batch.y, (Numbers{2})) << static_cast<int>(delimiter);
  }
  InputSettings values = without_header();
  values.columns = {"n", "a", "b"};
  const record::Schema schema = columns({"a"}, "b");
  MessageDecoder decoder(values, schema);
  MessageBatch message;
  message.add({.offset = 7, .value = "\"x,\"\"y\",1,2"});
  record::RowBatch batch;
  batch.dimension = decoder.dimension();
  decoder.decode(message.messages(), batch);
  EXPECT_EQ(batch.x, (Numbers{1}));
}

}  // namespace
}  // namespace nustream::decode
