// Transactions of the command that are forced to end without a commit. The same bytes are sent again, or a successor
// computes the batch again, and no step can ever be read with two values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attach_promise.h"
#include "operator_listener.h"

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

/// Expects that each aborted record is there again further on, and committed.
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

/// A service whose third transaction meets an error once all of it is on its way: it reaches the broker, and is
/// aborted. The transaction holds state, ledger line and dead letters of batch 2, and releases of batch 1.
class AttachAbort : public ::testing::Test {
 protected:
  static constexpr const char* forced = "after-produce:3:abort";

  void SetUp() override { world_.write(values_); }
  /// Runs the faulty service over all records that are there.
  [[nodiscard]] CommandResult run(const std::string& failpoints, const Values& more = {"--until-end"}) const {
    return run_command(NUSTREAM_FAULTY, world_.attach(with(small_batches, more)), {},
                       {"NUSTREAM_FAILPOINT=" + failpoints});
  }
  [[nodiscard]] std::string topic(const char* kind) const { return world_.name() + "." + kind; }
  void expect_finished() const {
    const CommandResult finished = world_.run(with(small_batches, {"--until-end"}));
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_promise_kept();
  }
  /// Expects the promise over a topic that holds `copies` of the values.
  void expect_promise_kept(std::size_t copies = 1) const {
    EXPECT_EQ(ledger_end(world_).steps, copies * values_.size());
    EXPECT_EQ(ledger_end(world_).to, copies * values_.size());
    expect_each_step_once(world_.releases());
    expect_one_value_a_step(world_.releases_uncommitted());
    EXPECT_EQ(world_.releases().size(), copies * values_.size() / 10);
    const auto bad = static_cast<std::size_t>(std::count(values_.begin(), values_.end(), "unusable,row"));
    EXPECT_EQ(world_.committed(topic("dead")).size(), copies * bad);
  }

  const AttachWorld world_;
  const Values values_ = AttachWorld::values(1000);
};

TEST_F(AttachAbort, TheSameBytesAreSentAgain) {
  const CommandResult result = run(forced);
  ASSERT_EQ(result.code, 0) << result.err;
  // The state is sealed under a fresh nonce each time, so that the same bytes are the same batch.
  for (const char* kind : {"state", "ledger", "releases", "dead"}) expect_sent_again(world_, topic(kind));
  expect_promise_kept();
}

TEST_F(AttachAbort, AKillRightAfterItLeavesNoStepWithTwoValues) {
  EXPECT_EQ(run(std::string(forced) + ",after-abort-transaction:1").code, 128 + SIGKILL);
  expect_finished();
  EXPECT_FALSE(aborted(world_, topic("state")).empty());
  expect_sent_again(world_, topic("releases"));  // those of batch 1, which was committed
}

TEST_F(AttachAbort, NorDoesAKillWhileItIsSentAgain) {
  EXPECT_EQ(run(std::string(forced) + ",after-produce:4:300").code, 128 + SIGKILL);
  expect_finished();
  EXPECT_GE(aborted(world_, topic("state")).size(), 2U);
}

// This error is the broker's own. The transaction is held right before its offsets are sent, while another member
// joins the group, so that the offsets come with a generation that is over.
TEST_F(AttachAbort, AGenerationThatIsOverAbortsAndTheBatchIsSentAgain) {
  for (const char* then : {"", ",after-abort-transaction:1"}) {
    const AttachWorld world;
    world.write(values_);
    Command service(NUSTREAM_FAULTY, world.attach(small_batches), {},
                    {std::string("NUSTREAM_FAILPOINT=after-begin-transaction:3:4000:live") + then});
    wait_until([&] { return ledger_end(world).steps == 100; });
    Command other(NUSTREAM_COMMAND, world.attach(small_batches));
    const bool killed = *then != '\0';
    if (killed) {
      EXPECT_EQ(service.wait().code, 128 + SIGKILL) << "nothing was aborted";
    }
    wait_until([&] { return ledger_end(world).steps == values_.size(); });
    other.signal(SIGTERM);
    EXPECT_EQ(other.wait().code, 0);
    if (!killed) {
      service.signal(SIGTERM);
      EXPECT_EQ(service.wait().code, 0);
    }
    expect_each_step_once(world.releases());
    expect_one_value_a_step(world.releases_uncommitted());
    EXPECT_EQ(ledger_end(world).to, values_.size());
  }
}

