// Brokers are gone for long under a running service: it says so, is not ready, and gives up or goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "attach_promise.h"
#include "measured_time.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string status(const std::string& address) {
  return run_command("/usr/bin/curl", {"--silent", "--max-time", "60", "--noproxy", "*", "--output", "/dev/null",
                                       "--write-out", "%{http_code}", "http://" + address + "/readyz"})
      .out;
}

/// A service with both of its listeners.
class Instance {
 public:
  Instance(const AttachWorld& world, seconds give_up, milliseconds session = seconds(6))
      : service_(
            NUSTREAM_COMMAND,
            world.attach(
                {"--set", "state.commit_records=100", "--set", "state.commit_seconds=0.1", "--set",
                 "kafka.give_up_seconds=" + std::to_string(give_up.count()), "--set",
                 "serve.operator_address=\"" + operators_ + "\"", "--set", "serve.public_address=\"" + public_ + "\"",
                 "-X", "session.timeout.ms=" + std::to_string(session.count()), "-X",
                 "max.poll.interval.ms=" + std::to_string(std::max<milliseconds>(seconds(300), session).count())})) {}

  void wait_until_ready() const {
    wait_until([&] { return status(operators_) == "200" && status(public_) == "200"; });
  }
  /// Waits until both listeners say, within the session and a tick, that the service is not ready. Only the operator
  /// sees the reason.
  void wait_until_out(const std::string& brokers) const {
    wait_until([&] { return status(operators_) == "503" && status(public_) == "503"; });
    EXPECT_THAT(operator_page(operators_, "/readyz"), HasSubstr("rejoining: waiting for " + brokers));
    EXPECT_EQ(operator_page(public_, "/readyz"), "not ready\n");
    EXPECT_THAT(operator_page(operators_, "/api/v1/state"), HasSubstr(R"("phase":"rejoining","ready":false)"));
  }
  /// Waits for the process to end. Throws where it does not end by itself.
  [[nodiscard]] CommandResult wait() {
    wait_until([&] { return service_.has_ended(); });
    return service_.wait();
  }
  [[nodiscard]] CommandResult stop() {
    service_.signal(SIGTERM);
    return wait();
  }

 private:
  const std::string operators_ = some_operator_address();
  const std::string public_ = some_operator_address();
  Command service_;
};

/// The lines that the service itself wrote, a stop among them: without the client library's log, the warnings of its
/// start, and where lanes go.
std::vector<std::string> own_lines(const std::string& log) {
  std::vector<std::string> lines;
  std::istringstream text(log);
  for (std::string line; std::getline(text, line);) {
    const bool of_a_lane = line.starts_with("nustream: lane ") && line.find(" stopped: ") == line.npos;
    const bool waits = line.starts_with("nustream: warning: waiting for ");
    const bool warns = line.starts_with("nustream: warning: ") && !waits;
    const bool others = warns || of_a_lane || line.starts_with("nustream: joined group ");
    if (!others) lines.push_back(line);
  }
  return lines;
}

class AttachOutage : public ::testing::Test {
 protected:
  void write(std::size_t count) {
    world_.write(AttachWorld::values(count, ++writes_));
    written_ += count;
  }
  void write_and_wait(std::size_t count) {
    write(count);
    wait_for_all();
  }
  void wait_for_all() const {
    wait_until([&] { return ledger_end(world_).steps == written_; });
  }
  void expect_given_up(Instance& service, steady_clock::time_point gone) const {
    const CommandResult result = service.wait();
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_GT(steady_clock::now() - gone, seconds(14));
    EXPECT_LT(steady_clock::now() - gone, seconds(40) + busy_allowance())
        << "a session, what is given up after, and a farewell";
    EXPECT_THAT(own_lines(result.err),
                ElementsAre(StartsWith("nustream: warning: waiting for " + brokers_ + ": "),
                            AllOf(StartsWith("nustream: error: no broker of " + brokers_), HasSubstr(" for 15 s; "),
                                  HasSubstr("everything committed is safe: start again when they are back"))));
  }
  void expect_came_back(Instance& service) const {
    const CommandResult result = service.stop();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(own_lines(result.err), ElementsAre(StartsWith("nustream: warning: waiting for " + brokers_ + ": "),
                                                   StartsWith("nustream: back in group ")));
  }
  void expect_promise_kept() const {
    expect_each_step_once(world_.releases());
    expect_one_value_a_step(world_.releases_uncommitted());
    EXPECT_EQ(ledger_end(world_).steps, written_);
    EXPECT_EQ(ledger_end(world_).to, written_);
  }

