// Windows of time: where the table of users empties.
#include <gtest/gtest.h>

#include <cmath>

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

TEST(UserPeriod, ABorderIsWhereAStepOfALaterWindowBegins) {
  WindowClock clock{Period{milliseconds(10)}};
  EXPECT_FALSE(clock.record(milliseconds(5), true));    // the first record of all
  EXPECT_FALSE(clock.record(milliseconds(12), false));  // in the step of the first window
  EXPECT_TRUE(clock.record(milliseconds(12), true));
  EXPECT_EQ(clock.window(), 1);
  EXPECT_TRUE(clock.record(milliseconds(55), true));
  EXPECT_EQ(clock.window(), 5);
}

// An append time that goes back, of a broker whose clock was set, must not bring an old window back.
TEST(UserPeriod, TheClockNeverGoesBack) {
  WindowClock clock{Period{milliseconds(10)}};
  EXPECT_FALSE(clock.record(milliseconds(25), true));
  EXPECT_FALSE(clock.record(milliseconds(3), true));
  EXPECT_EQ(clock.window(), 2);
  EXPECT_EQ(clock.latest(), milliseconds(25));
}

TEST(UserPeriod, GoesOnFromAState) {
  WindowClock clock{Period{milliseconds(10)}, milliseconds(25), 1};
  EXPECT_TRUE(clock.record(milliseconds(26), true));  // a step of window 1 was open when time passed 20
  WindowClock same{Period{milliseconds(10)}, milliseconds(25), 2};
  EXPECT_FALSE(same.record(milliseconds(26), true));
}

TEST(UserPeriod, SeveralWindowsCostTheSquareOfTheirNumber) {
  EXPECT_NEAR(over_windows(Rho{.1}, 3).value(), .9, 1e-12);
  EXPECT_GE(over_windows(Rho{.1}, 3).value(), .1 * 9);
  EXPECT_EQ(over_windows(Rho{.1}, 0).value(), 0);
}

}  // namespace
}  // namespace nustream::users
