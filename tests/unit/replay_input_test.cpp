// A window of the input that is read in several passes, and inputs that change between the passes; and rows that are
// held back until their time has come.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "error.h"
#include "expect_failure.h"
#include "measured_time.h"
#include "replay/input.h"
#include "replay/pacer.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

/// Reads rows until none is left; rows that were read before a failure stay in `rows`.
void read_all(decode::Reader& reader, record::RowBatch& rows) {
  while (reader.read(rows, 7)) continue;
}

/// A stream of `records` rows that is read `passes` times.
struct Passes {
  Passes(std::size_t records, std::uint64_t passes)
      : world(records), config(config::read_config(world.config(), {})), window{0, records, passes} {
    rows.dimension = config.descent.dimension;
  }
  std::unique_ptr<decode::Reader> open(std::uint64_t position = 0) const {
    return replay::open_window(config, window, position);
  }
  void shorten_to(std::size_t records) const {
    const std::string text = ReplayWorld::csv(window.end.value());
    std::size_t end = 0;
    for (std::size_t line = 0; line <= records; ++line) end = text.find('\n', end) + 1;
    world.write("rows.csv", text.substr(0, end));
  }

  ReplayWorld world;
  config::Config config;
  folder::Window window;
  record::RowBatch rows;
};

// The passes over such an input would follow each other sooner than the spend assumes: a record would participate
// again after fewer steps.
TEST(PassesOverAnInput, ThatShrinksBetweenThemEndAtItsNewEnd) {
  for (const std::size_t left : {std::size_t{99}, std::size_t{50}, std::size_t{1}}) {
    for (const std::uint64_t read_before : {std::uint64_t{0}, std::uint64_t{130}}) {
      SCOPED_TRACE(std::to_string(left) + " records left, from " + std::to_string(read_before));
      Passes passes(100, 3);
      const auto reader = passes.open(read_before);
      while (passes.rows.count() + read_before % 100 < 100) ASSERT_TRUE(reader->read(passes.rows, 7));
      const std::size_t before = passes.rows.count();
      passes.shorten_to(left);
      expect_failure(
          Exit::data, [&] { read_all(*reader, passes.rows); }, "the input changed between passes");
      EXPECT_EQ(passes.rows.count(), before + left) << "nothing is read in the place of what is gone";
    }
  }
}

TEST(PassesOverAnInput, ThatShrinksToNothingOrIsGoneEndThere) {
  Passes passes(100, 2);
  const auto reader = passes.open();
  while (passes.rows.count() < 100) ASSERT_TRUE(reader->read(passes.rows, 7));
  std::filesystem::remove(passes.world.path("rows.csv"));
  EXPECT_THROW(read_all(*reader, passes.rows), Failure);
  EXPECT_EQ(passes.rows.count(), 100U);
}

// Records that were added at the end between two passes are not part of the window.
TEST(PassesOverAnInput, ThatGrowsReadTheSameRecordsAgain) {
  Passes passes(100, 3);
  const auto reader = passes.open();
  while (passes.rows.count() < 100) ASSERT_TRUE(reader->read(passes.rows, 7));
  passes.world.write("rows.csv", ReplayWorld::csv(150));
  read_all(*reader, passes.rows);
  ASSERT_EQ(passes.rows.count(), 300U);
  const std::size_t d = passes.rows.dimension;
  for (std::size_t i = 0; i < 100 * d; ++i) EXPECT_EQ(passes.rows.x[i], passes.rows.x[i + 100 * d]) << i;
}

/// 9999-12-31T23:59:59Z, in seconds.
constexpr double far_ahead = 253'402'300'799;

// A record that is dated in the year 9999 holds up the stream by a second, and not by eight thousand years. Two of
// the rows are a second late here; the bound leaves room for a busy machine.
TEST(Pacer, HoldsNoRowBackForARecordThatIsDatedInTheFuture) {
  const auto start = std::chrono::steady_clock::now();
  replay::Pacer pacer(1.0);
  for (const double time : {1e9, far_ahead, 1e9 + 1, 1e300, 1e9 + 2}) pacer.wait_for(time);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

}  // namespace
}  // namespace nustream::tests