  const AttachWorld world_;
  const std::string brokers_ = shared_broker().bootstrap();
  std::size_t written_ = 0;
  std::uint64_t writes_ = 0;
};

// The second service has no lane. Nothing is taken from it, so that it has to find out by itself.
TEST_F(AttachOutage, ThatIsTooLongEndsAnIdleServiceAndOneInReserveWith69) {
  Instance service(world_, seconds(15));
  write_and_wait(300);
  Instance reserve(world_, seconds(15));
  reserve.wait_until_ready();
  service.wait_until_ready();
  shared_broker().kill();
  const auto gone = steady_clock::now();
  service.wait_until_out(brokers_);
  reserve.wait_until_out(brokers_);
  expect_given_up(service, gone);
  expect_given_up(reserve, gone);
  shared_broker().restart();
  expect_promise_kept();
}

TEST_F(AttachOutage, ThatIsTooLongEndsABusyServiceWith69AndTheNextGoesOn) {
  Instance service(world_, seconds(15));
  write_and_wait(300);
  write(30'000);
  wait_until([&] { return ledger_end(world_).steps > 300; });
  shared_broker().kill();
  const auto gone = steady_clock::now();
  service.wait_until_out(brokers_);
  expect_given_up(service, gone);
  shared_broker().restart();
  Instance next(world_, seconds(300));
  wait_for_all();
  EXPECT_EQ(next.stop().code, 0);
  expect_promise_kept();
}

TEST_F(AttachOutage, ThatEndsInTimeLosesNothing) {
  Instance service(world_, seconds(300));
  write_and_wait(300);
  Instance reserve(world_, seconds(300));
  reserve.wait_until_ready();
  write(30'000);
  shared_broker().kill();
  service.wait_until_out(brokers_);
  reserve.wait_until_out(brokers_);
  shared_broker().restart();
  write_and_wait(1'000);
  service.wait_until_ready();
  reserve.wait_until_ready();
  expect_came_back(reserve);
  expect_came_back(service);
  expect_promise_kept();
}

/// Kills the broker and starts it again. Returns how long it was away on this machine, as busy as it is now.
milliseconds outage() {
  const auto gone = steady_clock::now();
  shared_broker().kill();
  shared_broker().restart();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - gone);
}

// The outage is shorter than the session, so that the service never says that it is out of the group. It is idle:
// nothing but its own question can tell it that the brokers are back. It asks every third of a session, so that an
// outage of at most a third leaves it time for a question and an answer. How long a broker takes to start is
// measured, and the session is four times that. An outage that was too long all the same proves nothing; the next
// session is then four times that outage.
TEST_F(AttachOutage, ThatIsShortIsForgotten) {
  milliseconds session = std::max<milliseconds>(seconds(6), 4 * outage());
  while (true) {
    ASSERT_LT(session, std::chrono::minutes(25)) << "no broker takes longer sessions than 30 minutes";
    const seconds give_up = std::chrono::ceil<seconds>(session) + seconds(14);
    Instance service(world_, give_up, session);
    write_and_wait(300);
    const milliseconds away = outage();
    if (away > session / 3) {
      session = 4 * away;
      EXPECT_EQ(service.stop().code, 0);
      continue;
    }
    std::this_thread::sleep_for(give_up + seconds(5));  // as long as a service would take to give up
    service.wait_until_ready();
    write_and_wait(300);
    const CommandResult result = service.stop();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(own_lines(result.err), IsEmpty());
    return expect_promise_kept();
  }
}

}  // namespace
}  // namespace nustream::tests
