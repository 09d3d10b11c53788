// parse_timestamp against the C library's calendar.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "nustream/record/timestamp.h"

namespace nustream::record {
namespace {

TEST(ParseTimestampProperty, AgreesWithGmtimeFromYear1To9999) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<std::time_t> seconds(-62'135'596'800, 253'402'300'799);
  for (int i = 0; i < 50'000; ++i) {
    const std::time_t time = seconds(random);
    std::tm calendar{};
    gmtime_r(&time, &calendar);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", calendar.tm_year + 1900, calendar.tm_mon + 1,
                  calendar.tm_mday, calendar.tm_hour, calendar.tm_min, calendar.tm_sec);
    const auto timestamp = parse_timestamp(text);
    ASSERT_TRUE(timestamp.has_value()) << text;
    EXPECT_EQ(timestamp->epoch_seconds, static_cast<double>(time)) << text;
    EXPECT_EQ(timestamp->hour, calendar.tm_hour) << text;
    EXPECT_EQ((timestamp->day_of_week + 1) % 7, calendar.tm_wday) << text;  // tm_wday: 0 Sunday
  }
}

// The same moment is written in every zone of whole minutes, on both sides of Greenwich: Newfoundland is at -03:30,
// the Marquesas at -09:30, Nepal at +05:45.
TEST(ParseTimestampProperty, IsTheSameMomentInEveryZone) {
  const std::time_t moment = 1'291'249'560;  // 2010-12-02T00:26:00Z
  for (int ahead = -23 * 60 - 59; ahead <= 23 * 60 + 59; ++ahead) {
    const std::time_t local = moment + std::time_t{60} * ahead;
    std::tm calendar{};
    gmtime_r(&local, &calendar);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", calendar.tm_year + 1900,
                  calendar.tm_mon + 1, calendar.tm_mday, calendar.tm_hour, calendar.tm_min, calendar.tm_sec,
                  ahead < 0 ? '-' : '+', std::abs(ahead) / 60, std::abs(ahead) % 60);
    const auto timestamp = parse_timestamp(text);
    ASSERT_TRUE(timestamp.has_value()) << text;
    EXPECT_EQ(timestamp->epoch_seconds, static_cast<double>(moment)) << text;
    EXPECT_EQ(timestamp->hour, calendar.tm_hour) << text << ": the hour as it is written";
  }
}

}  // namespace
}  // namespace nustream::record
