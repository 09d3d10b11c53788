// The encoding of a lane against docs/formats/lane.md, byte by byte.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nustream/base/error.h"
#include "support/lane_world.h"

namespace nustream::tests {
namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

lane::Settings tail_settings() {
  auto settings = settings_for(2, {model::Loss::Kind::linear}, 1.0, 0.5);
  settings.averaging = {descent::Averaging::Kind::tail, 1, 0.5};
  return settings;
}

// A lane after two steps of zero rows; the first step's noise moves θ to (1, −2), and the second's does not move it.
lane::Lane small_lane(const lane::Settings& settings) {
  lane::Lane lane(settings, grid_for(settings), Position{258});
  const auto unit = static_cast<std::int64_t>(1 / grid_for(settings).spacing());
  const auto rows = rows_of(2, {0, 0, 0, 0}, {0, 0}, 258);
  lane::Releases releases;
  lane.advance(slice(rows, 0, 2), {StepIndex{0}, 2, std::vector<std::int64_t>{-2 * unit, 4 * unit, 0, 0}}, releases);
  return lane;
}

TEST(LaneEncoding, IsWhatTheFormatPageSays) {
  EXPECT_EQ(hex(small_lane(tail_settings()).encode()),
            "6e752d6c616e6501"    // "nu-lane", version 1
            "0200000000000000"    // d
            "0200000000000000"    // steps
            "0401000000000000"    // position 260
            "000000000000f03f"    // W = 1
            "000000000000f03f"    // θ
            "00000000000000c0"    //
            "000000000000f03f"    // average
            "00000000000000c0");  //
}

// At its first step an epoch that continues another holds all that it took over: these values are nowhere else.
TEST(LaneEncoding, HoldsWhereAnEpochThatGoesOnBegan) {
  const auto settings = tail_settings();
  lane::Lane lane(settings, grid_for(settings), Position{258});
  lane.go_on_from({{1, -2}, {0.5, -2}, 500});
  EXPECT_EQ(hex(lane.encode()),
            "6e752d6c616e6501"    // "nu-lane", version 1
            "0200000000000000"    // d
            "0000000000000000"    // steps
            "0201000000000000"    // position 258
            "0000000000407f40"    // W = 500
            "000000000000f03f"    // θ
            "00000000000000c0"    //
            "000000000000e03f"    // average
            "00000000000000c0");  //
  EXPECT_EQ(lane::Lane::decode(settings, grid_for(settings), lane.encode()).encode(), lane.encode());
}

TEST(LaneEncoding, HasNoAverageBeforeItBegins) {
  const auto settings = settings_for(2, {model::Loss::Kind::linear}, 1.0, 0.5);
  EXPECT_EQ(small_lane(settings).encode().size(), 40U + 2 * 8);
  EXPECT_EQ(lane::Lane(tail_settings(), grid_for(settings), Position{0}).encode().size(), 40U + 2 * 8);
}

TEST(LaneEncoding, RefusesEveryOtherLength) {
  const auto settings = tail_settings();
  const std::string bytes = small_lane(settings).encode();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(lane::Lane::decode(settings, grid_for(settings), bytes.substr(0, size)), InvalidParameter) << size;
  }
  EXPECT_THROW(lane::Lane::decode(settings, grid_for(settings), bytes + '\0'), InvalidParameter);
  EXPECT_NO_THROW(lane::Lane::decode(settings, grid_for(settings), bytes));
}

// Batches that a state may lack stand at its end. A state of an earlier version has none, and its lane goes on so.
TEST(LaneEncoding, GoesOnWithoutTheBatchesThatAStateLacks) {
  const auto earlier = tail_settings();
  auto settings = earlier;
  settings.batching = descent::Batching{1, 2, 1, true};
  const std::string without = small_lane(earlier).encode();
  const std::string whole = small_lane(settings).encode();
  EXPECT_EQ(hex(whole), hex(without) +
                            "0100000000000000"    // steps of a batch
                            "0100000000000000"    // batches
                            "000000000000f03f"    // the mean of the one that is complete
                            "00000000000000c0");  //
  const auto releases_of = [&](const std::string& bytes) {
    lane::Lane lane = lane::Lane::decode(settings, grid_for(settings), bytes);
    EXPECT_EQ(lane.encode(), bytes);
    lane::Releases releases;
    lane.release_now(releases);
    return std::pair{releases[0].batch_length, releases[0].average[1]};
  };
  EXPECT_EQ(releases_of(without), std::pair(std::uint64_t{0}, -2.0));
  EXPECT_EQ(releases_of(whole), std::pair(std::uint64_t{1}, -2.0));
  settings.batching->shown = false;
  EXPECT_EQ(releases_of(whole).first, 0U);
}

/// A lane after so many steps of zero rows and noise that moves θ by one unit of the grid each time.
lane::Lane lane_after(const lane::Settings& settings, std::size_t steps) {
  lane::Lane lane(settings, grid_for(settings), Position{0});
  const auto rows = rows_of(2, std::vector<double>(2 * steps), std::vector<double>(steps), 0);
  lane::Releases releases;
  lane.advance(slice(rows, 0, steps), {StepIndex{0}, 2, std::vector<std::int64_t>(2 * steps, 1)}, releases);
  return lane;
}

