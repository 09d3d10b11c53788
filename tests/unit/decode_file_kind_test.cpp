// What a file is, as its first bytes tell, and what is said of a file that is not read.
#include "decode/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "decode/one_document.h"
#include "decode/reader.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "file_kinds.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace std::string_literals;
using tests::csv;
using tests::jsonl;
using tests::kind;
using tests::kind_of_beginning;
using tests::kind_of_long_line;

TEST(FileKind, OfOtherProgramsIsNamedWithWhatToTypeWhateverTheSettings) {
  std::string tar(512, '\0');
  tar.replace(0, 5, "a.csv").replace(257, 5, "ustar");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"7z\xbc\xaf\x27\x1c\0\4"s, "'in' is a 7z archive, and nustream reads CSV or JSON lines: unpack it"},
      {tar, "'in' is a tar archive"},
      {"\x04\x22\x4d\x18\x64\x40"s,
       "'in' is compressed by lz4, and nustream reads CSV or JSON lines: decompress it: lz4 -dc 'in' > 'in.out'"},
      {"\x1f\x9d\x90"s,
       "'in' is compressed by compress, and nustream reads CSV or JSON lines: decompress it: gzip -dc < 'in' > "
       "'in.out'"},
      {"\x5d\0\0\x80\0"s,
       "'in' is compressed by lzma, and nustream reads CSV or JSON lines: decompress it: xz -dc --format=lzma 'in' > "
       "'in.out'"},
      {"\x1f\x8b\x08\0"s, "'in' is compressed twice"},
      {"PAR1\x15\x04"s,
       "'in' is a Parquet file, and nustream reads CSV or JSON lines: write it as CSV: duckdb -c \"COPY (FROM 'in') "
       "TO "
       "'in.csv'\""},
      {"Obj\x01\x04\x16"s,
       "'in' is an Avro file, and nustream reads CSV or JSON lines: write it as JSON lines: avro-tools tojson 'in' > "
       "'in.jsonl'"},
      {"ARROW1\0\0\xff"s, "'in' is an Arrow file"},
      {"ORC\x11\0\0"s, "'in' is an ORC file"},
      {"SQLite format 3\0\x10"s,
       "'in' is an SQLite database, and nustream reads CSV or JSON lines: write a table of it as CSV: sqlite3 "
       "-header -csv "
       "'in'"},
      {"\xff\xfei\0d\0,\0"s,
       "'in' is UTF-16 text, and nustream reads CSV or JSON lines: write it as UTF-8: iconv -f UTF-16 -t UTF-8 'in' "
       "> "
       "'in.utf8'"},
      {"\xfe\xff\0i\0d"s, "'in' is UTF-16 text"},
      {"i\0d\0,\0x\0,\0y\0\n\0001\0"s,
       "'in' is UTF-16LE text, and nustream reads CSV or JSON lines: write it as UTF-8: iconv -f UTF-16LE -t UTF-8 "
       "'in' "
       "> "},
      {"\0i\0d\0,\0x\0,\0y\0\n\0001"s,
       "'in' is UTF-16BE text, and nustream reads CSV or JSON lines: write it as UTF-8: iconv -f UTF-16BE -t UTF-8 "
       "'in' "
       "> "},
      {"\xff\xff\xff\xff\xf8\0\0\0\x10\0\0\0"s,
       "'in' is an Arrow stream, and nustream reads CSV or JSON lines: write it as CSV: python3 -c \"import pyarrow, "
       "sys; pyarrow.ipc.open_stream(sys.argv[1]).read_pandas().to_csv(sys.argv[2], index=False)\" 'in' 'in.csv'"},
      {"<!DOCTYPE html><html>404\n"s, "'in' is a web page, such as a server's error"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"s, "'in' is an Office document"},
      {"$FL2@(#) SPSS"s, "'in' is a file of SPSS"},
      {"\x80\x04\x95"s, "'in' is a pickle of Python's"},
      {"\x89PNG\r\n\x1a\n"s, "'in' is a picture"},
      {"\x89HDF\r\n\x1a\n"s, "'in' is an HDF5 file"},
      {"\x7f"
       "ELF\2\1\1\0"s,
       "'in' is a program"},
      {"\xff\xfe\0\0i\0\0\0d\0\0\0"s,
       "'in' is UTF-32 text, and nustream reads CSV or JSON lines: write it as UTF-8: iconv -f UTF-32 -t UTF-8 'in' "
       "> "
       "'in.utf8'"},
      {"\0\0\xfe\xff\0\0\0i"s, "'in' is UTF-32 text"},
      {"\xff\6\0\0sNaPpY"s, "'in' is compressed by snappy"},
      {"<stata_dta><header>"s, "'in' is a file of Stata's"},
      {std::string(12, '\0') + "\xc2\xea\x81\x60\xb3\x14", "'in' is a file of SAS's"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"s,
       "'in' is a pointer of Git LFS's, and nustream reads CSV or JSON lines: fetch the file itself: git lfs pull"},
      {"{\\rtf1"s, "'in' is an RTF document"},
  };
  for (const auto& [content, sentence] : cases) {
    for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
      EXPECT_THAT(kind(content, settings), StartsWith(sentence));
    }
  }
}

