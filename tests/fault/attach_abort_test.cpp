// Transactions that end without a commit, forced at the command: the same bytes are sent again, or the batch is
// computed again by a successor, and no step is ever readable with two values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "attach_promise.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<std::string>;

const Values small_batches{"--set", "state.commit_records=100",   "--set", "release.every=10",
                           "--set", "kafka.transaction_seconds=6"};

Values with(Values first, const Values& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// Records that only a reader of aborted transactions finds; without those by which a start tries its right to write.
std::vector<StoredRecord> aborted(const AttachWorld& world, const std::string& topic) {
  std::set<std::int64_t> committed;
  for (const StoredRecord& record : world.committed(topic)) committed.insert(record.offset);
  std::vector<StoredRecord> rest;
  for (StoredRecord& record : read_uncommitted_records(AttachWorld::direct(), topic)) {
    if (committed.count(record.offset) == 0 && record.key != "nustream") rest.push_back(std::move(record));
  }
  return rest;
}

/// Each aborted record is there again, committed, further on.
void expect_sent_again(const AttachWorld& world, const std::string& topic) {
  SCOPED_TRACE(topic);
  const std::vector<StoredRecord> lost = aborted(world, topic);
  const std::vector<StoredRecord> kept = world.committed(topic);
  ASSERT_FALSE(lost.empty()) << "nothing of the aborted transaction reached the broker";
  for (const StoredRecord& record : lost) {
    EXPECT_TRUE(std::any_of(kept.begin(), kept.end(),
                            [&](const StoredRecord& again) {
                              return again.offset > record.offset && again.key == record.key &&
                                     again.value == record.value;
                            }))
        << "offset " << record.offset;
  }
}

/// The third transaction holds state and dead letters of batch 2, and the releases of batch 1. `aborts`: once all of
/// that has reached the broker.
class AttachAbort : public ::testing::Test {
 protected:
  static constexpr const char* aborts = "after-produce:3:500:abort";

  [[nodiscard]] CommandResult run_faulty(const std::string& failpoints) const {
    return run_command(NUSTREAM_FAULTY, world_.attach(with(small_batches, {"--until-end"})), {},
                       {"NUSTREAM_FAILPOINT=" + failpoints});
  }
  void finish() const {
    const CommandResult finished = world_.run(with(small_batches, {"--until-end"}));
    ASSERT_EQ(finished.code, 0) << finished.err;
  }
  [[nodiscard]] std::string topic(const char* kind) const { return world_.name() + "." + kind; }
  void expect_promise_kept() const {
    EXPECT_EQ(ledger_end(world_).steps, values_.size());
    EXPECT_EQ(ledger_end(world_).to, values_.size());
    expect_each_step_once(world_.releases());
    expect_one_value_a_step(world_.releases_uncommitted());
    EXPECT_EQ(world_.releases().size(), values_.size() / 10);
  }

  const AttachWorld world_;
  const Values values_ = AttachWorld::values(1000);
};

TEST_F(AttachAbort, TheSameBytesAreSentAgain) {
  world_.write(values_);
  const CommandResult result = run_faulty(aborts);
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* kind : {"state", "ledger", "releases", "dead"}) expect_sent_again(world_, topic(kind));
  expect_promise_kept();
  const auto bad = std::count(values_.begin(), values_.end(), "unusable,row");
  EXPECT_EQ(world_.committed(topic("dead")).size(), static_cast<std::size_t>(bad));
}

TEST_F(AttachAbort, AKillRightAfterItLeavesNoStepWithTwoValues) {
  world_.write(values_);
  const CommandResult killed = run_faulty(std::string(aborts) + ",after-abort-transaction:1");
  EXPECT_EQ(killed.code, 128 + SIGKILL) << killed.err;
  finish();
  EXPECT_FALSE(aborted(world_, topic("state")).empty());
  expect_sent_again(world_, topic("releases"));  // of batch 1, which was committed
  expect_promise_kept();
}

// And a kill in the middle of sending it again.
TEST_F(AttachAbort, NorDoesAKillWhileItIsSentAgain) {
  world_.write(values_);
  EXPECT_EQ(run_faulty(std::string(aborts) + ",after-produce:4:500").code, 128 + SIGKILL);
  finish();
  EXPECT_GE(aborted(world_, topic("state")).size(), 2U);
  expect_promise_kept();
}

// Another member joins while the third transaction is about to send its offsets: the broker refuses those of an older
// generation, before there is any record. A kill shows that it came to that.
TEST_F(AttachAbort, OffsetsOfAnOldGenerationAbortBeforeAnythingIsWritten) {
  world_.write(values_);
  Command service(NUSTREAM_FAULTY, world_.attach(small_batches), std::nullopt,
                  {"NUSTREAM_FAILPOINT=after-begin-transaction:3:4000:live,after-abort-transaction:1"});
  wait_until([&] { return ledger_end(world_).steps == 100; });
  Command other(NUSTREAM_COMMAND, world_.attach(small_batches));
  EXPECT_EQ(service.wait().code, 128 + SIGKILL);
  wait_until([&] { return ledger_end(world_).steps == values_.size(); });
  other.signal(SIGTERM);
  EXPECT_EQ(other.wait().code, 0);
  EXPECT_TRUE(aborted(world_, topic("state")).empty());
  expect_promise_kept();
}

// Held beyond transaction.timeout.ms: the broker ends the transaction by itself, and takes nothing more from it.
TEST_F(AttachAbort, ATransactionThatTimesOutIsComputedAgain) {
  world_.write(values_);
  const CommandResult result =
      run_command(NUSTREAM_FAULTY, world_.attach(with(small_batches, {"--until-end", "--insecure-seed", "7"})), {},
                  {"NUSTREAM_FAILPOINT=after-produce:3:9000:live"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(aborted(world_, topic("state")).empty());
  EXPECT_TRUE(joined(world_.releases()) == replayed(world_, values_, 7, 0, {"--set", "release.every=10"}));
  expect_promise_kept();
}

// A limit that is lowered under a running service: no waiting mends it, so it says so and ends; with the limit back
// it goes on, and publishes what it owes.
TEST_F(AttachAbort, AReleaseThatTheTopicNoLongerTakesIs78AndIsPublishedOnceItDoes) {
  const auto service = std::make_unique<Command>(
      NUSTREAM_COMMAND,
      world_.attach(with(small_batches, {"--set", "state.commit_seconds=0.1", "--set", "kafka.give_up_seconds=20"})));
  world_.write({values_.begin(), values_.begin() + 300});
  wait_until([&] { return world_.releases().size() == 30; });
  alter_topic(AttachWorld::direct(), topic("releases"), {{"max.message.bytes", "150"}});
  world_.write({values_.begin() + 300, values_.begin() + 600});
  const CommandResult refused = service->wait();
  EXPECT_EQ(refused.code, 78) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr(topic("releases")));
  EXPECT_THAT(refused.err, HasSubstr("max.message.bytes"));
  EXPECT_EQ(world_.run().code, 78) << "a start finds it out before anything is written";
  alter_topic(AttachWorld::direct(), topic("releases"), {});
  world_.write({values_.begin() + 600, values_.end()});
  const CommandResult finished = world_.run(with(small_batches, {"--until-end"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  expect_promise_kept();
}

}  // namespace
}  // namespace nustream::tests
