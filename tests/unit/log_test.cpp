// Lines of the log, and where they go.
#include "log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "error.h"
#include "temporary_folder.h"

namespace nustream::log {
namespace {

using tests::read_file;
using tests::TemporaryFolder;

const std::chrono::system_clock::time_point noon{std::chrono::milliseconds(1'764'158'400'007)};  // 2025-11-26 12:00
const Entry gained{Level::info,
                   "lane_gained",
                   "lane 3: restored at step 1000",
                   {{"lane", std::uint64_t{3}}, {"topic", "a b"}, {"group", "g"}}};

/// Puts the process's log back to where it was when a test is over.
struct Restored {
  ~Restored() { use({}); }
};

TEST(LogLine, SaysTheSentenceAloneInPlainWords) {
  EXPECT_EQ(line(gained, Format::plain, Clock::own, noon), "nustream: lane 3: restored at step 1000\n");
  EXPECT_EQ(line({Level::warning, "w", "late"}, Format::plain, Clock::own, noon), "nustream: warning: late\n");
  EXPECT_EQ(line({Level::error, "e", "gone"}, Format::plain, Clock::own, noon), "nustream: error: gone\n");
}

TEST(LogLine, HasTimeLevelAndFactsAsText) {
  EXPECT_EQ(line(gained, Format::text, Clock::own, noon),
            "time=2025-11-26T12:00:00.007Z level=info event=lane_gained lane=3 topic=\"a b\" group=g "
            "msg=\"lane 3: restored at step 1000\"\n");
}

TEST(LogLine, LeavesTimeAndLevelToTheJournal) {
  EXPECT_THAT(line(gained, Format::text, Clock::journal, noon), ::testing::StartsWith("<6>level=info event="));
  EXPECT_EQ(line({Level::warning, "w", "late"}, Format::plain, Clock::journal, noon), "<4>nustream: warning: late\n");
  EXPECT_THAT(line({Level::error, "e", "gone"}, Format::text, Clock::journal, noon), ::testing::StartsWith("<3>"));
}

TEST(LogLine, IsOneJsonObjectThatAParserReads) {
  const std::string nasty = "quote \" backslash \\ line\nbreak \x01 \x7f é";
  const std::string text = line({Level::error, "failed", nasty, {{"lane", std::uint64_t{3}}, {"topic", nasty}}},
                                Format::json, Clock::own, noon);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  simdjson::dom::parser parser;
  const simdjson::dom::element read = parser.parse(text);
  EXPECT_EQ(std::string_view(read["time"]), "2025-11-26T12:00:00.007Z");
  EXPECT_EQ(std::string_view(read["level"]), "error");
  EXPECT_EQ(std::string_view(read["event"]), "failed");
  EXPECT_EQ(std::uint64_t(read["lane"]), 3U);
  EXPECT_EQ(std::string_view(read["topic"]), nasty);
  EXPECT_EQ(std::string_view(read["message"]), nasty);
}

TEST(LogLine, IsNeverTwo) {
  const Entry forged{Level::info, "e", "a\nnustream: error: forged", {{"key", "b\nlevel=error"}}};
  for (const Format format : {Format::plain, Format::text, Format::json}) {
    const std::string text = line(forged, format, Clock::own, noon);
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
  }
}

TEST(Log, GoesOnInANewFileWhenTheOldOneWasMovedAway) {
  const Restored restored;
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "log").string();
  use({Format::plain, path});
  info("one", "first");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U & ~0640U, 0U) << "nobody else reads it";
  std::filesystem::rename(path, path + ".1");
  info("two", "second");
  reopen();
  info("three", "third");
  EXPECT_EQ(read_file(path + ".1"), "nustream: first\nnustream: second\n");
  EXPECT_EQ(read_file(path), "nustream: third\n");
  use({Format::plain, path});
  info("four", "fourth");
  EXPECT_EQ(read_file(path), "nustream: third\nnustream: fourth\n") << "appended to";
}

TEST(Log, StaysWhereItWasWhereANewFileCannotBeOpened) {
  const Restored restored;
  const TemporaryFolder folder;
  const std::filesystem::path place = folder.path() / "logs";
  std::filesystem::create_directory(place);
  use({Format::plain, (place / "log").string()});
  std::filesystem::rename(place, folder.path() / "moved");
  EXPECT_THROW(reopen(), Failure);
  EXPECT_THROW(use({Format::json, (place / "log").string()}), Failure);
  info("one", "still here");
  EXPECT_EQ(read_file(folder.path() / "moved" / "log"), "nustream: still here\n");
}

// For a check, which must not leave a file behind.
TEST(Log, TellsOfAFileThatCannotBeOpenedWithoutMakingOne) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "log").string();
  require_writable(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(require_writable(path + "/log"), Failure) << "there is no such folder";
  EXPECT_THROW(require_writable(folder.path().string()), Failure) << "a folder";
  use({Format::plain, path});
  require_writable(path);
  use({});
}

TEST(Log, KeepsLinesOfManyThreadsWhole) {
  const Restored restored;
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "log").string();
  use({Format::plain, path});
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([] {
        for (int i = 0; i < 250; ++i) info("one", std::string(300, 'x'));
      });
    }
  }
  std::string expected;
  for (int i = 0; i < 1000; ++i) expected += "nustream: " + std::string(300, 'x') + '\n';
  EXPECT_EQ(read_file(path), expected);
}

TEST(Log, LeavesTheTimeToTheJournalWhereStandardErrorIsIts) {
  const Restored restored;
  struct stat status {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &status), 0);
  const std::string its = std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
  for (const bool is_its : {true, false}) {
    ::setenv("JOURNAL_STREAM", (is_its ? its : "1:1").c_str(), 1);
    use({Format::text, ""});
    ::testing::internal::CaptureStderr();  // the descriptor is the same, so the log does not ask again whose it is
    info("one", "told");
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, ::testing::StartsWith(is_its ? "<6>level=info event=one" : "time=20")) << told;
  }
  ::unsetenv("JOURNAL_STREAM");
}

}  // namespace
}  // namespace nustream::log
