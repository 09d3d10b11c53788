// Which listener shows what, over real sockets; and that what the operator sees changes no public byte.
#include "serve/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "serve/servers.h"
#include "serve_client.h"
#include "serve_lanes.h"
#include "serve_loop.h"
#include "version.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::http_request;
using tests::HttpAnswer;
using tests::HttpClient;
using tests::public_lane;
using tests::release;
using tests::spend;

constexpr std::array paths{"/metrics",        "/healthz",          "/readyz", "/version", "/api/v1/state",
                           "/api/v1/history", "/api/v1/history/1", "/",       "/lanes/2", "/unknown"};

class ServedRoutes : public ::testing::Test {
 protected:
  ServedRoutes() {
    loop_.on_loop([this] {
      servers_.emplace(loop_.loop, Settings{.public_address = "127.0.0.1:0", .operator_address = "127.0.0.1:0"},
                       loop_.shown, loop_.operators);
    });
  }
  ~ServedRoutes() override {
    loop_.on_loop([this] { servers_.reset(); });
  }
  static HttpAnswer ask(const Listener& listener, const std::string& path) {
    HttpClient client(listener.port());
    client.send(http_request(path));
    return client.read();
  }
  HttpAnswer ask_public(const std::string& path) { return ask(*servers_->public_listener(), path); }
  HttpAnswer ask_operator(const std::string& path) { return ask(*servers_->operator_listener(), path); }

  tests::ServeLoop loop_;
  std::optional<Servers> servers_;
};

TEST_F(ServedRoutes, HaveTheirStatusAndType) {
  const std::string text = "text/plain; charset=utf-8";
  for (const bool of_operator : {false, true}) {
    const auto get = [&](const char* path) { return of_operator ? ask_operator(path) : ask_public(path); };
    const auto expect = [&](const char* path, int status, const std::string& type) {
      const HttpAnswer answer = get(path);
      EXPECT_EQ(answer.status, status) << path;
      EXPECT_EQ(answer.headers.at("Content-Type"), type) << path;
    };
    expect("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8");
    expect("/healthz", 200, text);
    expect("/readyz", 503, text);
    expect("/version", 200, "application/json");
    expect("/api/v1/state", 200, "application/json");
    expect("/api/v1/history", 200, "application/json");
    expect("/", 200, "text/html; charset=utf-8");
    expect("/assets/page.css", 200, "text/css; charset=utf-8");
    expect("/assets/page.js", 200, "text/javascript; charset=utf-8");
    EXPECT_EQ(get("/").headers.at("Content-Security-Policy"), page_policy);
    EXPECT_THAT(get("/").body, Not(HasSubstr("style=")));
    EXPECT_THAT(get("/").body, Not(HasSubstr("<style")));
    for (const char* path : {"/lanes/0", "/api/v1/history/0", "/api/v1/history/", "/assets/", "/metrics/", "/Metrics",
                             "/api/v1", "/api/v1/states", "/../metrics", "/%6detrics"}) {
      expect(path, 404, text);
      EXPECT_EQ(get(path).body.find("not found; there are /, /metrics, "), 0U);
    }
    EXPECT_EQ(get("/version").body, "{\"name\":\"nustream\",\"version\":\"" + std::string(version) + "\"}\n");
  }
}

TEST_F(ServedRoutes, TellTheReasonToTheOperatorAlone) {
  loop_.on_loop([this] {
    loop_.operators.set_phase(Phase::serving);
    loop_.operators.open_lane(LaneId{4});
    loop_.operators.set_state(LaneId{4}, LaneStatus::restoring, "reading the state topic");
  });
  EXPECT_EQ(ask_public("/readyz").status, 503);
  EXPECT_EQ(ask_public("/readyz").body, "not ready\n");
  EXPECT_EQ(ask_operator("/readyz").status, 503);
  EXPECT_EQ(ask_operator("/readyz").body, "lane 4: restoring: reading the state topic\n");
  loop_.on_loop([this] { loop_.operators.set_state(LaneId{4}, LaneStatus::running); });
  EXPECT_EQ(ask_public("/readyz").body, "ready\n");
  EXPECT_EQ(ask_operator("/readyz").body, "ready\n");
  EXPECT_EQ(ask_public("/readyz").status, 200);
}

