#include "serve/eviction.h"

#include <gtest/gtest.h>

#include <vector>

namespace nustream::serve {
namespace {

using std::chrono::seconds;
const std::chrono::steady_clock::time_point zero{};
const boost::asio::ip::address here = boost::asio::ip::make_address("127.0.0.1");
const boost::asio::ip::address there = boost::asio::ip::make_address("127.0.0.2");

Guest guest(Activity activity, int since, const boost::asio::ip::address& address = here) {
  return {activity, zero + seconds(since), address};
}

TEST(WhoMakesRoom, IsNobodyWhereAllAreAnswered) {
  EXPECT_EQ(who_makes_room({}), std::nullopt);
  EXPECT_EQ(who_makes_room(std::vector{guest(Activity::answering, 1), guest(Activity::answering, 2)}), std::nullopt);
}

TEST(WhoMakesRoom, IsWhoIsDoneBeforeWhoHasNotAsked) {
  for (const Activity done : {Activity::idle, Activity::leaving}) {
    for (const Activity waiting : {Activity::fresh, Activity::reading}) {
      EXPECT_EQ(who_makes_room(std::vector{guest(waiting, 1), guest(done, 5), guest(Activity::answering, 0)}), 1U);
    }
  }
}

TEST(WhoMakesRoom, IsTheOldestOfTheAddressWithMost) {
  const std::vector guests{guest(Activity::reading, 1, there), guest(Activity::fresh, 4), guest(Activity::reading, 3),
                           guest(Activity::fresh, 5)};
  EXPECT_EQ(who_makes_room(guests), 2U) << "although another address waits for longer";
  EXPECT_EQ(who_makes_room(guests, there), 0U);
  EXPECT_EQ(who_makes_room(guests, boost::asio::ip::make_address("::1")), std::nullopt);
}

}  // namespace
}  // namespace nustream::serve