// A name may hold what a shell, or SQL, reads as something else.
TEST(FileKind, IsToldWithCommandsThatCanBeTypedWhateverTheNameHolds) {
  const auto told = [](const std::string& content, const std::string& path) {
    return other_kind({content, true, true}, csv(), path);
  };
  EXPECT_THAT(told("[{\"a\":1}]\n", "it's"), HasSubstr("jq -c '.[]' 'it'\\''s' > 'it'\\''s.jsonl'"));
  EXPECT_THAT(told("\xff\xfei\0d\0,\0"s, "it's"), HasSubstr("-t UTF-8 'it'\\''s' > 'it'\\''s.utf8'"));
  EXPECT_THAT(told("PAR1\x15\x04"s, "it's $x"),
              HasSubstr("duckdb -c \"COPY (FROM 'it''s \\$x') TO 'it''s \\$x.csv'\""));
  EXPECT_THAT(told("ARROW1\0\0\xff"s, "it's"),
              HasSubstr("to_csv(sys.argv[2], index=False)\" 'it'\\''s' 'it'\\''s.csv'"));
  const std::string document = R"({"it's":[{"a":1},{"a":2}]})";
  config::InputSettings may_show = jsonl();
  may_show.may_show_header = true;
  EXPECT_THAT(one_document(document, true, {"a"}, may_show, "it's"),
              HasSubstr(R"(jq -c '.["it'\''s"][]' 'it'\''s' > 'it'\''s.jsonl')"));
}

TEST(FileKind, OfLettersThatBeginAHeaderIsCsv) {
  for (const char* const word : {"PAR1", "FEA1", "RDX2", "ORC"}) {
    EXPECT_THAT(kind(word + ",y\n1,2\n"s), IsEmpty()) << word;
    EXPECT_THAT(kind(word + "\n\3\0\0\n"s), IsEmpty()) << word << ": a header alone";
  }
  EXPECT_THAT(kind("X\n\0\0\0"s), IsEmpty());
  for (const InputSettings& settings : {csv(false), jsonl()}) {
    EXPECT_THAT(kind("RDX3\nX\n\0\0\0\3"s, settings), StartsWith("'in' is a file of R's"));
    EXPECT_THAT(kind("X\n\0\0\0\3"s, settings), StartsWith("'in' is a file of R's"));
  }
}

// The bytes behind the word belong to a record, where it is a header. Only a column that is missing decides.
TEST(FileKind, OfALoneWordOfAHeaderIsThatOfItsBeginning) {
  EXPECT_EQ(kind_by_word("ORC"), "an ORC file: write it as JSON lines: orc-contents 'FILE' > 'FILE.jsonl'");
  EXPECT_THAT(kind_by_word("RDX3"), StartsWith("a file of R's: write its data frame as CSV: "));
  EXPECT_EQ(kind_by_word("ORCHID"), "");
  EXPECT_EQ(kind_by_word("x"), "");
  EXPECT_THAT(kind_by_word("X"), StartsWith("a file of R's: write its data frame as CSV: ")) << "an .rds";
  EXPECT_EQ(kind_by_word("X1"), "");
}

// Records that look like something else, each of which somebody could write into a stream of other people's records.
std::vector<std::string> odd_records() {
  return {"garbage,1,2",
          "[",
          "[1,2",
          "[[1]]",
          R"([{"a": 1}, {"a": 2}])",
          "{\"a",
          R"({"a": 1}{"a": 2})",
          R"({"a": 1)",
          R"({"data": [)",
          "\x1e{\"a\": 1}",
          "\0"s,
          "1,\0"s,
          "sep=;",
          "1\r2",
          "PAR1\x15\x04",
          "ORC\x03",
          "7z\xbc\xaf\x27\x1c\4",
          "Obj\x01\4",
          "SQLite format 3\0"s,
          "version https://git-lfs.github.com/spec/v1",
          "<stata_dta>",
          "HEADER RECORD*******LIBRARY",
          "%PDF-1.7",
          "<?xml version=\"1.0\"?>",
          "<!DOCTYPE html>",
          "<html>",
          "{\\rtf1",
          "$FL2@(#)",
          "\xff\xfei\0d\0"s,
          "i\0d\0,\0x\0,\0y\0z\0"s,
          std::string(12, '\1') + "\xc2\xea\x81\x60",
          std::string(257, 'a') + "ustar",
          std::string(257 - 4, '\1') + "ustar",
          "\0\0\0"s,
          "<html>,\""};
}

