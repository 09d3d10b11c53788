// What an operator is told of records that cannot be used, and of gradients that are clipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "check/tally.h"

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
  EXPECT_EQ(used_up(400, 2, 1), 398U);
  EXPECT_EQ(used_up(400, 400, 1), 0U);
  EXPECT_EQ(used_up(400, 39, 10), 10U) << "a contribution holds no more than its step";
  EXPECT_EQ(used_up(400, std::uint64_t{1} << 63, 4), 0U);
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

TEST(Tally, NeverRoundsNearlyAllToAll) {
  EXPECT_EQ(percent(0, 0), "0%");
  EXPECT_EQ(percent(1, 3), "33.3%");
  EXPECT_EQ(percent(7, 7), "100%");
  EXPECT_EQ(percent(99'999'999, 100'000'000), "99.9999%");
}

}  // namespace
}  // namespace nustream::check
