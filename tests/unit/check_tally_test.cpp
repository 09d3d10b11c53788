// What an operator is told of records that cannot be used, and of gradients that are clipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "check/limits_gate.h"
#include "check/line_advice.h"
#include "check/long_records.h"
#include "check/tally.h"
#include "temporary_folder.h"

namespace nustream::check {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Tally tally_of(std::uint64_t records, const std::vector<record::Reject>& rejects) {
  Tally tally;
  tally.records = records;
  tally.add(rejects);
  return tally;
}

TEST(Tally, HasNothingToSayOfRecordsThatAreAllUsed) {
  Tally tally = tally_of(1000, {});
  tally.gradients = 1000;
  EXPECT_EQ(unusable_line(tally), "");
  EXPECT_EQ(clipped_line(tally), "");
  EXPECT_EQ(label_advice(tally), "");
}

TEST(Tally, NamesTheMostFrequentReasonWithOneOfItsRecords) {
  const Tally tally = tally_of(4000, {{Position{7}, "column 'a': missing"},
                                      {Position{9}, "column 'b': not a number"},
                                      {Position{12}, "column 'b': not a number"}});
  EXPECT_EQ(unusable_line(tally),
            "3 of 4,000 records (0.075%) could not be used (zero gradients); most often column 'b': not a number "
            "(record 9)");
}

TEST(Tally, SaysThatNothingWasUsedButNoise) {
  const Tally tally = tally_of(2, {{Position{0}, "the line is empty"}, {Position{1}, "the line is empty"}});
  EXPECT_EQ(unusable_line(tally),
            "none of 2 records could be used: every step was noise alone; most often the line is empty (record 0)");
}

TEST(Tally, ExplainsLabelsWhereEveryRefusedRecordWasRefusedForItsLabel) {
  Tally tally =
      tally_of(10, {{Position{0}, "column 'y': not a label 0 … 1"}, {Position{3}, "column 'y': not a label 0 … 1"}});
  EXPECT_THAT(unusable_line(tally), HasSubstr("all of them were refused for their label alone"));
  EXPECT_THAT(unusable_line(tally), EndsWith(R"(["-1", "1"], ["1", "2"] or ["no", "yes"])"));
  const record::Reject other[] = {{Position{4}, "column 'x': missing"}};
  tally.add(other);
  EXPECT_THAT(unusable_line(tally), Not(HasSubstr("label alone")));
}

// Where the labels have names, the advice is about the names.
TEST(Tally, SaysOfNamedLabelsThatTheNamesAreOthers) {
  const Tally tally = tally_of(10, {{Position{3}, "column 'y': not one of model.labels"}});
  EXPECT_THAT(unusable_line(tally),
              EndsWith("all of them were refused for their label alone: model.labels has to hold the texts "
                       "as they are in the data, class 0 first"));
}

TEST(Tally, SaysHowManyRecordsWereBeyondTheLimitsOfTheirUsers) {
  Tally tally = tally_of(402, {{Position{0}, "the line is empty"}, {Position{1}, "the line is empty"}});
  tally.used_up = 398;
  EXPECT_THAT(used_up_line(tally), HasSubstr("398 of 400 usable records (99.5%) counted for nothing: the limits of "
                                             "their users were used up (users.participations, users.mass)"));
  tally.used_up = 39;
  EXPECT_EQ(used_up_line(tally), "") << "less than a tenth is ordinary";
  Tally more = tally;
  more.used_up = 361;
  tally.add(more);
  EXPECT_EQ(tally.used_up, 400U);
  EXPECT_EQ(tally.since(more).used_up, 39U);
}

// A clock that never moves lets nobody begin anew, and a larger limit would be the wrong advice.
TEST(Tally, NamesTheTimesWhereTheyMayBeWhyLimitsAreUsedUp) {
  Tally tally = tally_of(400, {});
  tally.used_up = 380;
  EXPECT_THAT(used_up_line(tally), Not(HasSubstr("stream.time")));
  tally.windows = WindowsSeen{.without_time = 201};
  EXPECT_THAT(
      used_up_line(tally),
      HasSubstr("look at stream.time first, by which the windows of users.period end: 201 of 400 records have "
                "no time there that can be read: set stream.time_unit"));
  tally.windows = WindowsSeen{.without_time = 200};
  EXPECT_THAT(used_up_line(tally), Not(HasSubstr("stream.time")));
  tally.windows->in_1970 = true;
  EXPECT_THAT(used_up_line(tally), HasSubstr("its times lie in 1970: set stream.time_unit"));
}

TEST(Tally, SeesWhatAClockOfWindowsSaw) {
  using std::chrono::milliseconds;
  EXPECT_FALSE(windows_seen(nullptr));
  users::WindowClock clock{users::Period{milliseconds(10)}};
  EXPECT_FALSE(windows_seen(&clock)->in_1970) << "no time is known";
  static_cast<void>(clock.record({}, true));
  static_cast<void>(clock.record(milliseconds(5), true));
  static_cast<void>(clock.record(milliseconds(15), true));
  const WindowsSeen early = *windows_seen(&clock);
  EXPECT_EQ(early.without_time, 1U);
  EXPECT_TRUE(early.in_1970);
  static_cast<void>(clock.record(std::chrono::years(2), true));
  const WindowsSeen since = windows_seen(&clock)->since(early);
  EXPECT_EQ(since.without_time, 0U);
  EXPECT_FALSE(since.in_1970);
}

// The reader of a pipe gives what has come, which need not be whole steps.
TEST(LimitsGate, CountsAlikeHoweverRowsCome) {
  for (const std::uint64_t part : {1U, 50U, 250U, 1000U}) {
    LimitsGate gate(users::Limits({{1, 1}}, {}), 100);
    for (std::uint64_t first = 0; first < 1000; first += part) {
      record::RowBatch rows;
      for (std::uint64_t i = first; i < first + part; ++i) rows.users.push_back({i % 100 + 1, 0, 0});
      gate.take(rows, 1000);
    }
    EXPECT_EQ(gate.beyond_limits(), 900U) << part;
  }
}

TEST(LongRecord, IsToldWhereItMayHaveTakenInTheRecordsBehindIt) {
  EXPECT_EQ(long_record({}), "");
  EXPECT_EQ(long_record({"f.csv", 7, 3, false}), "") << "a note of a few lines is ordinary";
  EXPECT_THAT(long_record({"f.csv", 7, 300, false}),
              HasSubstr("the record at line 7 of 'f.csv' holds 300 line breaks: if its quotation mark"));
  EXPECT_THAT(
      long_record({"f.csv", 7, 1, true}),
      HasSubstr("holds 1 line break: its quotation mark is never closed, and took in all lines up to the end"));
}

TEST(Tally, OfTwoPartsIsWhatOneCountOfAllWouldBe) {
  const std::vector<record::Reject> early{{Position{2}, "column 'a': missing"}};
  const std::vector<record::Reject> late{{Position{12}, "column 'a': missing"}, {Position{15}, "the line is empty"}};
  Tally sum = tally_of(10, early);
  sum.gradients = 9;
  sum.clipped = 4;
  Tally part = tally_of(20, late);
  part.gradients = 18;
  part.clipped = 5;
  sum.add(part);
  EXPECT_EQ(sum.records, 30U);
  EXPECT_EQ(sum.rejected, 3U);
  EXPECT_EQ(sum.gradients, 27U);
  EXPECT_EQ(sum.clipped, 9U);
  EXPECT_EQ(sum.reasons.at("column 'a': missing").count, 2U);
  EXPECT_EQ(sum.reasons.at("column 'a': missing").first, Position{2}) << "the first that was counted";
  EXPECT_EQ(sum.reasons.at("the line is empty").first, Position{15});
}

TEST(Tally, TellsAClipThatTakesMostOfTheGradients) {
  Tally tally;
  tally.records = tally.gradients = 1704;
  tally.clipped = 852;
  EXPECT_EQ(clipped_line(tally), "852 of 1,704 gradients (50%) were clipped");
  tally.clipped = 853;
  EXPECT_THAT(clipped_line(tally), HasSubstr("853 of 1,704 gradients (50.1%) were clipped: so much clipping biases"));
}

// The run has to say as much as the dry run: what to set.
TEST(LineAdvice, NamesTheSettingWhereALineHintsAtIt) {
  const std::string trusted = "; where quoted texts hold line breaks, set stream.framing = \"trusted\"";
  const tests::TemporaryFolder folder;
  config::InputSettings input{.files = {folder.write("in.csv", "\"1\";\"2\"\n\"3\";\"4\"\n")}, .header = false};
  input.columns = {"x", "y"};
  const Tally open = tally_of(3, {{Position{0}, "a quotation mark is never closed"}});
  EXPECT_EQ(advice_on_lines(open, input), trusted);
  EXPECT_THAT(unusable_line(open, trusted),
              EndsWith("most often a quotation mark is never closed (record 0)" + trusted));
  const Tally all = tally_of(1, {{Position{0}, "text follows a closing quotation mark"}});
  EXPECT_EQ(advice_on_lines(all, input), "; set stream.delimiter = \";\"");
  const Tally some = tally_of(2, {{Position{0}, "text follows a closing quotation mark"}});
  EXPECT_EQ(advice_on_lines(some, input), "") << "other records can be read";
  EXPECT_EQ(advice_on_lines(tally_of(1, {{Position{0}, "column 'x': not a number"}}), input), "");
  input.framing_is_trusted = true;
  EXPECT_EQ(advice_on_lines(open, input), "");
  input.files = {"-"};
  EXPECT_EQ(advice_on_lines(all, input), "; is stream.delimiter right?") << "a pipe is not read twice";
}

// Where the header has one name fewer than all records have fields, the delimiter is right.
TEST(LineAdvice, SaysWhatAFieldTooManyMayBe) {
  const tests::TemporaryFolder folder;
  const Tally all = tally_of(1, {{Position{0}, "more fields than columns"}});
  const auto told = [&](const std::string& header, const std::string& record) {
    return advice_on_lines(all, {.files = {folder.write("in.csv", header + "\n" + record + "\n")}});
  };
  const std::string row_names =
      "; where R wrote row names in front, which the header does not name: write.csv(…, row.names = FALSE), or "
      "write.table(…, col.names = NA)";
  const std::string commas =
      "; where some of its commas are decimal ones: write another delimiter between the fields, and read it with "
      "stream.delimiter = \";\" and stream.decimal = \",\"";
  EXPECT_EQ(told("\"x\",\"y\"", "\"0\",2.338,5.619"), row_names);
  EXPECT_EQ(told("x,y", "2,338,5,619"), commas);
  EXPECT_EQ(told("x,y", "2,338,5"), row_names + commas);
  EXPECT_EQ(told("x,y", "2.338,5.619,"),
            "; its lines end in a delimiter more than the header: take it away: sed 's/,\\r*$//' FILE > FILE.csv");
  EXPECT_EQ(told("x,y", "a,b,c,d,e"), "; is stream.delimiter right?");
}

TEST(Tally, NeverRoundsNearlyAllToAll) {
  EXPECT_EQ(percent(0, 0), "0%");
  EXPECT_EQ(percent(1, 3), "33.3%");
  EXPECT_EQ(percent(7, 7), "100%");
  EXPECT_EQ(percent(99'999'999, 100'000'000), "99.9999%");
  EXPECT_EQ(percent(1'999, 2'000), "99.95%") << "as few digits as say that it is not all";
  EXPECT_EQ(percent(999, 1'000), "99.9%");
  EXPECT_EQ(percent(9'999, 10'000), "99.99%");
}

}  // namespace
}  // namespace nustream::check
