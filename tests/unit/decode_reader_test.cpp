// The reader as the replay engine sees it: ordinals, limits, several files, failures.
#include "decode/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "decode_rows.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::columns;
using tests::expect_failure;
using tests::gzip;
using tests::read_all;
using tests::zstd;

std::string numbered(int from, int to) {
  std::string text = "a\n";
  for (int i = from; i < to; ++i) text += std::to_string(i) + "\n";
  return text;
}
std::vector<double> iota(int from, int to) {
  std::vector<double> numbers;
  for (int i = from; i < to; ++i) numbers.push_back(i);
  return numbers;
}

TEST(Reader, PositionIsTheOrdinalOfTheNextRecord) {
  const tests::TemporaryFolder folder;
  const auto batch = read_all({.files = {folder.write("a.csv", "a\n5\nbad\n7\n")}}, columns({"a"}));
  EXPECT_EQ(batch.dimension, 1U);
  EXPECT_EQ(batch.x, (std::vector<double>{5, 0, 7}));
  EXPECT_EQ(batch.y, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(batch.next, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_EQ(batch.rejects.size(), 1U);
  EXPECT_EQ(batch.rejects[0].position, Position{1});
  EXPECT_EQ(batch.rejects[0].reason, "column 'a': not a number");
  EXPECT_TRUE(batch.times.empty());
}

TEST(Reader, AppendsAtMostWhatIsAskedFor) {
  const tests::TemporaryFolder folder;
  const auto reader = open_reader({.files = {folder.write("a.csv", numbered(0, 10))}}, columns({"a"}));
  record::RowBatch batch;
  EXPECT_TRUE(reader->read(batch, 4));
  EXPECT_EQ(batch.x, iota(0, 4));
  EXPECT_TRUE(reader->read(batch, 4));
  EXPECT_EQ(batch.x, iota(0, 8));
  while (reader->read(batch, 4)) {
  }
  EXPECT_EQ(batch.x, iota(0, 10));
  EXPECT_FALSE(reader->read(batch, 4));
  EXPECT_EQ(batch.count(), 10U);
}

TEST(Reader, FromAndToAreOrdinalsOverAllFiles) {
  const tests::TemporaryFolder folder;
  InputSettings settings{.files = {folder.write("a.csv", numbered(0, 10)), folder.write("b.csv", numbered(10, 20))}};
  for (int from = 0; from <= 21; ++from) {
    for (int to = 0; to <= 21; ++to) {
      settings.from = static_cast<std::uint64_t>(from);
      settings.to = static_cast<std::uint64_t>(to);
      const auto batch = read_all(settings, columns({"a"}));
      EXPECT_EQ(batch.x, iota(from, std::min(to, 20)));
      if (!batch.next.empty()) {
        EXPECT_EQ(batch.next.front(), settings.from + 1);
      }
    }
  }
}

TEST(Reader, FromPassesRecordsThatAreTooLong) {
  const tests::TemporaryFolder folder;
  const std::string text = "a\n1\n" + std::string(3'000'000, 'x') + "\n3\n";
  for (std::uint64_t from = 0; from < 4; ++from) {
    const auto batch = read_all({.files = {folder.write("a.csv", text)}, .from = from}, columns({"a"}));
    EXPECT_EQ(batch.count(), 3 - from);
    EXPECT_EQ(batch.rejects.size(), from <= 1 ? 1U : 0U);
  }
}

// They are looked at for the operator, and a pipe cannot be read again for that.
TEST(Reader, KeepsTheTextsOfItsFirstRecords) {
  const tests::TemporaryFolder folder;
  const auto reader = open_reader(
      {.files = {folder.write("a.csv", numbered(0, 3)), folder.write("b.csv", numbered(3, 99))}}, columns({"a"}));
  EXPECT_TRUE(reader->first_records().empty());
  static_cast<void>(tests::read_all(*reader));
  const auto first = reader->first_records();
  ASSERT_EQ(first.size(), first_records_max);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].text, std::to_string(i));
  EXPECT_EQ(first[2].line, 4U);
  EXPECT_EQ(first[3].line, 2U);
  EXPECT_EQ(first[3].file, (folder.path() / "b.csv").string());
  EXPECT_EQ(first[3].header, "a\n");
}

