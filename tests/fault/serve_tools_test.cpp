// Other people's programs on both listeners: curl reads them, and promtool, which has Prometheus' own parser, judges
// their metrics. Where a tool is not installed, its test is skipped with a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "command.h"
#include "serve/servers.h"
#include "serve_lanes.h"
#include "serve_loop.h"
#include "temporary_folder.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using tests::CommandResult;
using tests::run_command;

constexpr const char* curl = "/usr/bin/curl";
constexpr const char* promtool = "/usr/bin/promtool";
constexpr const char* token = "dG9rZW4tb2YtdGhlLXRlc3Q=";

bool installed(const char* program) {
  return ::access(program, X_OK) == 0;
}

/// Two lanes with everything that a lane can have, served with a token on the operator's side.
class ServedToTools : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!installed(curl)) GTEST_SKIP() << curl << " is not installed (package curl)";
    const std::string file = folder_.write("token", token);
    ::chmod(file.c_str(), 0600);
    loop_.on_loop([&] {
      servers_.emplace(
          loop_.loop,
          Settings{.public_address = "127.0.0.1:0", .operator_address = "127.0.0.1:0", .operator_token_file = file},
          loop_.shown, loop_.operators);
      loop_.operators.set_phase(Phase::serving);
      for (const std::uint32_t lane : {0U, 7U}) fill(lane);
    });
  }
  void TearDown() override {
    loop_.on_loop([this] { servers_.reset(); });
  }

  void fill(std::uint32_t lane) {
    OperatorMetrics::Lane& series = loop_.operators.open_lane(LaneId{lane});
    loop_.operators.set_state(LaneId{lane}, LaneStatus::running);
    series.records->Increment(1e9);
    series.batch_seconds->Observe(0.25);
    loop_.shown.open_lane(tests::public_lane(lane, 0, Rho{1}));
    loop_.shown.update(tests::spend(lane, 1'000'000'000, 0.3));
    loop_.shown.update(tests::release(lane, 999'999'000, R"json({"log(\"x\\y\")":-1.5e-9,"diverged":null})json",
                                      R"json({"log(\"x\\y\")":1,"diverged":2})json"));
  }

  CommandResult get(const std::optional<Listener>& listener, const std::string& path,
                    std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"--silent",         "--show-error", "--max-time", "20",
                                       "--fail-with-body", "--noproxy",    "*"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("http://127.0.0.1:" + std::to_string(listener->port()) + path);
    return run_command(curl, arguments);
  }
  CommandResult get_public(const std::string& path, std::vector<std::string> more = {}) {
    return get(servers_->public_listener(), path, std::move(more));
  }
  CommandResult get_operator(const std::string& path) {
    return get(servers_->operator_listener(), path, {"--oauth2-bearer", token});
  }
  void expect_clean(const std::string& page) {
    if (!installed(promtool)) GTEST_SKIP() << promtool << " is not installed (package prometheus)";
    const CommandResult result = run_command(promtool, {"check", "metrics"}, folder_.write("page", page));
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err + result.out, "");
  }

  tests::TemporaryFolder folder_;
  tests::ServeLoop loop_;
  std::optional<Servers> servers_;
};

TEST_F(ServedToTools, CurlReadsEveryRoute) {
  EXPECT_EQ(get_public("/healthz").out, "ok\n");
  EXPECT_EQ(get_public("/readyz").out, "ready\n");
  EXPECT_EQ(get_operator("/readyz").out, "ready\n");
  EXPECT_THAT(get_public("/version").out, HasSubstr("nustream"));
  EXPECT_THAT(get_public("/api/v1/state").out, HasSubstr("\"steps_committed\":1000000000"));
  EXPECT_THAT(get_operator("/api/v1/state").out, HasSubstr("\"records\":1000000000"));
  EXPECT_THAT(get_public("/metrics", {"--compressed"}).out, HasSubstr("nustream_steps_total"));
  EXPECT_THAT(get_public("/metrics", {"--head"}).out, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_EQ(get_public("/unknown").code, 22);
  EXPECT_EQ(get(servers_->operator_listener(), "/metrics").code, 22);
}

TEST_F(ServedToTools, CurlKeepsItsConnection) {
  const std::string url = "http://127.0.0.1:" + std::to_string(servers_->public_listener()->port()) + "/healthz";
  const CommandResult result =
      run_command(curl, {"--silent", "--noproxy", "*", "--write-out", "%{num_connects} ", url, url, url});
  EXPECT_EQ(result.out, "ok\n1 ok\n0 ok\n0 ");
}

TEST_F(ServedToTools, CurlSeesTheRefusals) {
  EXPECT_THAT(get_public("/metrics", {"--data", "a=b", "--include"}).out,
              HasSubstr("HTTP/1.1 405 Method Not Allowed"));
  EXPECT_THAT(get_public("/metrics", {"--request", "GET", "--data", "a=b", "--include"}).out,
              HasSubstr("HTTP/1.1 413 "));
  EXPECT_THAT(get_public("/metrics", {"--header", "X: " + std::string(100'000, 'a'), "--include"}).out,
              HasSubstr("HTTP/1.1 431 "));
}

TEST_F(ServedToTools, PromtoolFindsThePublicMetricsClean) {
  expect_clean(get_public("/metrics").out);
}

TEST_F(ServedToTools, PromtoolFindsTheOperatorsMetricsClean) {
  expect_clean(get_operator("/metrics").out);
}

// promtool can complain: a page with a counter that is not named as one, and without help, is not clean.
TEST_F(ServedToTools, PromtoolWouldComplain) {
  if (!installed(promtool)) GTEST_SKIP() << promtool << " is not installed (package prometheus)";
  const std::string page = folder_.write("page", "# TYPE nustream_steps counter\nnustream_steps 1\n");
  EXPECT_NE(run_command(promtool, {"check", "metrics"}, page).code, 0);
}

}  // namespace
}  // namespace nustream::serve
