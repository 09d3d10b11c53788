#include "decode/byte_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "archives.h"
#include "decode_rows.h"
#include "expect_failure.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

using tests::bzip2;
using tests::expect_failure;
using tests::gzip;
using tests::xz;
using tests::zip;
using tests::zstd;

std::string text_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * i) + "\n";
  return text;
}

// What can be read from a file with these bytes, `buffer` bytes at a time, and the exit code of the failure at its
// end.
struct Content {
  std::string text;
  int failed = 0;
};
Content read(const std::string& stored, std::size_t buffer_bytes = 1000) {
  const tests::TemporaryFolder folder;
  const auto source = open_source(folder.write("input", stored));
  std::string buffer(buffer_bytes, '\0');
  Content content;
  try {
    while (true) {
      const ByteSource::Result result = source->read(buffer);
      if (result.end) break;
      content.text.append(buffer, 0, result.bytes);
    }
    // The list at the end of a zip archive is read separately.
    const bool is_zip = stored.starts_with("PK\x03\x04");
    EXPECT_TRUE(is_zip ? source->bytes_read() < stored.size() : source->bytes_read() == stored.size());
  } catch (const Failure& failure) {
    content.failed = static_cast<int>(failure.code());
  }
  return content;
}

// What was read of it is still asked for, by the progress bar of a run that used the records of the files before.
TEST(ByteSource, WhatCannotComeThroughAPipeIsStillCounted) {
  for (const std::string& magic : {std::string("NUSEGMT\0aaaaaaaa", 16), std::string("PK\x03\x04 and more")}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], magic.data(), magic.size()), static_cast<ssize_t>(magic.size()));
    ::close(ends[1]);
    const auto source = open_source("/dev/fd/" + std::to_string(ends[0]));
    std::string buffer(100, '\0');
    EXPECT_THROW(static_cast<void>(source->read(buffer)), Failure);
    EXPECT_GT(source->bytes_read(), 0U);
    EXPECT_TRUE(source->ready(0));
    EXPECT_TRUE(source->read(buffer).end);
    ::close(ends[0]);
  }
}

TEST(ByteSource, PlainAndCompressedFilesGiveTheSameBytes) {
  const std::string text = text_of(1'000'000);
  for (const std::size_t buffer_bytes : {std::size_t{977}, std::size_t{1} << 18}) {
    EXPECT_EQ(read(text, buffer_bytes).text, text);
    EXPECT_EQ(read(gzip(text), buffer_bytes).text, text);
    EXPECT_EQ(read(zstd(text), buffer_bytes).text, text);
    EXPECT_EQ(read(bzip2(text), buffer_bytes).text, text);
    EXPECT_EQ(read(xz(text), buffer_bytes).text, text);
  }
  EXPECT_EQ(read(bzip2(text_of(10)), 1).text, text_of(10));
  EXPECT_EQ(read(xz(text_of(10)), 1).text, text_of(10));
  EXPECT_EQ(read(gzip(text_of(10)), 1).text, text_of(10));
  EXPECT_EQ(read(zstd(text_of(10)), 1).text, text_of(10));
}

TEST(ByteSource, ConcatenatedMembersAndFramesAreOneContent) {
  EXPECT_EQ(read(gzip("a\nb") + gzip("") + gzip("c\n")).text, "a\nbc\n");
  EXPECT_EQ(read(zstd("a\nb") + zstd("") + zstd("c\n")).text, "a\nbc\n");
  EXPECT_EQ(read(bzip2("a\nb") + bzip2("") + bzip2("c\n")).text, "a\nbc\n");
  EXPECT_EQ(read(xz("a\nb") + std::string(8, '\0') + xz("c\n")).text, "a\nbc\n") << "zeros pad streams by four";
  const std::string skippable("\x52\x2a\x4d\x18\x03\0\0\0xyz", 11);
  EXPECT_EQ(read(skippable + zstd("a\n")).text, "a\n");
}

TEST(ByteSource, ZerosBehindGzipArePadding) {
  EXPECT_EQ(read(gzip("a\n") + std::string(1000, '\0')).text, "a\n");
  EXPECT_EQ(read(gzip("a\n") + std::string(1000, '\0')).failed, 0);
}

TEST(ByteSource, ShortFilesAreNoMagic) {
  for (const std::string text :
       {"", "\x1f", "a", "\x28\xb5", "12\n", "BZh", "BZh1\n", "BZh1,a\n1,2\n", "PK\n", "\xfd"}) {
    EXPECT_EQ(read(text).text, text);
    EXPECT_EQ(read(text).failed, 0);
  }
}