// The transaction is held for longer than transaction.timeout.ms: the broker ends it by itself, and takes nothing
// more from it.
TEST_F(AttachAbort, ATransactionThatTimesOutIsComputedAgain) {
  const CommandResult result = run("after-produce:3:9000:live", {"--until-end", "--insecure-seed", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(aborted(world_, topic("state")).empty());
  EXPECT_TRUE(joined(world_.releases()) == replayed(world_, values_, 7, 0, {"--set", "release.every=10"}));
  expect_promise_kept();
}

// The service is held in the transaction of its second batch. What the operator is told about a batch waits for its
// commit.
TEST_F(AttachAbort, TheFiguresOfABatchAreThoseOfItsCommit) {
  const AttachWorld world;
  const std::string address = some_operator_address();
  const auto value = [&](const std::string& series) {
    const std::string page = operator_page(address, "/metrics");
    const std::size_t at = page.find("\n" + series);
    return at == std::string::npos ? std::string() : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
  };
  const std::string labels = "stream=\"" + world.name() + "\"} ";
  const std::string ratio = "nustream_gradients_clipped_ratio{lane=\"0\"," + labels;
  const std::string rejected = "nustream_records_rejected_total{lane=\"0\",reason=\"malformed\"," + labels;
  Command service(
      NUSTREAM_FAULTY,
      world.attach(with(small_batches, {"--set", "state.commit_seconds=3600", "--set", "release.linger_seconds=3600",
                                        "--set", "serve.operator_address=\"" + address + "\""})),
      {}, {"NUSTREAM_FAILPOINT=after-begin-transaction:3:4000:live"});
  world.write(Values(100, "0,0"));
  wait_until([&] { return ledger_end(world).steps == 100; });
  Values second(99, "1000,1000");
  second.emplace_back("unusable");
  world.write(second);
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  EXPECT_EQ(value(ratio), ratio + "0");
  EXPECT_EQ(value(rejected), rejected + "0");
  wait_until([&] { return ledger_end(world).steps == 200; });
  wait_until([&] { return value(rejected) == rejected + "1"; });
  EXPECT_EQ(value(ratio), ratio + "0.99");
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
}

// A topic's limit is lowered under a running service. No waiting mends that, so the service says so and ends. With
// the limit back it goes on, and publishes what it owes.
TEST_F(AttachAbort, AReleaseThatTheTopicNoLongerTakesIs78AndIsPublishedOnceItDoes) {
  Command service(NUSTREAM_COMMAND, world_.attach(with(small_batches, {"--set", "kafka.give_up_seconds=20"})));
  wait_until([&] { return world_.releases().size() == values_.size() / 10; });
  alter_topic(AttachWorld::direct(), topic("releases"), {{"max.message.bytes", "150"}});
  world_.write(values_);
  const CommandResult refused = service.wait();
  EXPECT_EQ(refused.code, 78) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr(topic("releases")));
  EXPECT_THAT(refused.err, HasSubstr("max.message.bytes"));
  EXPECT_EQ(world_.run().code, 78) << "a start finds it out before anything is written";
  alter_topic(AttachWorld::direct(), topic("releases"), {});
  const CommandResult finished = world_.run(with(small_batches, {"--until-end"}));
  ASSERT_EQ(finished.code, 0) << finished.err;
  expect_promise_kept(2);
}

}  // namespace
}  // namespace nustream::tests
