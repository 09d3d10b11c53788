// What a file is, as its first bytes tell, and what is said of a file that is not read.
#include "decode/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "decode/reader.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::string_literals;

InputSettings csv(bool header = true) {
  InputSettings settings;
  settings.header = header;
  if (!header) settings.columns = {"a", "b"};
  return settings;
}

InputSettings jsonl() {
  InputSettings settings;
  settings.format = Format::json_lines;
  return settings;
}

std::string kind(const std::string& content, const InputSettings& settings = csv(), bool is_all = true) {
  return other_kind(content, is_all, settings, "in");
}

TEST(FileKind, OfOtherProgramsIsNamedWithWhatToTypeWhateverTheSettings) {
  std::string tar(512, '\0');
  tar.replace(0, 5, "a.csv").replace(257, 5, "ustar");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"7z\xbc\xaf\x27\x1c\0\4"s, "'in' is a 7z archive, and CSV or JSON lines are read: unpack it"},
      {tar, "'in' is a tar archive"},
      {"\x04\x22\x4d\x18\x64\x40"s,
       "'in' is compressed by lz4, and CSV or JSON lines are read: decompress it: lz4 -d 'in'"},
      {"\x1f\x9d\x90"s, "'in' is compressed by compress"},
      {"\x1f\x8b\x08\0"s, "'in' is compressed twice"},
      {"PAR1\x15\x04"s,
       "'in' is a Parquet file, and CSV or JSON lines are read: write it as CSV: duckdb -c \"COPY (FROM 'in') TO "
       "'in.csv'\""},
      {"Obj\x01\x04\x16"s,
       "'in' is an Avro file, and CSV or JSON lines are read: write it as JSON lines: avro-tools tojson 'in' > "
       "'in.jsonl'"},
      {"ARROW1\0\0\xff"s, "'in' is an Arrow file"},
      {"ORC\x0a\x03\0\0"s, "'in' is an ORC file"},
      {"SQLite format 3\0\x10"s,
       "'in' is an SQLite database, and CSV or JSON lines are read: write a table of it as CSV: sqlite3 -header -csv "
       "'in'"},
      {"\xff\xfei\0d\0,\0"s,
       "'in' is UTF-16 text, and CSV or JSON lines are read: write it as UTF-8: iconv -f UTF-16 -t UTF-8 'in' > "
       "'in.utf8'"},
      {"\xfe\xff\0i\0d"s, "'in' is UTF-16 text"},
      {"i\0d\0,\0x\0,\0y\0\n\0001\0"s, "'in' is UTF-16 text"},
      {"\0i\0d\0,\0x\0,\0y\0\n\0001"s, "'in' is UTF-16 text"},
      {"<!DOCTYPE html><html>404\n"s, "'in' is a web page, such as a server's error"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"s, "'in' is an Office document"},
      {"$FL2@(#) SPSS"s, "'in' is a file of SPSS"},
      {"\x80\x04\x95"s, "'in' is a pickle of Python's"},
      {"\x89PNG\r\n\x1a\n"s, "'in' is a picture"},
      {"\x7f"
       "ELF\2\1\1\0"s,
       "'in' is a program"},
      {"\xff\xfe\0\0i\0\0\0d\0\0\0"s,
       "'in' is UTF-32 text, and CSV or JSON lines are read: write it as UTF-8: iconv -f UTF-32 -t UTF-8 'in' > "
       "'in.utf8'"},
      {"\0\0\xfe\xff\0\0\0i"s, "'in' is UTF-32 text"},
      {"\xff\6\0\0sNaPpY"s, "'in' is compressed by snappy"},
      {"RDX3\nX\n\0\0\0\3"s, "'in' is a file of R's"},
      {"<stata_dta><header>"s, "'in' is a file of Stata's"},
      {std::string(12, '\0') + "\xc2\xea\x81\x60\xb3\x14", "'in' is a file of SAS's"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"s,
       "'in' is a pointer of Git LFS's, and CSV or JSON lines are read: fetch the file itself: git lfs pull"},
      {"{\\rtf1"s, "'in' is an RTF document"},
  };
  for (const auto& [content, sentence] : cases) {
    for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
      EXPECT_THAT(kind(content, settings), StartsWith(sentence));
    }
  }
}

TEST(FileKind, OfLettersThatBeginAHeaderIsCsv) {
  for (const char* const word : {"PAR1", "FEA1", "RDX2", "ORC"}) {
    EXPECT_THAT(kind(word + ",y\n1,2\n"s), IsEmpty()) << word;
  }
}

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

TEST(FileKind, OfJsonThatIsNotOneObjectALineIsNamedUnderEitherFormat) {
  const std::string array =
      "'in' is a JSON array, and one object a line is read: write it so, and set stream.format = \"jsonl\": jq -c "
      "'.[]' 'in' > 'in.jsonl'";
  const std::string document =
      "'in' is JSON of many lines an object, and one object a line is read: write it so, and set stream.format = "
      "\"jsonl\": jq -c . 'in' > 'in.jsonl'";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(kind("[{\"a\": 1, \"b\": 2}, {\"a\": 3, \"b\": 4}]", settings), array) << "one record alone";
    EXPECT_EQ(decode::other_kind("[{\"a\": 1, \"b\": 2}, {\"a\": 3", false, settings, "in"),
              array);  // longer than what is looked at
    EXPECT_EQ(kind("[\n{\"a\": 1},\n{\"a\": 2}\n]\n", settings), array);
    EXPECT_EQ(kind("[\n  {\n    \"a\": 1\n  }\n]\n", settings), array);
    EXPECT_EQ(kind("{\n  \"a\": 1,\n  \"b\": 2\n}\n", settings), document);
  }
}