// Without a header the first line of a file is a record, and its owner must not be able to stop the stream.
TEST(FileKind, IsNotDecidedByOneRecord) {
  const std::string json = "{\"a\": 1}\n";
  const std::string fields = "1,2\n";
  for (const std::string& odd : odd_records()) {
    for (const auto& [settings, good] : {std::pair{jsonl(), json}, std::pair{csv(false), fields}}) {
      EXPECT_THAT(kind(odd + "\n" + good, settings), IsEmpty()) << odd;
      EXPECT_THAT(kind(odd + "\n" + good + good + good, settings), IsEmpty()) << odd;
      EXPECT_THAT(kind(good + odd + "\n", settings), IsEmpty()) << odd;
      EXPECT_THAT(kind(good + odd + "\n" + good + odd + "\n" + odd, settings), IsEmpty()) << odd;
      EXPECT_THAT(kind_of_beginning(odd + "\n", settings), IsEmpty()) << odd << ": one line is known";
      EXPECT_THAT(kind_of_beginning(odd, settings), IsEmpty()) << odd << ": no line is whole";
      EXPECT_THAT(kind_of_beginning(odd + odd, settings), IsEmpty()) << odd << ": no line is whole";
    }
    EXPECT_THAT(kind("a,b\n" + odd + "\n"), IsEmpty()) << odd << ": the header says that it is CSV";
    EXPECT_THAT(kind_of_beginning("a,b\n" + odd, csv()), IsEmpty()) << odd << ": the header says that it is CSV";
    EXPECT_THAT(kind_of_beginning("X\n" + odd, csv()), IsEmpty()) << odd << ": the header says that it is CSV";
    EXPECT_THAT(kind("a,b\n" + odd + "\n" + odd + "\n"), IsEmpty()) << odd << ": the header says that it is CSV";
  }
}

// Honest records that other people's look odd beside: their outer fields are empty, or their text holds anything.
TEST(FileKind, IsNotDecidedByOneRecordBesideUnusualOnes) {
  InputSettings tabs = csv(false);
  tabs.delimiter = '\t';
  InputSettings one = csv(false);
  one.columns = {"a"};
  const std::vector<std::pair<InputSettings, std::string>> cases{{tabs, "\t2\n"},
                                                                 {tabs, "1\t\n"},
                                                                 {csv(false), "1,a\vb\n"},
                                                                 {csv(false), "1,a\rb\n"},
                                                                 {csv(false), "{a,b c\n"},
                                                                 {one, "NA\n"},
                                                                 {one, "true\n"},
                                                                 {one, "\"-.5\"\n"},
                                                                 {csv(false), "[a],1\n"},
                                                                 {csv(false), ",\n"},
                                                                 {jsonl(), "\xef\xbb\xbf{\"a\": 1}\n"},
                                                                 {jsonl(), " {\"a\": 1}\t\r\n"}};
  for (const std::string& odd : odd_records()) {
    for (const auto& [settings, good] : cases) {
      EXPECT_THAT(kind(odd + "\n" + good, settings), IsEmpty()) << odd << " above " << good;
      EXPECT_THAT(kind(odd + "\n" + good + odd, settings), IsEmpty()) << odd << " around " << good;
    }
  }
}

// Lines of other formats may have as many delimiters as a record.
TEST(FileKind, IsToldByLinesThatAreNoRecordsForAllTheirFields) {
  InputSettings one = csv(false);
  one.columns = {"a"};
  EXPECT_THAT(kind("{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n", csv(false)), HasSubstr("is JSON lines"));
  EXPECT_THAT(kind("{\"a\": 1}\n{\"a\": 3}\n", one), HasSubstr("is JSON lines"));
  EXPECT_THAT(kind("[\n[1, 2],\n[3, 4]\n]\n", csv(false)), HasSubstr("is a JSON array"));
  EXPECT_THAT(kind("[\n[1, 2]\n,[3, 4]\n]\n", csv(false)), HasSubstr("is a JSON array"));
  EXPECT_THAT(kind("[\n  {\n    \"a\": 1,\n    \"b\": 2,\n    \"c\": 3\n  },\n  {\n    \"a\": 4,\n", csv(false)),
              HasSubstr("is a JSON array"));
  EXPECT_THAT(kind("<html>\n<title>404</title>\n</html>\n", one), HasSubstr("is a web page"));
  EXPECT_THAT(kind("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", one),
              HasSubstr("is a pointer of Git LFS's"));
}

