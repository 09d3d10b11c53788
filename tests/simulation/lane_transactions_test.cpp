// The transactions of one lane over the simulated broker: what is readable and shown at which moment, what is sent
// again after an abort, and how every other end is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attach/lane_transactions.h"
#include "attach/lost_users.h"
#include "attach/topic_users.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "nustream/users/limits.h"
#include "one_lane.h"
#include "simulated_kafka.h"
#include "users/user_key.h"

namespace nustream::tests {
namespace {

using attach::Aborted;
using attach::Committed;
using attach::Interrupted;
using attach::TransactionStage;
using std::chrono::milliseconds;

TEST_F(LaneTransactionsOver, ShowNothingBeforeItIsDurableAndNoReleaseBeforeItIsPublic) {
  const std::string before = shown_.state();
  attach::ClosedBatch first = batch(3);
  journal::ReleaseChain chain = state_->releases;
  const std::string outbox = journal::chained(first.content.outbox, chain, setup_.keys);
  ASSERT_NE(outbox, "");
  commit(std::move(first));
  EXPECT_EQ(transactions_->stage(), TransactionStage::batch);
  EXPECT_EQ(shown_.state(), before) << "the transaction is under way";
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_EQ(transactions_->stage(), TransactionStage::none);
  EXPECT_TRUE(transactions_->owes_releases());
  EXPECT_TRUE(transactions_->owes_since().has_value());
  EXPECT_EQ(transactions_->committed(), state_->lane.position());
  const std::string after_first = shown_.state();
  EXPECT_NE(after_first, before) << "steps and spend are durable";
  EXPECT_FALSE(is_readable(outbox)) << "releases are out one commit later";

  commit(batch(1));
  EXPECT_EQ(shown_.state(), after_first);
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_TRUE(is_readable(outbox));
  EXPECT_THAT(shown_.state(), ::testing::HasSubstr("\"step\":3")) << "the release of the first batch";
}

class LaneTransactionsUnderAKeyFile : public LaneTransactionsOver {
 protected:
  LaneTransactionsUnderAKeyFile() : LaneTransactionsOver(true) {}

