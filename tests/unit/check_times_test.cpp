// What is said of times that are hardly meant as they are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "check/times.h"
#include "temporary_folder.h"

namespace nustream::check {
namespace {

using record::TimeUnit;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* iso = ", which no unit reads as such: write it as ISO 8601, such as 2024-02-19T01:00:00Z";

TEST(AdviceOnTime, NamesTheUnitInWhichANumberIsOfOurTime) {
  EXPECT_EQ(advice_on_time("1704067200", TimeUnit::none), "; set unit = \"s\"");
  EXPECT_EQ(advice_on_time("1704067200123", TimeUnit::seconds), "; set unit = \"ms\"");
  EXPECT_EQ(advice_on_time("1704067200123456", TimeUnit::seconds), "; set unit = \"us\"");
  for (const char* text : {"7", "0", "-1", "now", "", "2024-02-19 1", "170406720012345678901"}) {
    EXPECT_EQ(advice_on_time(text, TimeUnit::none), "") << text;
  }
}

TEST(AdviceOnTime, TellsDatesYearsAndDayNumbersFromCounts) {
  EXPECT_EQ(advice_on_time("20240219", TimeUnit::none),
            std::string("; it looks like a date written in digits (YYYYMMDD)") + iso);
  EXPECT_EQ(advice_on_time("2024021901", TimeUnit::none),
            std::string("; it looks like a date written in digits (YYYYMMDDHH)") + iso);
  EXPECT_THAT(advice_on_time("202402190130", TimeUnit::none), HasSubstr("(YYYYMMDDHHMM)"));
  EXPECT_THAT(advice_on_time(" 20240219013059 ", TimeUnit::none), HasSubstr("(YYYYMMDDHHMMSS)"));
  EXPECT_THAT(advice_on_time("2024021901.0", TimeUnit::none), HasSubstr("(YYYYMMDDHH)"));
  for (const char* text : {"2024", "1900", "2100.0"}) {
    EXPECT_EQ(advice_on_time(text, TimeUnit::none), std::string("; it looks like a year alone") + iso) << text;
  }
  EXPECT_EQ(advice_on_time("45341.25", TimeUnit::none),
            std::string("; it looks like the day number of a spreadsheet") + iso);
  // Days and hours that do not exist are no dates.
  for (const char* text : {"20240230", "20241301", "18990101"}) {
    EXPECT_EQ(advice_on_time(text, TimeUnit::seconds), "") << text;
  }
  EXPECT_EQ(advice_on_time("2024021924", TimeUnit::none), "; set unit = \"s\"");
}

record::Schema hour_of(TimeUnit unit) {
  record::Schema schema;
  schema.features.resize(1);
  schema.features[0].first.column = "t";
  schema.features[0].first.transform = record::Transform::hour;
  schema.features[0].first.unit = unit;
  return schema;
}

/// What is said of a column of these texts.
std::string said(const std::vector<std::string>& texts, TimeUnit unit) {
  config::InputSettings input;
  std::vector<decode::SeenLine> records;
  for (const std::string& text : texts) records.push_back({"in.csv", records.size() + 2, text + ",1", "t,y"});
  return odd_times(input, hour_of(unit), records);
}

std::vector<std::string> twenty(const std::function<long long(long long)>& number) {
  std::vector<std::string> texts;
  for (long long i = 0; i < 20; ++i) texts.push_back(std::to_string(number(1'704'067'200 + 3571 * i)));
  return texts;
}

// Each unit read as each other one.
TEST(OddTimes, AreToldForEveryPairOfUnits) {
  const std::vector<std::pair<TimeUnit, long long>> units{
      {TimeUnit::seconds, 1}, {TimeUnit::milliseconds, 1000}, {TimeUnit::microseconds, 1'000'000}};
  const std::vector<std::string> names{"seconds: set unit = \"s\"", "milliseconds: set unit = \"ms\"",
                                       "microseconds: set unit = \"us\""};
  for (std::size_t written = 0; written < units.size(); ++written) {
    const auto texts = twenty([&](long long seconds) { return seconds * units[written].second; });
    for (std::size_t read = 0; read < units.size(); ++read) {
      const std::string lie = written < read ? "in 1970" : "beyond the year 9999";
      EXPECT_EQ(said(texts, units[read].first), written == read ? ""
                                                                : "the first 20 times of column 't' lie " + lie +
                                                                      ", but between 1990 and 2100 if they count " +
                                                                      names[written]);
    }
  }
}

// Zeros and words stand for times that are not there, and a few odd ones do not speak for the others.
TEST(OddTimes, GoByTheMostOfThoseThatAreThere) {
  auto texts = twenty([](long long seconds) { return seconds; });
  texts[0] = "NULL";
  texts[1] = "0";
  texts[2] = "";
  EXPECT_THAT(said(texts, TimeUnit::milliseconds), StartsWith("the first 17 times of column 't' lie in 1970"));
  for (std::size_t i = 3; i < 11; ++i) texts[i] = "2024-02-19T01:00:00Z";
  EXPECT_THAT(said(texts, TimeUnit::milliseconds), StartsWith("9 of the first 17 times of column 't' lie in 1970"));
  texts[11] = "5";
  EXPECT_EQ(said(texts, TimeUnit::milliseconds), "");
}

TEST(OddTimes, AreDatesInDigitsWhereAllLookSo) {
  std::vector<std::string> texts{"2024021901", "2024021923", "2024123100"};
  EXPECT_EQ(
      said(texts, TimeUnit::seconds),
      std::string("each of the first 3 times of column 't' looks like a date written in digits (YYYYMMDDHH)") + iso);
  texts.emplace_back("2024021964");
  EXPECT_EQ(said(texts, TimeUnit::seconds), "");
  // These may be seconds since midnight.
  EXPECT_EQ(said({"2023", "2024"}, TimeUnit::seconds), "");
  EXPECT_EQ(said({"45341.5", "45342"}, TimeUnit::seconds), "");
}

TEST(OddTimes, OfTheRecordsThemselvesNameTheirOwnSetting) {
  config::InputSettings input;
  input.time_column = "t";
  const std::vector<decode::SeenLine> records{{"in.csv", 2, "1704067200123,1", "t,y"}};
  EXPECT_EQ(odd_times(input, {}, records),
            "the first 1 times of column 't' lie beyond the year 9999, but between 1990 and 2100 if they count "
            "milliseconds: set stream.time_unit = \"ms\"");
}

// What is shown has control characters as they are typed, and what is judged is the text itself.
TEST(OddTimes, AreJudgedByTheTextAsItIs) {
  EXPECT_EQ(said({"2024-02-19\t01:00"}, TimeUnit::seconds), "");
  EXPECT_EQ(decode::on_one_line("2024-02-19\t01:00"), "2024-02-19\\t01:00");
  EXPECT_EQ(decode::on_one_line("\f2.338"), "\\f2.338");
  EXPECT_EQ(decode::on_one_line("\r1\n\v\x01\x7f"), "\\r1\\n\\v\\x01\\x7f");
  EXPECT_EQ(decode::on_one_line("caf\xe9 caf\xc3\xa9"), "caf\\xe9 caf\xc3\xa9");
}

// A window of time that nothing matches says why, where the times themselves are the cause.
TEST(NoTimeMatches, SaysWhetherTimesCanBeRead) {
  const tests::TemporaryFolder folder;
  const auto told = [&](const std::string& time) {
    config::InputSettings input;
    input.files = {folder.write("in.csv", "t,y\n" + time + ",1\n" + time + ",2\n")};
    input.time_column = "t";
    return why_no_time_matches(input);
  };
  EXPECT_EQ(
      told("01.02.2024 03:04"),
      "the first 2 times of column 't' cannot be read: write them as ISO 8601, such as 2024-02-19T01:00:00Z, or "
      "as numbers with stream.time_unit");
  EXPECT_EQ(told("1704164645000"),
            "the first 2 times of column 't' lie beyond the year 9999, but between 1990 and 2100 if they count "
            "milliseconds: set stream.time_unit = \"ms\"");
  EXPECT_EQ(told("2024-02-19T01:00:00Z"), "");
  config::InputSettings pipe;
  pipe.files = {"-"};
  pipe.time_column = "t";
  EXPECT_EQ(why_no_time_matches(pipe), "");
}

}  // namespace
}  // namespace nustream::check