// A text that its first line begins, and the lines behind it do not belie.
TEST(FileKind, IsDecidedByAllLinesTogether) {
  const std::string page = "<!DOCTYPE html>\n<html><head>\n<title>404, not found</title>\n</head></html>\n";
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
  for (const InputSettings& settings : {csv(), csv(false), jsonl()}) {
    EXPECT_THAT(kind(page, settings), HasSubstr("is a web page"));
    EXPECT_THAT(kind(pointer, settings), HasSubstr("is a pointer of Git LFS's"));
    EXPECT_THAT(kind_of_beginning("PAR1\x15\x04\n\1\n\2", settings), HasSubstr("is a Parquet file"));
    EXPECT_THAT(kind_of_beginning("[\n{\"a\": 1,\n\"b\": 2},\n", settings), HasSubstr("is a JSON array"));
  }
}

TEST(FileKind, OfWhatIsReadIsNotTold) {
  EXPECT_THAT(kind("a,b\n1,2\n"), IsEmpty());
  EXPECT_THAT(kind("[a],[b]\n1,2\n"), IsEmpty()) << "a header of SQL Server's";
  EXPECT_THAT(kind("ORC,b\n1,2\n"), IsEmpty());
  EXPECT_THAT(kind("\xef\xbb\xbf{\"a\": 1}\n", jsonl()), IsEmpty());
  EXPECT_THAT(kind("", jsonl()), IsEmpty());
  EXPECT_THAT(kind_of_long_line("{\"a\": 1", jsonl()), IsEmpty());
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
  std::thread writer([&] { std::ofstream(pipe) << "a,b\n1,2\n3,4\n5,6\n7,8\n9,1\n2,3\n4,5\n6,7\n8,9\n"; });
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

/// The rows that come of a pipe while its writer keeps it open.
std::vector<double> rows_while_open(const std::string& text, std::size_t rows) {
  const tests::TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::atomic<bool> is_read = false;
  std::thread writer([&] {
    std::ofstream out(pipe);
    out << text << std::flush;
    while (!is_read) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  InputSettings settings = csv(false);
  settings.columns = {"a"};
  settings.files = {pipe};
  const auto reader = open_reader(settings, tests::columns({"a"}));
  record::RowBatch batch;
  for (int i = 0; i < 300 && batch.count() < rows; ++i) static_cast<void>(reader->read(batch, 10));
  is_read = true;
  writer.join();
  return batch.x;
}

// A record that is empty or of another kind must not hold up the first one: line ends count, whatever is on the
// lines.
TEST(FileKind, OfAPipeWaitsForTheSecondLineWhateverItHolds) {
  EXPECT_EQ(rows_while_open("1.25\n2\n", 2), (std::vector<double>{1.25, 2}));
  EXPECT_EQ(rows_while_open("1.25\n\n", 2), (std::vector<double>{1.25, 0}));
  EXPECT_EQ(rows_while_open("\n2.25\n", 2), (std::vector<double>{0, 2.25}));
  EXPECT_EQ(rows_while_open("[{\"a\":1}]\n[{\"a\":2}]\n", 2), (std::vector<double>{0, 0})) << "two decide nothing";
}

// The look does not tell that a file is cut: the records before the cut are read first.
TEST(FileKind, LeavesDamageToTheReader) {
  const tests::TemporaryFolder folder;
  std::string rows = "a\n";
  for (int i = 0; i < 40'000; ++i) rows += "1\n";
  const std::string stored = tests::gzip(rows);
  // The end is cut, behind the 64 KiB that are looked at.
  const auto reader =
      open_reader({.files = {folder.write("cut.gz", stored.substr(0, stored.size() - 4))}}, tests::columns({"a"}));
  record::RowBatch batch;
  EXPECT_TRUE(reader->read(batch, 10));
  EXPECT_EQ(batch.count(), 10U);
  tests::expect_failure(Exit::io, [&] {
    while (reader->read(batch, 1000)) {
    }
  });
  EXPECT_EQ(batch.count(), 40'000U);
}

}  // namespace
}  // namespace nustream::decode
