#include "nustream/record/timestamp.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace nustream::record {
namespace {

TEST(ParseTimestamp, ReadsDateTimeZoneAndFraction) {
  const auto retail = parse_timestamp("2010-12-01 08:26:00");  // a Wednesday; the number is that of date -u -d … +%s
  ASSERT_TRUE(retail.has_value());
  EXPECT_EQ(retail->hour, 8);
  EXPECT_EQ(retail->day_of_week, 2);
  EXPECT_EQ(retail->epoch_seconds, 1291191960.0);

  EXPECT_EQ(parse_timestamp("1970-01-01")->epoch_seconds, 0);
  EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59Z")->epoch_seconds, -1);
  EXPECT_EQ(parse_timestamp("2000-02-29T12:00")->epoch_seconds, 951825600.0);
  EXPECT_EQ(parse_timestamp(" 2010-12-01T08:26:00.25Z ")->epoch_seconds, 1291191960.25);
}

// The hour is the one that was written, because this is what the record's author saw on the clock. The zone moves the
// point in time.
TEST(ParseTimestamp, ZoneMovesTheTimeButNotTheHourAsWritten) {
  const auto east = parse_timestamp("2010-12-02T00:26:00+05:30");
  EXPECT_EQ(east->hour, 0);
  EXPECT_EQ(east->day_of_week, 3);
  EXPECT_EQ(east->epoch_seconds, 1291191960.0 + (16 - 5.5) * 3600);
  EXPECT_EQ(parse_timestamp("2010-12-01T08:26:00-01:00")->epoch_seconds, 1291191960.0 + 3600);
}

// These are the ways in which Java, Spark, Logstash, PostgreSQL and spreadsheets write.
TEST(ParseTimestamp, ReadsZonesWithoutColonSmallLettersAndShortHours) {
  const double noon = parse_timestamp("2024-03-01T12:00:00Z")->epoch_seconds;
  for (const char* const text :
       {"2024-03-01T12:00:00.000+0000", "2024-03-01t12:00:00z", "2024-03-01 12:00:00+00", "2024-03-01T14:30:00+0230",
        "2024-03-01T07:00:00-05", "2024-03-01T08:30:00-0330", "2024-03-01 7:00-0500", "2024-03-01 7:00:00 "}) {
    const auto read = parse_timestamp(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->epoch_seconds, std::string(text).ends_with(' ') ? noon - 5 * 3600 : noon) << text;
  }
  EXPECT_EQ(parse_timestamp("2024-03-01 7:05")->hour, 7);
}

TEST(ParseTime, ANumberIsATimeOfItsUnit) {
  const auto written = parse_timestamp("2024-03-01T12:34:56Z");
  for (const auto& [text, unit] :
       {std::pair("1709296496", TimeUnit::seconds), std::pair("1709296496.0", TimeUnit::seconds),
        std::pair("1709296496000", TimeUnit::milliseconds),
        std::pair(" 1709296496000000 ", TimeUnit::microseconds)}) {
    const auto read = parse_time(text, unit);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->hour, 12) << text;
    EXPECT_EQ(read->day_of_week, written->day_of_week) << text;
    EXPECT_EQ(read->epoch_seconds, written->epoch_seconds) << text;
  }
  EXPECT_EQ(parse_time("2024-03-01T12:34:56Z", TimeUnit::milliseconds)->epoch_seconds, written->epoch_seconds);
  EXPECT_FALSE(parse_time("1709296496", TimeUnit::none).has_value());
  EXPECT_FALSE(parse_time("noon", TimeUnit::seconds).has_value());
}

TEST(ParseTime, NumbersBesideMidnightAndBeforeTheEpochHaveTheHourOfTheirDay) {
  EXPECT_EQ(parse_time("-1", TimeUnit::seconds)->hour, 23);
  EXPECT_EQ(parse_time("-1", TimeUnit::seconds)->day_of_week, 2);  // 1969-12-31, a Wednesday
  EXPECT_EQ(parse_time("86399999", TimeUnit::milliseconds)->hour, 23);
  EXPECT_EQ(parse_time("86400000", TimeUnit::milliseconds)->hour, 0);
  EXPECT_EQ(parse_time("1709251199999999", TimeUnit::microseconds)->hour, 23);
  EXPECT_FALSE(parse_time("1709296496000000", TimeUnit::milliseconds).has_value()) << "the year 56133";
  EXPECT_FALSE(parse_time("-1e15", TimeUnit::seconds).has_value());
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
      "2010-12-01T24:00",
      "2010-12-01T08:60",
      "2010-12-01T23:59:60",
      "2010-12-01T08",
      "2010-12-01T08:26:00.",
      "2010-12-01T08:26:00+5",
      "2010-12-01T08:26:00+053",
      "2010-12-01T08:26:00+05:",
      "2010-12-01T08:26:00+05x",
      "2010-12-01T08:26:00+05300",
      "2010-12-01T108:26",
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
