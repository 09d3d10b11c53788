#include "nustream/record/timestamp.h"

#include <gtest/gtest.h>

namespace nustream::record {
namespace {

TEST(ParseTimestamp, ReadsDateTimeZoneAndFraction) {
  const auto retail = parse_timestamp("2010-12-01 08:26:00");  // a Wednesday; date -u -d … +%s
  ASSERT_TRUE(retail.has_value());
  EXPECT_EQ(retail->hour, 8);
  EXPECT_EQ(retail->day_of_week, 2);
  EXPECT_EQ(retail->epoch_seconds, 1291191960.0);

  EXPECT_EQ(parse_timestamp("1970-01-01")->epoch_seconds, 0);
  EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59Z")->epoch_seconds, -1);
  EXPECT_EQ(parse_timestamp("2000-02-29T12:00")->epoch_seconds, 951825600.0);
  EXPECT_EQ(parse_timestamp(" 2010-12-01T08:26:00.25Z ")->epoch_seconds, 1291191960.25);
}

// The hour is the one that was written: what the record's author saw on the clock. The point in time moves.
TEST(ParseTimestamp, ZoneMovesTheTimeButNotTheHourAsWritten) {
  const auto east = parse_timestamp("2010-12-02T00:26:00+05:30");
  EXPECT_EQ(east->hour, 0);
  EXPECT_EQ(east->day_of_week, 3);
  EXPECT_EQ(east->epoch_seconds, 1291191960.0 + (16 - 5.5) * 3600);
  EXPECT_EQ(parse_timestamp("2010-12-01T08:26:00-01:00")->epoch_seconds, 1291191960.0 + 3600);
}

TEST(ParseTimestamp, RefusesWhatIsNoTimestamp) {
  const char* const cases[] = {
      "",
      "2010",
      "2010-13-01",
      "2010-02-29",
      "2010-04-31",
      "2010-00-10",
      "2010-12-1",
      "10-12-01",
      "2010/12/01",
      "2010-12-01T",
      "2010-12-01T8:26",
      "2010-12-01T24:00",
      "2010-12-01T08:60",
      "2010-12-01T23:59:60",
      "2010-12-01T08",
      "2010-12-01T08:26:00.",
      "2010-12-01T08:26:00+5",
      "2010-12-01T08:26:00ZZ",
      "2010-12-01x",
      "2010-12-01 08:26 PM",
      "1291191960",
      "-2010-12-01",
      "2010-12-01Z",
  };
  for (const char* const text : cases) EXPECT_FALSE(parse_timestamp(text).has_value()) << text;
}

}  // namespace
}  // namespace nustream::record
