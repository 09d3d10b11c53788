// Windows of time: where the table of users is emptied.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nustream/base/error.h"
#include "nustream/users/period.h"

namespace nustream::users {
namespace {

using std::chrono::milliseconds;

TEST(UserPeriod, CountsWindowsFrom1970) {
  const Period day{std::chrono::hours(24)};
  EXPECT_EQ(day.window_of(milliseconds(0)), 0);
  EXPECT_EQ(day.window_of(milliseconds(86'399'999)), 0);
  EXPECT_EQ(day.window_of(milliseconds(86'400'000)), 1);
  EXPECT_EQ(day.window_of(milliseconds(-1)), -1);
  EXPECT_EQ(day.window_of(milliseconds(-86'400'000)), -1);
  EXPECT_EQ(day.window_of(milliseconds(-86'400'001)), -2);
  EXPECT_THROW(Period{milliseconds(0)}, InvalidParameter);
}

TEST(UserPeriod, IsWrittenAsADurationOfFixedLength) {
  using namespace std::chrono_literals;
  const std::pair<const char*, std::chrono::milliseconds> texts[] = {
      {"P30D", 24h * 30}, {"PT12H", 12h}, {"P1DT6H30M", 30h + 30min},
      {"PT90M", 90min},   {"PT1S", 1s},   {"P36500D", 24h * 36'500}};
  for (const auto& [text, length] : texts) {
    const auto period = parse_period(text);
    ASSERT_TRUE(period) << text;
    EXPECT_EQ(period->length(), length) << text;
    EXPECT_EQ(parse_period(text_of(*period)), period) << text;
  }
  EXPECT_EQ(text_of(Period{90min}), "PT1H30M");
  EXPECT_EQ(text_of(Period{24h * 30}), "P30D");
  EXPECT_EQ(text_of(Period{24h + 1s}), "P1DT1S");
  for (const char* text : {"",
                           "P",
                           "PT",
                           "30D",
                           "P30",
                           "P1M",
                           "P1Y",
                           "P1W",
                           "PT1D",
                           "P1DT",
                           "P1H",
                           "PT1M1H",
                           "P1D1D",
                           "P-1D",
                           "P1.5D",
                           "P0D",
                           "PT0S",
                           "P36501D",
                           "p30d",
                           "P30D ",
                           "P1DT1HT1M",
                           "P99999999999999999999D",
                           "PT3153600001S"}) {
    EXPECT_FALSE(parse_period(text)) << text;
  }
}

TEST(UserPeriod, ARecordWithoutATimeLeavesTheClockWhereItIs) {
  EXPECT_EQ(milliseconds_of(1.5), milliseconds(1500));
  EXPECT_EQ(milliseconds_of(1764181234.567), milliseconds(1764181234567));
  EXPECT_EQ(milliseconds_of(-0.001), milliseconds(-1));
  EXPECT_FALSE(milliseconds_of(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(milliseconds_of(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(milliseconds_of(1e300));
  WindowClock clock{Period{milliseconds(10)}};
  EXPECT_FALSE(clock.record({}, true));
  EXPECT_FALSE(clock.window());
  EXPECT_FALSE(clock.record(milliseconds(25), true));  // the first window that is known
  EXPECT_FALSE(clock.record({}, true));
  EXPECT_EQ(clock.window(), 2);
  EXPECT_EQ(clock.without_time(), 2U);
}

TEST(UserPeriod, ABorderIsWhereAStepOfALaterWindowBegins) {
  WindowClock clock{Period{milliseconds(10)}};
  EXPECT_FALSE(clock.record(milliseconds(5), true));    // the first record of all
  EXPECT_FALSE(clock.record(milliseconds(12), false));  // a record in the step of the first window
  EXPECT_TRUE(clock.record(milliseconds(12), true));
  EXPECT_EQ(clock.window(), 1);
  EXPECT_TRUE(clock.record(milliseconds(55), true));
  EXPECT_EQ(clock.window(), 5);
}

TEST(UserPeriod, WhatComesBehindTheBorderWithinAStepIsTold) {
  WindowClock clock{Period{milliseconds(10)}};
  EXPECT_FALSE(clock.record({}, true));
  EXPECT_FALSE(clock.record(milliseconds(12), false));  // a record of a step that belongs to no window yet
  EXPECT_FALSE(clock.is_behind_border());
  EXPECT_FALSE(clock.record(milliseconds(13), true));
  EXPECT_FALSE(clock.is_behind_border());
  EXPECT_FALSE(clock.record(milliseconds(21), false));
  EXPECT_TRUE(clock.is_behind_border());
  EXPECT_FALSE(clock.record(milliseconds(14), false));  // a late record, for which the clock does not go back
  EXPECT_TRUE(clock.is_behind_border());
  EXPECT_TRUE(clock.record({}, true));
  EXPECT_FALSE(clock.is_behind_border());
}

// A broker whose clock was set may give an append time that goes back: it must not bring an old window back.
TEST(UserPeriod, TheClockNeverGoesBack) {
  WindowClock clock{Period{milliseconds(10)}};
  EXPECT_FALSE(clock.record(milliseconds(25), true));
  EXPECT_FALSE(clock.record(milliseconds(3), true));
  EXPECT_EQ(clock.window(), 2);
  EXPECT_EQ(clock.latest(), milliseconds(25));
}

TEST(UserPeriod, GoesOnFromAState) {
  WindowClock clock{Period{milliseconds(10)}, milliseconds(25), 1};
  EXPECT_TRUE(clock.record(milliseconds(26), true));  // a step of window 1 was open when the time passed 20
  WindowClock same{Period{milliseconds(10)}, milliseconds(25), 2};
  EXPECT_FALSE(same.record(milliseconds(26), true));
}

}  // namespace
}  // namespace nustream::users