TEST(Reader, EachFileHasItsOwnOrderOfColumns) {
  const tests::TemporaryFolder folder;
  const InputSettings settings{
      .files = {folder.write("1.csv", "a,b,c\n1,2,3\n"), folder.write("2.csv", "c,z,b,a\n6,0,5,4\n")}};
  const auto batch = read_all(settings, columns({"a", "b"}, "c"));
  EXPECT_EQ(batch.x, (std::vector<double>{1, 2, 4, 5}));
  EXPECT_EQ(batch.y, (std::vector<double>{3, 6}));
}

TEST(Reader, BytesForTheProgressBarAreThoseStored) {
  const tests::TemporaryFolder folder;
  const std::string stored = gzip(numbered(0, 1000));
  const auto reader =
      open_reader({.files = {folder.write("a.gz", stored), folder.write("b.csv", "a\n1\n")}}, columns({"a"}));
  EXPECT_EQ(reader->bytes_total(), stored.size() + 4);
  EXPECT_EQ(read_all(*reader).count(), 1001U);
  EXPECT_EQ(reader->bytes_read(), stored.size() + 4);
}

TEST(Reader, EventTimesArriveBesideTheRowsAndDecideNothing) {
  const tests::TemporaryFolder folder;
  const std::string text =
      "ts,a\n1970-01-01 00:00:10,1\nyesterday,2\n20.5,3\n1970-01-01 00:00:40,bad\n"
      "1970-01-01 00:00:05,4\n";
  const auto batch = read_all({.files = {folder.write("a.csv", text)}, .time_column = "ts"}, columns({"a"}));
  EXPECT_EQ(batch.x, (std::vector<double>{1, 2, 3, 0, 4})) << "the last one is older than those before it";
  ASSERT_EQ(batch.times.size(), 5U);
  EXPECT_EQ(batch.times[0], 10);
  EXPECT_TRUE(std::isnan(batch.times[1]));
  EXPECT_EQ(batch.times[2], 20.5);
  EXPECT_EQ(batch.rejects.size(), 1U);
}

TEST(Reader, WithoutANewlineTheLastRecordIsOneAtACleanEnd) {
  const tests::TemporaryFolder folder;
  EXPECT_EQ(read_all({.files = {folder.write("a.csv", "a\n1\n2")}}, columns({"a"})).x, (std::vector<double>{1, 2}));
  EXPECT_EQ(read_all({.files = {folder.write("a.gz", gzip("a\n1\n2"))}}, columns({"a"})).x,
            (std::vector<double>{1, 2}));
}