// A trail stands behind everything else. A state of an earlier version has none, and its lane goes on without it
// where iterates are missing.
TEST(LaneEncoding, EndsWithTheTrail) {
  const auto earlier = tail_settings();
  auto settings = earlier;
  settings.trail = descent::TrailSettings{1};
  const auto encoded = [&](const lane::Settings& of, std::size_t steps) { return lane_after(of, steps).encode(); };
  // The first iterate comes after 64 steps, since the trail begins behind the first one.
  EXPECT_EQ(encoded(settings, 63), encoded(earlier, 63));
  EXPECT_EQ(encoded(settings, 64).size(), encoded(earlier, 64).size() + 8 + 8 + 16);
  const std::string whole = encoded(settings, 70);
  EXPECT_EQ(hex(whole).substr(2 * encoded(earlier, 70).size(), 32),
            "4000000000000000"    // distance 64
            "0200000000000000");  // iterates
  EXPECT_TRUE(whole.starts_with(encoded(earlier, 70)));
  const auto again = [&](const std::string& bytes) {
    lane::Lane lane = lane::Lane::decode(settings, grid_for(settings), bytes);
    EXPECT_EQ(lane.encode(), bytes);
    lane::Releases releases;
    lane.release_now(releases);
    return std::pair(releases[0].trail_distance, releases[0].trail.size());
  };
  EXPECT_EQ(again(whole), std::pair(std::uint64_t{64}, std::size_t{4}));
  EXPECT_EQ(again(encoded(earlier, 63)), std::pair(std::uint64_t{64}, std::size_t{0}));
  EXPECT_EQ(again(encoded(earlier, 70)), std::pair(std::uint64_t{0}, std::size_t{0}));
  EXPECT_THROW(lane::Lane::decode(settings, grid_for(settings), whole.substr(0, whole.size() - 8)), InvalidParameter);
  EXPECT_THROW(lane::Lane::decode(earlier, grid_for(settings), whole), InvalidParameter);
}

std::string with(std::string bytes, std::size_t offset, const std::string& replacement) {
  return bytes.replace(offset, replacement.size(), replacement);
}

TEST(LaneEncoding, RefusesWhatIsNotThisStateOfTheseSettings) {
  const auto settings = tail_settings();
  const noise::Grid grid = grid_for(settings);
  const std::string bytes = small_lane(settings).encode();
  const auto refuses = [&](std::size_t offset, const std::string& replacement) {
    EXPECT_THROW(lane::Lane::decode(settings, grid, with(bytes, offset, replacement)), InvalidParameter) << offset;
  };
  refuses(0, "N");                                        // magic
  refuses(7, "\x02");                                     // version
  refuses(8, "\x03");                                     // dimension
  refuses(15, "\xff");                                    // an enormous one
  refuses(16, "\x03");                                    // steps: the tail would hold two iterates
  refuses(39, "\xbf");                                    // W = −1
  refuses(38, "\xf8\x7f");                                // W = NaN
  refuses(40, std::string("\x01\0\0\0\0\0\xf8\x7f", 8));  // θ: a NaN with a payload
  refuses(40, std::string("\0\0\0\0\0\0\xf8\xff", 8));    // θ: a negative NaN
  refuses(56, std::string("\0\0\0\0\0\0\xf4\x7f", 8));    // average: a signalling NaN
  // The same bytes are refused under other settings.
  auto other = settings;
  other.averaging = {};
  EXPECT_THROW(lane::Lane::decode(other, grid, bytes), InvalidParameter);
}

// No state has a second spelling: every text that is accepted is encoded to the same bytes again.
TEST(LaneEncoding, AcceptsOnlyWhatItWouldWrite) {
  const auto settings = tail_settings();
  const noise::Grid grid = grid_for(settings);
  const std::string bytes = small_lane(settings).encode();
  int accepted = 0;
  for (std::size_t offset = 0; offset < bytes.size(); ++offset) {
    for (int value = 0; value < 256; ++value) {
      const std::string changed = with(bytes, offset, std::string(1, static_cast<char>(value)));
      try {
        EXPECT_EQ(lane::Lane::decode(settings, grid, changed).encode(), changed);
        ++accepted;
      } catch (const InvalidParameter&) {
      }
    }
  }
  EXPECT_GT(accepted, 10'000);  // θ, average and position may be anything
}

TEST(LaneEncoding, KeepsInfinitiesAndTheSignOfZero) {
  const auto settings = tail_settings();
  const noise::Grid grid = grid_for(settings);
  std::string bytes = small_lane(settings).encode();
  bytes = with(bytes, 40, std::string("\0\0\0\0\0\0\xf0\x7f", 8));
  bytes = with(bytes, 48, std::string("\0\0\0\0\0\0\0\x80", 8));
  const auto lane = lane::Lane::decode(settings, grid, bytes);
  EXPECT_EQ(lane.theta()[0], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(lane.theta()[1]));
  EXPECT_EQ(lane.encode(), bytes);
}

}  // namespace
}  // namespace nustream::tests