// Every cut of a compressed file gives a beginning of the text, and then an I/O failure.
TEST(ByteSource, ACutFileGivesItsBeginningThenFails) {
  const std::string text = text_of(300);
  for (const std::string& stored : {gzip(text), zstd(text), bzip2(text), xz(text)}) {
    for (std::size_t bytes = 10; bytes < stored.size(); ++bytes) {
      const Content content = read(stored.substr(0, bytes));
      EXPECT_EQ(content.failed, 74) << bytes;
      EXPECT_EQ(text.compare(0, content.text.size(), content.text), 0) << bytes;
    }
    EXPECT_EQ(read(stored).failed, 0);
  }
}

TEST(ByteSource, DamagedOrForeignTrailingBytesFail) {
  std::string flipped = gzip(text_of(5000));
  flipped[flipped.size() - 6] ^= 1;  // a byte of the checksum
  EXPECT_EQ(read(flipped).failed, 74);
  EXPECT_EQ(read(gzip("a\n") + "garbage").failed, 74);
  EXPECT_EQ(read(zstd("a\n") + "garbage").failed, 74);
  EXPECT_EQ(read(bzip2("a\n") + "garbage").failed, 74);
  EXPECT_EQ(read(xz("a\n") + "garbage").failed, 74);
  for (std::string stored : {bzip2(text_of(5000)), xz(text_of(5000))}) {
    stored[stored.size() / 2] ^= 1;
    EXPECT_EQ(read(stored).failed, 74);
  }
}

TEST(ByteSource, OfAnXzStreamNoMoreMemoryIsTakenThanForAWindowOf128MiB) {
  EXPECT_EQ(read(xz("a\n", 128U << 20)).text, "a\n");
  const tests::TemporaryFolder folder;
  std::string buffer(100, '\0');
  const auto source = open_source(folder.write("input", xz("a\n", 256U << 20)));
  expect_failure(
      Exit::io, [&] { (void)source->read(buffer); }, "needs more memory to be decompressed than is given to it (xz");
}

