// What the beginning of a file decides, and for how long: lines longer than the look, files that are added to a
// stream, and the files behind the first one.
#include "decode/first_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "decode/file_kind.h"
#include "decode/reader.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::csv;
using tests::jsonl;

/// What other_kind() says of a file with `content`.
std::string kind_of_file(const std::string& content, const InputSettings& settings) {
  const tests::TemporaryFolder folder;
  FirstContents contents(settings, [&](std::string_view line) { return looks_like_record(line, settings); });
  return other_kind(contents.of(folder.write("in", content)).value(), settings, "in");
}

std::string repeated(const std::string& text) {
  std::string all;
  while (all.size() <= 2 * look_bytes) all += text;
  return all;
}

// A line may be longer than what is looked at. Then the rest of the file says whether it is one record among others.
TEST(FirstLines, OfALongLineIsToldOnlyWhereItIsTheWholeFile) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[" + repeated("{\"a\": 1}, ") + "{\"a\": 1}]", "is a JSON array"},
      {repeated("{\"a\": 1}"), "several objects on a line"},
      {repeated("1,2\r"), "carriage returns alone"}};
  for (const auto& [line, sentence] : cases) {
    for (const auto& [settings, good] : {std::pair{jsonl(), "{\"a\": 1}\n"}, std::pair{csv(false), "1,2\n"}}) {
      EXPECT_THAT(kind_of_file(line, settings), HasSubstr(sentence));
      EXPECT_THAT(kind_of_file(line + "\n\n", settings), HasSubstr(sentence));
      EXPECT_THAT(kind_of_file(line + "\n" + good, settings), IsEmpty()) << sentence;
      EXPECT_THAT(kind_of_file(line + "\n" + line, settings), IsEmpty()) << sentence;
    }
  }
}

// Blank lines, and those that the settings skip, are none of a file's lines.
TEST(FirstLines, AreNotThoseThatHoldNothing) {
  const std::string array = "[" + repeated("{\"a\": 1}, ") + "{\"a\": 1}]";
  InputSettings skipping = jsonl();
  skipping.skip_lines = 1;
  EXPECT_THAT(kind_of_file("\n \r\n" + array + "\n\n", jsonl()), HasSubstr("is a JSON array"));
  EXPECT_THAT(kind_of_file("made today\n" + array, skipping), HasSubstr("is a JSON array"));
  EXPECT_THAT(kind_of_file("made today\n" + array, jsonl()), IsEmpty());
  EXPECT_THAT(kind_of_file("made today\n" + array + "\n{\"a\": 1}", skipping), IsEmpty());
}

// Records below a header do not make a document of the file.
TEST(FirstLines, OfADocumentAreItsHeaderAlone) {
  const tests::TemporaryFolder folder;
  const std::string rows = "{a,x\n1,3\n1,[{}]}\n";
  EXPECT_NO_THROW((void)open_reader({.files = {folder.write("in.csv", rows)}}, tests::columns({"x"})));
  const std::string document = "{\n\"data\": [{\"x\": 1}, {\"x\": 2}]}\n";
  tests::expect_failure(
      Exit::data, [&] { (void)open_reader({.files = {folder.write("in.json", document)}}, tests::columns({"x"})); },
      "is one JSON document");
}

// A record that is alone in its file is one record of the input. Files of which none has records tell each other.
TEST(FirstLines, OfAFileAreNotAllLinesOfTheInput) {
  const tests::TemporaryFolder folder;
  const record::Schema schema = tests::columns({"a"});
  const std::string array = folder.write("1.jsonl", "[{\"a\": 1}, {\"a\": 2}]\n");
  const std::string other = folder.write("2.jsonl", "[{\"a\": 3}, {\"a\": 4}]\n");
  const std::string honest = folder.write("3.jsonl", "{\"a\": 5}\n");
  const std::string document = folder.write("4.jsonl", R"({"data": [{"a": 1}, {"a": 2}]})");
  InputSettings settings = jsonl();
  for (const auto& files : std::vector<std::vector<std::string>>{
           {honest, array}, {array, honest}, {array, other, honest}, {document, honest}, {honest, document}}) {
    settings.files = files;
    EXPECT_NO_THROW((void)open_reader(settings, schema));
  }
  for (const auto& files :
       std::vector<std::vector<std::string>>{{array}, {array, other}, {document, array}, {document, document}}) {
    settings.files = files;
    tests::expect_failure(
        Exit::data, [&] { (void)open_reader(settings, schema); }, "JSON");
  }
}

// Records that were used may not be followed by a refusal because of what other records hold; a header may be
// refused.
TEST(FirstLines, OfRecordsIsNotToldOnceRecordsWereUsed) {
  const tests::TemporaryFolder folder;
  const std::string used = folder.write("day1.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
  const std::string array = folder.write("day2.jsonl", "[\n{\"b\": 3},\n{\"b\": 4}\n]\n");
  const std::string document = folder.write("day3.jsonl", R"({"data": [{"a": 1}, {"a": 2}]})");
  InputSettings settings = jsonl();
  settings.files = {used, array, document};
  const record::Schema schema = tests::columns({"a"});
  tests::expect_failure(
      Exit::data, [&] { (void)open_reader(settings, schema); }, "is a JSON array");
  const auto reader = open_reader(settings, schema, OtherKinds::read);
  record::RowBatch batch;
  while (reader->read(batch, 10)) {
  }
  EXPECT_EQ(batch.count(), 7U);
  EXPECT_EQ(batch.rejects.size(), 5U);
  const std::string good = folder.write("good.csv", "a\n1\n");
  const std::string other = folder.write("other.csv", "PAR1\x15\x04");
  const InputSettings with_header{.files = {good, other}};
  tests::expect_failure(
      Exit::data, [&] { (void)open_reader(with_header, schema, OtherKinds::read); }, "is a Parquet file");
}

// One record among others could look like the beginning of a document that has all others in it.
TEST(FirstLines, OfADocumentIsNotToldByOneRecord) {
  const tests::TemporaryFolder folder;
  const record::Schema schema = tests::columns({"a"});
  InputSettings settings = jsonl();
  settings.files = {folder.write("in.jsonl", "{\"data\": [\n" + repeated("{\"a\": 1}\n"))};
  while (std::filesystem::file_size(settings.files.front()) <= (std::size_t{16} << 20)) {
    std::ofstream(settings.files.front(), std::ios::app) << repeated("{\"a\": 1}\n");
  }
  record::RowBatch batch;
  EXPECT_TRUE(open_reader(settings, schema)->read(batch, 10));
  EXPECT_EQ(batch.rejects.size(), 1U);
}

// The header of each file is the whole line that the reader takes for it, with the line breaks in its names.
TEST(FilesAhead, JoinsTheLineBreaksOfAHeader) {
  const tests::TemporaryFolder folder;
  const std::string content = "\"an\nx\",y\n1,2\n";
  InputSettings settings{.files = {folder.write("1.csv", content), folder.write("2.csv", content)}};
  settings.framing_is_trusted = true;
  const auto reader = open_reader(settings, tests::columns({"an x"}, "y"));
  record::RowBatch batch;
  while (reader->read(batch, 10)) {
  }
  EXPECT_EQ(batch.count(), 2U);
  EXPECT_THAT(batch.rejects, IsEmpty());
}

}  // namespace
}  // namespace nustream::decode
