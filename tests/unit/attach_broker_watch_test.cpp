// The watch over the brokers: when a process is out of its group, when it asks, and when it gives its brokers up.
#include "attach/broker_watch.h"

#include <gtest/gtest.h>

namespace nustream::attach {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class BrokerWatchAt : public ::testing::Test {
 protected:
  [[nodiscard]] BrokerWatch::Time at(int second) const { return start_ + seconds(second); }
  /// Expects that nothing changes up to `second` while nobody tells the watch anything.
  void expect_in(int second) const {
    EXPECT_FALSE(watch_.is_out(at(second))) << second;
    EXPECT_FALSE(watch_.gave_up(at(second))) << second;
  }

  const BrokerWatch::Time start_ = BrokerWatch::Time() + seconds(1000);
  BrokerWatch watch_{start_, {seconds(30), seconds(6)}};
};

TEST_F(BrokerWatchAt, GivesUpWhereNoGroupEverLetItIn) {
  EXPECT_FALSE(watch_.has_joined());
  EXPECT_FALSE(watch_.is_out(at(29))) << "starting is not coming back";
  EXPECT_FALSE(watch_.gave_up(at(30)));
  EXPECT_TRUE(watch_.gave_up(at(30) + milliseconds(1)));
}

TEST_F(BrokerWatchAt, TakesAnAssignmentForAllIsWellHoweverLongAgo) {
  watch_.unanswered(at(1));
  watch_.assigned();
  EXPECT_TRUE(watch_.has_joined());
  expect_in(100'000);
  EXPECT_FALSE(watch_.takes_question(at(100'000))) << "an idle stream is no reason to ask";
}

TEST_F(BrokerWatchAt, GivesUpWhereTheGroupNeverLetsItInAgain) {
  watch_.assigned();
  watch_.lost(at(100));
  EXPECT_TRUE(watch_.has_joined());
  EXPECT_TRUE(watch_.is_out(at(100)));
  watch_.answered();
  EXPECT_TRUE(watch_.is_out(at(101))) << "brokers that answer are not yet a group that it is in";
  watch_.lost(at(120));
  EXPECT_FALSE(watch_.gave_up(at(130)));
  EXPECT_TRUE(watch_.gave_up(at(131))) << "counted from the first loss";
}

TEST_F(BrokerWatchAt, IsInAgainWithAnAssignmentAndCountsAnewFromTheNextLoss) {
  watch_.assigned();
  watch_.lost(at(100));
  watch_.assigned();
  expect_in(131);
  watch_.lost(at(140));
  EXPECT_FALSE(watch_.gave_up(at(170)));
  EXPECT_TRUE(watch_.gave_up(at(171)));
}

// A member without a lane has nothing that could be taken from it, and is not told of a loss.
TEST_F(BrokerWatchAt, IsOutAfterASessionWithoutAnswerAndGivesUpLater) {
  watch_.assigned();
  watch_.unanswered(at(100));
  expect_in(106);
  watch_.unanswered(at(105));
  EXPECT_TRUE(watch_.is_out(at(107)));
  EXPECT_FALSE(watch_.gave_up(at(130)));
  EXPECT_TRUE(watch_.gave_up(at(131)));
  watch_.answered();
  expect_in(131);
}

TEST_F(BrokerWatchAt, CountsALossFromTheSilenceBeforeIt) {
  watch_.assigned();
  watch_.unanswered(at(100));
  watch_.lost(at(106));
  watch_.answered();
  EXPECT_TRUE(watch_.gave_up(at(131)));
}

// A connection that was lost for a moment would otherwise end an idle stream, of which nothing else is heard.
TEST_F(BrokerWatchAt, AsksOneQuestionAfterTheOtherWhileItIsSilent) {
  watch_.assigned();
  EXPECT_FALSE(watch_.takes_question(at(99)));
  watch_.unanswered(at(100));
  EXPECT_FALSE(watch_.takes_question(at(102)));
  EXPECT_TRUE(watch_.takes_question(at(103)));
  EXPECT_FALSE(watch_.takes_question(at(120))) << "one at a time";
  watch_.question_over(false, at(120));
  EXPECT_TRUE(watch_.is_silent());
  EXPECT_TRUE(watch_.is_out(at(120)));
  EXPECT_FALSE(watch_.takes_question(at(122)));
  EXPECT_TRUE(watch_.takes_question(at(123)));
  watch_.question_over(true, at(123));
  EXPECT_FALSE(watch_.is_silent());
  EXPECT_FALSE(watch_.takes_question(at(130)));
  expect_in(1000);
}

// An answer would not let this process into its group, so it does not ask.
TEST_F(BrokerWatchAt, AsksNothingWhereOnlyAnAssignmentHelps) {
  watch_.unanswered(at(1));
  EXPECT_FALSE(watch_.takes_question(at(20))) << "nor before the first";
  watch_.assigned();
  watch_.unanswered(at(100));
  watch_.lost(at(106));
  EXPECT_FALSE(watch_.takes_question(at(110)));
}

}  // namespace
}  // namespace nustream::attach