// A zip archive of one file gives the content of that file, whatever stands around it.
TEST(Zip, OfOneFileIsThatFile) {
  const std::string text = text_of(300'000);
  for (const bool is_deflated : {true, false}) {
    EXPECT_EQ(read(zip({{"a.csv", text, is_deflated}})).text, text);
    EXPECT_EQ(
        read(zip({{"folder/", "", false}, {"folder/a.csv", text, is_deflated}, {"__MACOSX/._a.csv", "x", false}}))
            .text,
        text);
  }
  EXPECT_EQ(read(zip({{".DS_Store", "x"},
                      {"d/.DS_Store", "x"},
                      {"d/a.csv", text},
                      {"d/__MACOSX/a.csv", "x"},
                      {"d/._a.csv", "x"}}))
                .text,
            text)
      << "what macOS keeps beside files may be in any folder";
  EXPECT_EQ(read(zip({{"a.csv", text}}, "a comment that holds PK\x05\x06")).text, text);
  EXPECT_EQ(read(zip({{"empty.csv", "", false}})).text, "");
}

TEST(Zip, OfOtherThanOneFileSaysWhatToType) {
  const tests::TemporaryFolder folder;
  const auto refused = [&](const std::string& stored, const std::string& part) {
    const auto source = open_source(folder.write("in.zip", stored));
    std::string buffer(100, '\0');
    expect_failure(
        Exit::data, [&] { (void)source->read(buffer); }, part);
  };
  refused(zip({{"a.csv", "1\n"}, {"b.csv", "2\n"}}),
          "is a zip archive of 2 files: unpack it and name the one that is meant");
  refused(zip({{"it's.csv", "1\n"}, {"b.csv", "2\n"}}), "' 'it'\\''s.csv' | nustream … -");
  refused(zip({{"folder/", "", false}}), "is a zip archive without a file in it");
  refused(zip({{"a.csv", "1\n", true, true}}), "is a zip archive that needs a password");
  refused(zip({{"[Content_Types].xml", "x"}, {"xl/workbook.xml", "y"}}), "is an Office document, such as a workbook");
}

TEST(Zip, ThatIsCutOrDamagedFails) {
  const std::string text = text_of(3000);
  const std::string stored = zip({{"a.csv", text}});
  for (std::size_t bytes = 4; bytes < stored.size(); bytes += 7) {
    EXPECT_EQ(read(stored.substr(0, bytes)).failed, 74) << bytes;
  }
  for (std::size_t at = 40; at < stored.size() - 100; at += 11) {
    std::string flipped = stored;
    flipped[at] ^= 4;
    const Content content = read(flipped);
    EXPECT_EQ(content.failed, 74) << at;
  }
}

TEST(OpenSource, MissingFilesAndDirectoriesAreIoFailures) {
  const tests::TemporaryFolder folder;
  expect_failure(
      Exit::io, [&] { (void)open_source((folder.path() / "none").string()); }, "No such file");
  expect_failure(
      Exit::io, [&] { (void)open_source(folder.path().string()); }, "directory");
  expect_failure(
      Exit::io, [&] { (void)stored_size((folder.path() / "none").string()); }, "No such file");
  expect_failure(
      Exit::io, [&] { (void)stored_size(folder.path().string()); }, "directory");
}

// Puts a pipe in the place of standard input.
class StandardInput {
 public:
  StandardInput() : saved_(dup(STDIN_FILENO)) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    writer_ = ends[1];
  }
  ~StandardInput() {
    end();
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

  void write(const std::string& text) const {
    ASSERT_EQ(::write(writer_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (writer_ >= 0) close(writer_);
    writer_ = -1;
  }

 private:
  int saved_;
  int writer_ = -1;
};

TEST(StandardInputSource, IsReadWithoutASizeAndDecompressed) {
  for (const std::string& stored : {std::string("a\n1\n"), gzip("a\n1\n"), zstd("a\n1\n")}) {
    StandardInput input;
    EXPECT_FALSE(stored_size("-").has_value());
    input.write(stored);
    input.end();
    const auto batch = tests::read_all({.files = {"-"}}, tests::columns({"a"}));
    EXPECT_EQ(batch.x, std::vector<double>{1});
  }
}

// A signal gets through to a caller that waits for a silent pipe, before its first byte and in the middle.
TEST(StandardInputSource, ASignalInterruptsTheWait) {
  struct sigaction action {};
  action.sa_handler = [](int) {};  // without SA_RESTART, so that a read is interrupted
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often{{0, 20'000}, {0, 20'000}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);

  StandardInput input;
  const auto reader = open_reader({.files = {"-"}}, tests::columns({"a"}));
  record::RowBatch batch;
  EXPECT_TRUE(reader->read(batch, 10));
  EXPECT_EQ(batch.count(), 0U);
  input.write("a\n1\n2");
  while (batch.count() == 0) EXPECT_TRUE(reader->read(batch, 10));
  EXPECT_TRUE(reader->read(batch, 10));
  EXPECT_EQ(batch.x, std::vector<double>{1});
  input.write("3\n");
  input.end();
  EXPECT_EQ(tests::read_all(*reader).x, std::vector<double>{23});

  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}

// A signal that arrives after a caller looked at its flag and before it reads must not leave the caller waiting for a
// byte.
TEST(StandardInputSource, ASilentPipeGivesItsCallerTheTurn) {
  alarm(60);  // ends the test if a read waits for ever
  StandardInput input;
  const auto source = open_source("-");
  char bytes[16];
  EXPECT_TRUE(source->read(bytes).interrupted);
  input.write("some bytes\n");
  EXPECT_EQ(source->read(bytes).bytes, 11U) << "with its first bytes, which tell the compression";
  EXPECT_TRUE(source->read(bytes).interrupted);
  input.end();
  EXPECT_TRUE(source->read(bytes).end);
  alarm(0);
}

TEST(StandardInputSource, PaddingBehindGzipGivesItsCallerTheTurn) {
  alarm(60);
  StandardInput input;
  input.write(gzip("some bytes\n") + std::string(10, '\0'));
  const auto source = open_source("-");
  char bytes[64];
  EXPECT_EQ(source->read(bytes).bytes, 11U);
  const ByteSource::Result waiting = source->read(bytes);
  EXPECT_TRUE(waiting.interrupted);
  EXPECT_FALSE(waiting.end);
  input.end();
  EXPECT_TRUE(source->read(bytes).end);
  alarm(0);
}

// To recognise a compressed file takes its first bytes. A pipe must not wait for more bytes than have to do with
// that.
TEST(StandardInputSource, AShortBeginningIsGivenAtOnce) {
  for (const std::string text : {"5", "5\n", "BZ\n", "PK,", "P\n"}) {
    StandardInput input;
    input.write(text);
    const auto source = open_source("-");
    alarm(60);
    char bytes[16];
    const ByteSource::Result result = source->read(bytes);
    alarm(0);
    EXPECT_EQ(std::string(bytes, result.bytes), text);
  }
}

TEST(StandardInputSource, TheWritingEndOfAPipeIsRefused) {
  const int saved = dup(STDIN_FILENO);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  dup2(ends[1], STDIN_FILENO);
  expect_failure(
      Exit::io, [&] { (void)open_source("-"); }, "standard input");
  dup2(saved, STDIN_FILENO);
  for (const int each : {saved, ends[0], ends[1]}) close(each);
}

TEST(OpenSource, AFifoWaitsForItsWriterAndGivesItsCallerTheTurn) {
  alarm(60);
  const tests::TemporaryFolder folder;
  const std::string name = (folder.path() / "fifo").string();
  ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
  const auto source = open_source(name);
  char bytes[16];
  EXPECT_TRUE(source->read(bytes).interrupted);
  EXPECT_TRUE(source->read(bytes).interrupted);
  const int writer = open(name.c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  EXPECT_TRUE(source->read(bytes).interrupted) << "a writer that has written nothing is no end";
  close(writer);
  EXPECT_TRUE(source->read(bytes).end);
  alarm(0);
}

}  // namespace
}  // namespace nustream::decode
