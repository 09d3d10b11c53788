// replay --serve: the listeners of [serve] show what the run has published, while it runs and after its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <thread>

#include "free_port.h"
#include "operator_listener.h"
#include "publish/release_json.h"
#include "replay_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void wait_for(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("it did not come");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

class ReplayServe : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    more.insert(more.end(),
                {"--serve", "--set", "serve.public_address=\"" + public_ + "\"", "--set",
                 "serve.operator_address=\"" + operator_ + "\"", "--set", "serve.operator_token_file=\"none\""});
    return world_.replay(std::move(more));
  }
  [[nodiscard]] std::string shown(const std::string& path) const { return operator_page(public_, path); }
  [[nodiscard]] std::string shown_to_operator(const std::string& path) const {
    return operator_page(operator_, path);
  }

  ReplayWorld world_;
  std::string public_ = loopback(free_port());
  std::string operator_ = some_operator_address();
};

TEST_F(ReplayServe, ShowsTheRunAndStaysUpUntilASignal) {
  Command replay(NUSTREAM_COMMAND, arguments({}));
  wait_for([&] { return shown("/api/v1/state").find("\"step\":2000,") != std::string::npos; });
  const std::string releases = world_.releases();
  const std::size_t last = releases.rfind("{\"format\"");
  const std::size_t begin = releases.find("\"estimate\":", last);
  const std::string estimate = releases.substr(begin, releases.find('}', begin) - begin);
  EXPECT_THAT(shown("/api/v1/state"), HasSubstr(estimate));
  EXPECT_THAT(shown("/api/v1/history/0"), HasSubstr("\"points\":[{\"step\":100,"));
  EXPECT_THAT(shown("/"), HasSubstr("As published at step 2,000."));
  EXPECT_THAT(shown("/"), Not(HasSubstr("For the operator alone")));
  wait_for([&] { return shown_to_operator("/").find("finished") != std::string::npos; });
  EXPECT_THAT(shown_to_operator("/"), HasSubstr("<td>2,000</td><td>20</td>")) << "records, and unusable ones";
  replay.signal(SIGTERM);
  EXPECT_EQ(replay.wait().code, 0);
}

TEST_F(ReplayServe, ShowsThePastOfARunThatGoesOn) {
  ASSERT_EQ(world_.run({"--to", "1000"}).code, 0);
  Command replay(NUSTREAM_COMMAND, arguments({"--resume"}));
  wait_for([&] { return shown("/api/v1/history/0").find("{\"step\":2000,") != std::string::npos; });
  EXPECT_THAT(shown("/api/v1/history/0"), HasSubstr("\"points\":[{\"step\":100,"));
  EXPECT_THAT(shown("/api/v1/history/0"), HasSubstr("{\"step\":1000,"));
  replay.signal(SIGINT);
  EXPECT_EQ(replay.wait().code, 0);
}

}  // namespace
}  // namespace nustream::tests