  /// The first steps of the segments that the newest state keeps for the noise of its main stage.
  [[nodiscard]] std::vector<StepIndex> segments() {
    std::vector<StepIndex> firsts;
    const journal::State state = journal::open_state(setup_.keys, states().back());
    for (const noise::Segment& segment : state.record.noise.stages.at(0).segments) firsts.push_back(segment.first);
    return firsts;
  }
};

// A copy of a state that was committed before a hand-over opens no step behind the hand-over, whether that is to the
// same process or to another.
TEST_F(LaneTransactionsUnderAKeyFile, BeginASegmentOfNoiseWithEveryHandOver) {
  EXPECT_FALSE(resumed_) << "the epoch's own key is fresh";
  commit(batch(3));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_EQ(segments(), std::vector{StepIndex{0}});
  for (const std::size_t steps : {3U, 5U}) {
    open();
    ASSERT_EQ(state_->lane.steps(), StepCount{steps});
    EXPECT_TRUE(resumed_);
    commit(batch(2));
    ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
    EXPECT_EQ(segments().back(), StepIndex{steps});
  }
}

TEST_F(LaneTransactionsOver, EmptyBatchPublishesWhatIsOwed) {
  commit(batch(2));
  static_cast<void>(ended());
  ASSERT_TRUE(transactions_->owes_releases());
  commit(batch_->close(now()));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_FALSE(transactions_->owes_releases());
  EXPECT_EQ(transactions_->owes_since(), std::nullopt);
}

TEST_F(LaneTransactionsOver, AbortedBatchIsSentAgainAsTheSameBytes) {
  const std::string before = shown_.state();
  const std::size_t states_before = states().size();
  attach::ClosedBatch closed = batch(2);
  journal::ReleaseChain chain = state_->releases;
  const std::string outbox = journal::chained(closed.content.outbox, chain, setup_.keys);
  broker_.members.clear();  // offsets of a member that the group does not know abort the transaction
  commit(std::move(closed));
  ASSERT_TRUE(std::holds_alternative<Aborted>(ended()));
  EXPECT_EQ(transactions_->stage(), TransactionStage::batch_aborted);
  EXPECT_FALSE(transactions_->is_free());
  EXPECT_FALSE(transactions_->is_under_way());
  EXPECT_EQ(shown_.state(), before);
  EXPECT_FALSE(is_readable(outbox));
  EXPECT_DEATH(commit(batch(1)), "one transaction at a time");

  broker_.join(member_);
  commit_again();
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  const std::vector<std::string> all = states();
  ASSERT_GT(all.size(), states_before);
  for (std::size_t i = states_before; i < all.size(); ++i) EXPECT_EQ(all[i], all.back()) << i;
  EXPECT_NE(shown_.state(), before);
  EXPECT_EQ(operators_.metrics().find("outcome=\"aborted\"} 0"), std::string::npos);
}

// Whoever reads aborted transactions may have candidates for what the batch released, and would try them by the hash.
TEST_F(LaneTransactionsOver, AbortedBatchNamesNoReleaseOfItsOwn) {
  const auto named = [this] {
    std::vector<journal::Hash> all;
    for (const SimulatedEntry& entry : broker_.log({attached_topics::ledger, 0})) {
      if (entry.value) all.push_back(journal::read_unsealed(*entry.value).released.value());
    }
    return all;
  };
  const journal::Hash before = state_->releases.head;
  const std::size_t lines_before = named().size();
  attach::ClosedBatch closed = batch(case_.settings.config.descent.release_every);
  journal::ReleaseChain chain = state_->releases;
  static_cast<void>(journal::chained(closed.content.outbox, chain, setup_.keys));
  ASSERT_NE(chain.head, before) << "one by cadence";
  bool taken_over = false;
  broker_.on_append = [&](const Place& place, const SimulatedEntry& entry) {  // somebody else has the lane
    if (place.first != attached_topics::ledger || entry.is_control || std::exchange(taken_over, true)) return;
    static_cast<void>(broker_.init(case_.settings.config.stream + "/0"));
  };
  commit(std::move(closed));
  ASSERT_TRUE(std::holds_alternative<Interrupted>(ended()));
  broker_.settle();
  ASSERT_EQ(named().size(), lines_before + 1) << "readable";
  EXPECT_EQ(named().back(), before);
  EXPECT_EQ(broker_.committed_values({attached_topics::ledger, 0}).size(), lines_before) << "and aborted";

  open();
  commit(batch(case_.settings.config.descent.release_every));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_EQ(named().back(), before);
  const journal::Hash head = state_->releases.head;
  EXPECT_NE(head, before);
  attach::ClosedBatch last = batch_->close(now());
  last.content.closes = true;
  commit(std::move(last));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_EQ(named().back(), head) << "with the transaction that publishes it";
}

// A batch that brings a release cannot name it, and is not the last: the next one is.
TEST_F(LaneTransactionsOver, BatchThatReleasesDoesNotClose) {
  const std::size_t steps = case_.settings.config.descent.release_every;
  attach::ClosedBatch closed = batch(steps);
  closed.content.closes = true;
  commit(std::move(closed));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_TRUE(state_->ledger.reserves_beyond(StepCount{steps}));
  attach::ClosedBatch last = batch_->close(now());
  last.content.closes = true;
  commit(std::move(last));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_FALSE(state_->ledger.reserves_beyond(StepCount{steps}));
}

TEST_F(LaneTransactionsOver, FencedProducerIsOverAndTheLaneGoesOnWithAnother) {
  const std::string before = shown_.state();
  ASSERT_TRUE(broker_.init(case_.settings.config.stream + "/0").has_value());  // another producer has taken the lane
  commit(batch(2));
  const attach::Ended end = ended();
  ASSERT_TRUE(std::holds_alternative<Interrupted>(end));
  EXPECT_EQ(std::get<Interrupted>(end).error.cause, kafka::Cause::fenced);
  EXPECT_EQ(transactions_->stage(), TransactionStage::over);
  EXPECT_EQ(shown_.state(), before);
  EXPECT_DEATH(commit(batch(1)), "one transaction at a time");
  open();
  EXPECT_EQ(state_->lane.steps(), StepCount{0}) << "nothing of the batch is durable";
  commit(batch(2));
  EXPECT_TRUE(std::holds_alternative<Committed>(ended()));
}

/// A lane whose unit is the user, in whose open batch one of them contributes.
class LaneTransactionsOfUsers : public LaneTransactionsOver {
 protected:
  static constexpr const char* topic = "simulated.users";

