// How soon a stream publishes again after its service or its broker came back. The bars are checked in the campaign
// alone; the report has the times either way.
#include <gtest/gtest.h>

#include "attach_promise.h"
#include "recovery.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// A stream that is written to in pieces, so that there is something to do whenever something comes back.
class Stream {
 public:
  [[nodiscard]] std::unique_ptr<Command> start() const {
    return std::make_unique<Command>(
        NUSTREAM_COMMAND, world_.attach({"--set", "state.commit_records=100", "--set", "state.commit_seconds=0.1",
                                         "--set", "kafka.group_instance_id=\"one\""}));
  }
  void write() {
    world_.write(values_);
    written_ += values_.size();
  }
  void wait_for_all() const {
    wait_until([&] { return ledger_end(world_).steps == written_; });
  }
  void expect_promise_kept() const {
    wait_for_all();
    expect_each_step_once(world_.releases());
    expect_one_value_a_step(world_.releases_uncommitted());
    EXPECT_EQ(ledger_end(world_).to, written_);
  }
  [[nodiscard]] const AttachWorld& world() const noexcept { return world_; }

 private:
  AttachWorld world_;
  std::vector<std::string> values_ = AttachWorld::values(300);
  std::size_t written_ = 0;
};

TEST(Recovery, OfAServiceWithAnInstanceIdThatWasKilled) {
  Stream stream;
  auto service = stream.start();
  std::vector<milliseconds> silences;
  const int rounds = campaign() ? 20 : 3;
  for (int round = 0; round < rounds; ++round) {
    stream.write();
    std::this_thread::sleep_for(milliseconds(37 * round));  // before, in the middle of, and after what there is to do
    service->signal(SIGKILL);
    EXPECT_EQ(service->wait().code, 128 + SIGKILL);
    stream.write();
    ReleaseWatch watch(stream.world());
    const auto started = steady_clock::now();
    service = stream.start();
    silences.push_back(watch.wait(started));
    stream.wait_for_all();
  }
  report_recovery("service_restarted", silences, seconds(5));
  service->signal(SIGTERM);
  EXPECT_EQ(service->wait().code, 0);
  stream.expect_promise_kept();
}

TEST(Recovery, OfAStreamWhoseBrokerWasKilled) {
  KafkaCluster cluster;
  AttachWorld::use(cluster);
  {
    Stream stream;
    const auto service = stream.start();
    std::vector<milliseconds> silences;
    const int rounds = campaign() ? 10 : 2;
    stream.write();
    stream.wait_for_all();
    for (int round = 0; round < rounds; ++round) {
      stream.write();
      std::this_thread::sleep_for(milliseconds(37 * round));
      cluster.kill();
      std::this_thread::sleep_for(milliseconds(500));
      cluster.restart();
      const auto ready = steady_clock::now();
      ReleaseWatch watch(stream.world());
      stream.write();
      silences.push_back(watch.wait(ready));
      stream.wait_for_all();
    }
    report_recovery("broker_ready", silences, seconds(10));
    service->signal(SIGTERM);
    EXPECT_EQ(service->wait().code, 0);
    stream.expect_promise_kept();
  }
  AttachWorld::use(shared_broker());
}

}  // namespace
}  // namespace nustream::tests