// Records whose newline has arrived are given, the rest is not, and the failure comes with the next call.
TEST(Reader, OfACutFileWholeRecordsAreGivenThenItFails) {
  const tests::TemporaryFolder folder;
  const std::string text = numbered(0, 20'000);
  for (const std::string& stored : {gzip(text), zstd(text)}) {
    for (const std::size_t cut : {std::size_t{1}, std::size_t{9}, stored.size() / 2}) {
      const InputSettings settings{.files = {folder.write("cut", stored.substr(0, stored.size() - cut))}};
      record::RowBatch batch;
      std::unique_ptr<Reader> reader;
      expect_failure(
          Exit::io,
          [&] {
            reader = open_reader(settings, columns({"a"}));
            while (reader->read(batch, 100)) {
            }
          },
          "ends in the middle");
      const auto rows = static_cast<int>(batch.count());
      EXPECT_EQ(batch.x, iota(0, rows));
      EXPECT_EQ(batch.rejects.size(), 0U);
      if (reader) expect_failure(Exit::io, [&] { (void)reader->read(batch, 100); });
    }
  }
}

TEST(Reader, ALineCutByAFailureIsNoRecord) {
  const tests::TemporaryFolder folder;
  // The first member ends inside a record; of the second member only the header arrives. Both lie behind the 64 KiB
  // whose damage is told before a record is read.
  const std::string stored = gzip(numbered(0, 20'000) + "3") + gzip("4\n").substr(0, 10);
  const InputSettings settings{.files = {folder.write("cut.gz", stored)}};
  const auto reader = open_reader(settings, columns({"a"}));
  record::RowBatch batch;
  expect_failure(Exit::io, [&] {
    while (reader->read(batch, 100)) {
    }
  });
  EXPECT_EQ(batch.x, iota(0, 20'000));
}

TEST(Reader, AFileThatIsDamagedAtItsBeginningGivesNoRecord) {
  const tests::TemporaryFolder folder;
  std::string wrong = gzip(numbered(0, 2000));
  wrong[wrong.size() - 5] = static_cast<char>(wrong[wrong.size() - 5] ^ 1);  // of the checksum
  for (const std::string& stored : {gzip(numbered(0, 2000)).substr(0, 60), wrong, gzip("a\n1\n2\n") + "3\n4\n"}) {
    const InputSettings settings{.files = {folder.write("damaged.gz", stored)}};
    expect_failure(
        Exit::io, [&] { static_cast<void>(open_reader(settings, columns({"a"}))); }, "damaged.gz");
  }
}

TEST(Reader, FailuresOfTheInput) {
  const tests::TemporaryFolder folder;
  const auto open = [&](const std::string& text) {
    return [&folder, text] { (void)read_all({.files = {folder.write("x.csv", text)}}, columns({"price"})); };
  };
  expect_failure(Exit::data, open(""), "empty");
  expect_failure(Exit::data, open("\nprice\n1\n"), "no header");
  expect_failure(Exit::data, open("  \n"), "no header");
  expect_failure(Exit::data, open("1.5,2\n3,4\n"), "no header");
  expect_failure(Exit::data,
                 open(std::string("\x7f"
                                  "ELF\0\0\1\n",
                                  8)),
                 "is a program");
  expect_failure(Exit::data, open("price\x01y\n"),
                 "is divided by the character U+0001; set stream.delimiter = \"\\u0001\"");
  expect_failure(Exit::data, open("price\x02y\n"), "holds control characters, as binary data do; look at the file");
  expect_failure(Exit::data, open("\"price\n1\n"), "no header");
  expect_failure(Exit::configuration, open("prise,b\n1,2\n"), "which has 2 columns");
  expect_failure(
      Exit::configuration,
      [&] {
        (void)read_all({.files = {folder.write("x.csv", "a,b,prise\n1,2,3\n")}}, columns({"a", "b", "price"}));
      },
      "did you mean 'prise'");
  expect_failure(Exit::configuration, open("a,b\n1,2\n"), "no column 'price'");
  expect_failure(Exit::configuration, open("price,price\n1,2\n"), "twice");
  expect_failure(Exit::io,
                 [&] { (void)open_reader({.files = {(folder.path() / "none").string()}}, columns({"a"})); });
  expect_failure(Exit::io, [&] { (void)open_reader({.files = {folder.path().string()}}, columns({"a"})); });
  expect_failure(Exit::usage, [&] { (void)open_reader({}, columns({"a"})); });
  expect_failure(Exit::usage, [&] { (void)open_reader({.files = {"-", "-"}}, columns({"a"})); });
}

// A missing file is noticed before a step is taken for the first record of the others.
TEST(Reader, LooksAtEveryFileFirst) {
  const tests::TemporaryFolder folder;
  const InputSettings settings{.files = {folder.write("a.csv", "a\n1\n"), (folder.path() / "none").string()}};
  expect_failure(
      Exit::io, [&] { (void)open_reader(settings, columns({"a"})); }, "none");
}

// A record without a header could begin so, and must not end a run that has begun.
TEST(Reader, AFileWhoseBeginningCannotBeReadFailsBeforeTheRowsOfTheFirst) {
  const tests::TemporaryFolder folder;
  const InputSettings settings{
      .files = {folder.write("1.csv", "a\n1\n2\n"), folder.write("2.csv.gz", "\x1f\x8b\x08 and no more")}};
  expect_failure(
      Exit::io, [&] { (void)open_reader(settings, columns({"a"})); }, "2.csv.gz");
}

// What later files begin with is seen before a step is taken for the first record of the first one.
TEST(Reader, LooksAtTheHeaderOfEveryFileFirst) {
  const tests::TemporaryFolder folder;
  const std::string first = folder.write("1.csv", "# above\na,b\n1,2\n");
  const auto open = [&](const std::string& second) {
    return [&, second] {
      InputSettings settings{.files = {first, folder.write("2.csv", second)}};
      settings.comment = "#";
      (void)open_reader(settings, columns({"a"}));
    };
  };
  expect_failure(Exit::configuration, open("c,b\n1,2\n"), "2.csv");
  expect_failure(Exit::configuration, open("a;b\n1;2\n"), "2.csv");
  expect_failure(Exit::data, open("1,2\n3,4\n"), "holds nothing but numbers");
  expect_failure(Exit::data, open(""), "is empty");
  expect_failure(Exit::data, open("# nothing else\n"), "is empty behind the lines");
  EXPECT_NO_THROW(open("b,a\n1,2\n")()) << "the same columns in another order";
  EXPECT_NO_THROW(open("# above, too\nb,a")()) << "a header alone";
}

TEST(Reader, AHeaderAloneIsNoRecord) {
  const tests::TemporaryFolder folder;
  for (const char* const text : {"a,b", "a,b\n", "a,b\r\n"}) {
    const auto batch = read_all({.files = {folder.write("a.csv", text)}}, columns({"a"}));
    EXPECT_EQ(batch.count(), 0U);
    EXPECT_TRUE(batch.rejects.empty());
  }
}

TEST(Reader, RefusesALimitOfBytesThatIsNone) {
  const tests::TemporaryFolder folder;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 40}) {
    const InputSettings settings{.files = {folder.write("a.csv", "a\n")}, .record_bytes_max = bytes};
    expect_failure(
        Exit::configuration, [&] { (void)open_reader(settings, columns({"a"})); }, "record_bytes_max");
  }
}

TEST(CountRecords, CountsLinesWhateverTheyHold) {
  const tests::TemporaryFolder folder;
  const std::string text = "a\n1\n\nbad\n\"open\n" + std::string(3'000'000, 'x') + "\nlast";
  InputSettings settings{
      .files = {folder.write("a.csv", text), folder.write("b.gz", gzip("a\n1\n"))}, .from = 2, .to = 3};
  EXPECT_EQ(count_records(settings), 7U);
}

TEST(OrdinalAtOrAfter, FindsTheFirstRecordNotBeforeATime) {
  const tests::TemporaryFolder folder;
  const std::string text = "ts\n10\nnever\n30\n20\n40\n";
  InputSettings settings{.files = {folder.write("a.csv", text)}, .time_column = "ts", .times_public = true};
  EXPECT_EQ(ordinal_at_or_after(settings, 0), 0U);
  EXPECT_EQ(ordinal_at_or_after(settings, 10), 0U);
  EXPECT_EQ(ordinal_at_or_after(settings, 10.5), 2U);
  EXPECT_EQ(ordinal_at_or_after(settings, 31), 4U);
  EXPECT_EQ(ordinal_at_or_after(settings, 41), 5U);
}

// Otherwise the start would tell whether the record there can be read.
TEST(OrdinalAtOrAfter, IsTheSameWhateverElseTheRecordHolds) {
  const tests::TemporaryFolder folder;
  for (const char* const rest : {",1\n", ",\"\n", ",1,2\n", "\n", ",\n", ",\"a\"b\n", ",1\r\n"}) {
    const std::string text = "ts,x\n10,1\n30" + std::string(rest) + "40,1\n";
    InputSettings settings{.files = {folder.write("a.csv", text)}, .time_column = "ts", .times_public = true};
    EXPECT_EQ(ordinal_at_or_after(settings, 20), 1U) << rest;
    settings.record_bytes_max = 5;  // in some of the texts the record between the others is longer
    EXPECT_EQ(ordinal_at_or_after(settings, 20), 1U) << rest;
  }
}

TEST(OrdinalAtOrAfter, NeedsTheTimeInFrontOfWhatCouldHideIt) {
  const tests::TemporaryFolder folder;
  InputSettings settings{.files = {folder.write("a.csv", "x,ts\n1,10\n")}, .time_column = "ts", .times_public = true};
  expect_failure(
      Exit::configuration, [&] { (void)ordinal_at_or_after(settings, 0); }, "make it the first column");
}

// The ordinal at which a run starts is public, and would tell of the records' times where these are not public.
TEST(OrdinalAtOrAfter, NeedsTimesThatAreDeclaredPublic) {
  const tests::TemporaryFolder folder;
  InputSettings settings{.files = {folder.write("a.csv", "ts\n10\n")}, .time_column = "ts"};
  expect_failure(
      Exit::configuration, [&] { (void)ordinal_at_or_after(settings, 0); }, "public");
  settings.times_public = true;
  settings.time_column.clear();
  expect_failure(
      Exit::configuration, [&] { (void)ordinal_at_or_after(settings, 0); }, "column");
}

}  // namespace
}  // namespace nustream::decode