TEST_F(ServedRoutes, KeepTheRegistriesApart) {
  loop_.on_loop([this] {
    loop_.operators.open_lane(LaneId{0});
    loop_.shown.open_lane(public_lane(0));
    loop_.shown.update(spend(0, 7, 0.1));
  });
  EXPECT_THAT(ask_public("/metrics").body, HasSubstr("nustream_steps_total{lane=\"0\",stream=\"retail\"} 7\n"));
  EXPECT_THAT(ask_public("/metrics").body, Not(HasSubstr("not private")));
  EXPECT_THAT(ask_operator("/metrics").body, Not(HasSubstr("nustream_steps_total")));
  EXPECT_THAT(ask_operator("/metrics").body, HasSubstr("process_cpu_seconds_total"));
  EXPECT_THAT(ask_public("/api/v1/state").body, Not(HasSubstr("operator")));
  EXPECT_THAT(ask_operator("/api/v1/state").body, HasSubstr("\"steps_committed\":7"));
  EXPECT_THAT(ask_operator("/api/v1/state").body, HasSubstr("\"operator\":{\"phase\":\"starting\""));
}

/// Sets everything that the operator's side may see of a batch, at random.
void disturb(OperatorMetrics::Lane& lane, std::mt19937_64& random) {
  const auto draw = [&random](std::uint64_t below) { return static_cast<double>(random() % below); };
  lane.records->Increment(draw(1000));
  for (const RejectReason reason : reject_reasons) lane.records_rejected[reason].Increment(draw(5));
  for (const TransactionOutcome outcome : transaction_outcomes) lane.transactions[outcome].Increment(draw(3));
  lane.dead_letters_failed->Increment(draw(2));
  lane.consumer_lag_records->Set(draw(10'000));
  lane.gradients_clipped_ratio->Set(draw(1000) / 1000);
  lane.noise_ahead_steps->Set(draw(4096));
  lane.batch_seconds->Observe(draw(100) / 10);
  lane.commit_seconds->Observe(draw(100) / 10);
  lane.release_latency_seconds->Observe(draw(100) / 10);
}

/// Both listeners through a run of five batches on three lanes, whose commits are always the same.
class FiveBatches {
 public:
  explicit FiveBatches(std::uint64_t seed) : random_(seed) {
    loop_.on_loop([&] {
      servers_.emplace(loop_.loop, Settings{.public_address = "127.0.0.1:0", .operator_address = "127.0.0.1:0"},
                       loop_.shown, loop_.operators);
      loop_.operators.set_phase(Phase::serving);
      for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
        lanes_[lane] = &loop_.operators.open_lane(LaneId{lane});
        loop_.operators.set_state(LaneId{lane}, LaneStatus::running, "seed " + std::to_string(seed));
        loop_.shown.open_lane(public_lane(lane));
      }
    });
    for (std::uint64_t batch = 1; batch <= 5; ++batch) {
      loop_.on_loop([&] { commit(batch); });
      look();
    }
  }
  ~FiveBatches() {
    loop_.on_loop([this] { servers_.reset(); });
  }
  FiveBatches(const FiveBatches&) = delete;
  FiveBatches& operator=(const FiveBatches&) = delete;

  std::vector<std::string> answers;  ///< the public answers, header and body, without the clock

 private:
  void commit(std::uint64_t batch) {
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
      disturb(*lanes_[lane], random_);
      loop_.shown.update(spend(lane, 100 * batch, 0.05 * static_cast<double>(batch)));
      if (batch == 1) continue;
      loop_.shown.update(release(lane, 100 * (batch - 1), R"({"x":0.1234,"y":-5e-9})", R"({"x":1,"y":2})"));
    }
  }
  void look() {
    for (const char* path : paths) {
      for (std::uint64_t more = random_() % 3; more > 0; --more) static_cast<void>(ask(path));
      answers.push_back(ask(path));
    }
  }
  std::string ask(const char* path) {
    HttpClient client(servers_->public_listener()->port());
    client.send(http_request(path, "Connection: close\r\n"));
    std::string answer = client.read_to_end();
    const std::size_t date = answer.find("\r\nDate: ");
    answer.erase(date, answer.find("\r\n", date + 2) - date);
    return answer;
  }

  std::mt19937_64 random_;
  tests::ServeLoop loop_;
  std::optional<Servers> servers_;
  std::array<OperatorMetrics::Lane*, 3> lanes_{};
};

// What the operator counts, and how often anybody has asked, must not change a public byte.
TEST(PublicListener, SaysTheSameWhateverTheOperatorSees) {
  const FiveBatches one(1);
  for (const std::uint64_t seed : {2U, 3U}) EXPECT_EQ(FiveBatches(seed).answers, one.answers);
  ASSERT_EQ(one.answers.size(), 5 * paths.size());
  EXPECT_THAT(one.answers.back(), HasSubstr("404"));
  EXPECT_THAT(one.answers[4 * paths.size()], HasSubstr("nustream_estimate{feature=\"x\""));
}

}  // namespace
}  // namespace nustream::serve