TEST(FileKind, OfObjectsWithoutLinesIsNamed) {
  const std::string sentence =
      "'in' is JSON with several objects on a line, and one object a line is read: write it so, and set "
      "stream.format = "
      "\"jsonl\": jq -c . 'in' > 'in.jsonl'";
  const std::string one = R"({"a": "}{", "b": [{"c": 1}]})";
  EXPECT_EQ(kind(one + one + "\n" + one + ' ' + one + "\n", jsonl()), sentence);
  EXPECT_EQ(kind(one + one, jsonl()), sentence) << "no line end at all";
  EXPECT_EQ(decode::other_kind(one + one + one.substr(0, 9), false, jsonl(), "in"), sentence)
      << "a line that is longer than what is looked at";
  EXPECT_EQ(decode::other_kind(one + one + one.substr(0, 9), false, csv(false), "in"), sentence);
  EXPECT_THAT(kind(one + "\n" + one + "\n", jsonl()), IsEmpty());
  EXPECT_THAT(kind(one + one + "\n" + one + "\n", jsonl()), IsEmpty()) << "one record does not decide";
}

TEST(FileKind, OfJsonWithSeparatorsIsNamed) {
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_EQ(
        kind("\x1e{\"a\": 1}\n\x1e{\"a\": 2}\n", settings),
        "'in' is a sequence of JSON texts with separators (RFC 7464), and JSON lines have none: take them out, and "
        "set stream.format = \"jsonl\": tr -d '\\036' < 'in' > 'in.jsonl'");
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

// A single record that is no JSON, or that looks like JSON, does not decide what the file is.
TEST(FileKind, IsNotDecidedByOneRecord) {
  EXPECT_THAT(kind("garbage,1\n{\"a\": 1}\n", jsonl()), IsEmpty());
  EXPECT_THAT(kind("[\n{\"a\": 1}\n{\"a\": 2}\n", jsonl()), IsEmpty());
  EXPECT_THAT(kind("garbage,1\n{\"a\"", jsonl(), false), IsEmpty()) << "one line is whole";
  EXPECT_THAT(kind("{\"a\": 1}\n1,2\n", csv(false)), IsEmpty());
  EXPECT_THAT(kind("[1,2\n1,2\n", csv(false)), IsEmpty());
  EXPECT_THAT(kind("a,b\n{\"a\": 1}\n{\"a\": 2}\n"), IsEmpty()) << "the header says that it is CSV";
}

TEST(FileKind, OfWhatIsReadIsNotTold) {
  EXPECT_THAT(kind("a,b\n1,2\n"), IsEmpty());
  EXPECT_THAT(kind("[a],[b]\n1,2\n"), IsEmpty()) << "a header of SQL Server's";
  EXPECT_THAT(kind("ORC,b\n1,2\n"), IsEmpty());
  EXPECT_THAT(kind("\xef\xbb\xbf{\"a\": 1}\n", jsonl()), IsEmpty());
  EXPECT_THAT(kind("", jsonl()), IsEmpty());
  EXPECT_THAT(kind("{\"a\": 1", jsonl(), false), IsEmpty()) << "a first line that is longer than what is looked at";
}

// All files are looked at before the first record of the first file is read.
TEST(FileKind, OfEveryFileIsLookedAtFirst) {
  const tests::TemporaryFolder folder;
  const std::string good = folder.write("good.csv", "a\n1\n");
  const std::string other = folder.write("other", "PAR1\x15\x04");
  tests::expect_failure(
      Exit::data,
      [&] {
        (void)open_reader({.files = {good, other}}, tests::columns({"a"}));
      },
      "is a Parquet file");
  const std::string wrapped = folder.write("other.gz", tests::gzip("PAR1\x15\x04"));
  tests::expect_failure(
      Exit::data,
      [&] {
        (void)open_reader({.files = {good, wrapped}}, tests::columns({"a"}));
      },
      "is a Parquet file");
}

TEST(FileKind, OfAPipeIsToldByItsFirstLines) {
  const tests::TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "a,b\n1,2\n3,4\n" << std::flush; });
  InputSettings settings = jsonl();
  settings.files = {pipe};
  tests::expect_failure(
      Exit::data,
      [&] {
        const auto reader = open_reader(settings, tests::columns({"a"}));
        record::RowBatch batch;
        while (reader->read(batch, 10)) {
        }
      },
      "is CSV, and stream.format");
  writer.join();
}

// The look does not tell that a file is cut: the records before the cut are read first.
TEST(FileKind, LeavesDamageToTheReader) {
  const tests::TemporaryFolder folder;
  const std::string stored = tests::gzip("a\n1\n2\n");
  const auto reader =
      open_reader({.files = {folder.write("cut.gz", stored.substr(0, stored.size() - 4))}}, tests::columns({"a"}));
  record::RowBatch batch;
  EXPECT_TRUE(reader->read(batch, 10));
  EXPECT_EQ(batch.count(), 2U);
  tests::expect_failure(Exit::io, [&] { (void)reader->read(batch, 10); });
}

}  // namespace
}  // namespace nustream::decode