  LaneTransactionsOfUsers() {
    case_.settings.config.kafka.topics.users = topic;
    open_with_users();
  }
  void open_with_users() {
    open();
    config::Users settings{.column = "who", .identity = "who of csv"};
    settings.limits = users::Limits(privacy::Participation::once(), {});
    const users::UserKey key(noise::KeyBytes{7});
    state_->users = std::make_unique<attach::TopicUsers>(
        attach::UserStore{{case_.settings.config.stream, LaneId{0}}, settings, {}, {}, 0}, key);
    state_->users->open().put({key.hash("alice"), 0, {1, 1, 0}});
  }
};

// A delta that outlived its batch would count a step that nobody took; without its delta a batch would give back what
// users have spent.
TEST_F(LaneTransactionsOfUsers, WriteWhatUsersSpentWithTheirBatchOrNotAtAll) {
  broker_.members.clear();  // offsets of a member that the group does not know abort the transaction
  commit(batch(2));
  ASSERT_TRUE(std::holds_alternative<Aborted>(ended()));
  EXPECT_EQ(broker_.committed_values({topic, 0}).size(), 0U);
  broker_.join(member_);
  commit_again();
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  EXPECT_EQ(broker_.committed_values({topic, 0}).size(), 2U) << "a part of the table, and what the batch changed";
}

// Seals have random bytes in them: a batch that was sealed anew would not be the one that was aborted.
TEST_F(LaneTransactionsOfUsers, SendTheSameSealsAgain) {
  // Behind the second and last record of users, the call that commits finds no leader. The abort may find none
  // either, which costs the lane its producer; then it is tried once more.
  bool aborted = false;
  for (int attempt = 0; !aborted && attempt < 20; ++attempt) {
    open_with_users();
    int records = 0;
    broker_.on_append = [&](const Place& place, const SimulatedEntry& entry) {
      if (place.first == topic && !entry.is_control && ++records == 2) broker_.faults.unavailable = 1;
    };
    commit(batch(2));
    aborted = std::holds_alternative<Aborted>(ended());
    broker_.on_append = nullptr;
    broker_.faults.unavailable = 0;
  }
  ASSERT_TRUE(aborted);
  const std::size_t arrived = broker_.log({topic, 0}).size();
  ASSERT_GE(arrived, 2U);
  commit_again();
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  const std::vector<std::string> committed = broker_.committed_values({topic, 0});
  ASSERT_EQ(committed.size(), 2U);
  // The two that arrived last before the abort, but for its own mark.
  for (std::size_t at = arrived, seen = 0; at-- > 0 && seen < 2;) {
    const SimulatedEntry& entry = broker_.log({topic, 0})[at];
    if (entry.is_control) continue;
    ++seen;
    EXPECT_NE(std::ranges::find(committed, *entry.value), committed.end());
  }
}

// What users of other lanes have spent is read once: a producer from before commits nothing more of it later.
TEST_F(LaneTransactionsOver, AnotherLaneIsFencedBeforeItsLedgerIsRead) {
  const config::Config& config = case_.settings.config;
  const kafka::LanePlace other{config.stream, LaneId{1}, config.kafka.group, config.kafka.topics};
  const std::uint64_t epoch = broker_.init(other.name()).value();
  const auto transaction = broker_.transaction(other.name(), epoch);
  journal::LedgerEntry spent = state_->ledger.entry(StepCount{1}, Position{1});
  spent.lane = LaneId{1};
  SimulatedEntry line{transaction};
  line.value = journal::ledger_line(spent, journal::empty_ledger_head, setup_.keys);
  line.value->pop_back();
  broker_.append({attached_topics::ledger, 1}, std::move(line));
  std::optional<attach::SpentByLanes> all;
  const kafka::ClientSettings client{config.kafka.brokers, config.kafka.properties};
  attach::add_spent_by(setup_, client, other, false, std::atomic<bool>(false), all);
  EXPECT_FALSE(all) << "it is not committed";
  EXPECT_TRUE(broker_.is_fenced(other.name(), epoch));
  EXPECT_TRUE(transaction->is_decided() && !transaction->will_commit()) << "and never will be";
}

TEST_F(LaneTransactionsOver, LettersThatAreTooLargeKeepTheirReasonForGood) {
  commit(batch(1));
  const attach::Ended end = ended_as(kafka::LaneInterrupted(letters_error(kafka::Cause::record_too_large)));
  EXPECT_TRUE(std::holds_alternative<Interrupted>(end)) << "never a reason to stop";
  EXPECT_EQ(kept_.letters, attach::Letters::reasons);
  open();
  const auto letters_before = broker_.log({attached_topics::letters, 0}).size();
  commit(batch(1));
  ASSERT_TRUE(std::holds_alternative<Committed>(ended()));
  const auto& letters = broker_.log({attached_topics::letters, 0});
  ASSERT_GT(letters.size(), letters_before);
  for (std::size_t i = letters_before; i < letters.size(); ++i) {
    if (letters[i].is_control) continue;
    EXPECT_EQ(letters[i].value, std::nullopt);
    EXPECT_EQ(letters[i].key, std::nullopt);
    EXPECT_FALSE(letters[i].headers.empty());
  }
}

TEST_F(LaneTransactionsOver, LettersThatCannotBeWrittenAreCountedAndNotWritten) {
  commit(batch(1));
  EXPECT_TRUE(std::holds_alternative<Interrupted>(
      ended_as(kafka::KafkaFailure("commit", letters_error(kafka::Cause::authorization)))));
  EXPECT_EQ(kept_.letters, attach::Letters::none);
  open();
  const auto letters_before = broker_.log({attached_topics::letters, 0}).size();
  commit(batch(1));
  const attach::Ended end = ended();
  ASSERT_TRUE(std::holds_alternative<Committed>(end));
  EXPECT_EQ(std::get<Committed>(end).letter_bytes, 12U) << "their room is free all the same";
  EXPECT_EQ(broker_.log({attached_topics::letters, 0}).size(), letters_before);
  EXPECT_THAT(operators_.metrics(), ::testing::ContainsRegex("dead_letters_failed_total\\{[^}]*\\} 1"));
}

// When a producer is fenced, the letters are not to blame, and are not given up.
TEST_F(LaneTransactionsOver, LettersAreNotGivenUpForAFence) {
  commit(batch(1));
  static_cast<void>(ended_as(kafka::LaneInterrupted(letters_error(kafka::Cause::fenced))));
  EXPECT_EQ(kept_.letters, attach::Letters::whole);
}

TEST_F(LaneTransactionsOver, RefusalEndsTheLaneAndSaysOfWhichTopics) {
  commit(batch(1));
  kafka::Error refusal = kafka::error(kafka::Cause::authorization, kafka::Remedy::abort_transaction, "not allowed");
  const attach::Ended end = ended_as(kafka::TransactionAborted(refusal));
  ASSERT_TRUE(std::holds_alternative<Failure>(end));
  EXPECT_EQ(std::get<Failure>(end).code(), Exit::permission);
  EXPECT_THAT(std::get<Failure>(end).what(), ::testing::HasSubstr(attached_topics::releases));
  EXPECT_EQ(transactions_->stage(), TransactionStage::over);
}

TEST_F(LaneTransactionsOver, ModelGoesBetweenBatchesAndALaterOneReplacesOneThatWasAborted) {
  kept_.model = R"({"model":1})";
  transactions_->send_model(completion());
  EXPECT_EQ(transactions_->stage(), TransactionStage::model);
  EXPECT_EQ(kept_.model, std::nullopt);
  const kafka::Error error = kafka::error(kafka::Cause::unavailable, kafka::Remedy::abort_transaction, "no leader");
  ASSERT_TRUE(std::holds_alternative<Aborted>(ended_as(kafka::TransactionAborted(error))));
  EXPECT_EQ(transactions_->stage(), TransactionStage::model_aborted);
  EXPECT_EQ(kept_.model, R"({"model":1})");
  transactions_->end_pause();
  EXPECT_TRUE(transactions_->is_free());
  transactions_->send_model(completion());
  kept_.model = R"({"model":2})";  // this model came in the meantime
  ASSERT_TRUE(std::holds_alternative<Aborted>(ended_as(kafka::TransactionAborted(error))));
  EXPECT_EQ(kept_.model, R"({"model":2})");
}

}  // namespace
}  // namespace nustream::tests
