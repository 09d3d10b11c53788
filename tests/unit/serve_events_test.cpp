// Server-sent events over real sockets: what they say, how a client comes back, and who is let in.
#include "serve/event_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "serve/servers.h"
#include "serve_client.h"
#include "serve_lanes.h"
#include "serve_loop.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::http_request;
using tests::HttpClient;
using tests::public_lane;
using tests::release;
using tests::spend;

TEST(SeenLanes, AreReadBack) {
  const SeenLanes seen{{LaneId{0}, {1, 150, 100}}, {LaneId{63}, {0, 7, 0}}};
  EXPECT_EQ(text_of(seen), "0.1.150.100,63.0.7.0");
  EXPECT_EQ(seen_lanes(text_of(seen)), seen);
  EXPECT_EQ(text_of({}), "-");
  EXPECT_EQ(seen_lanes("-"), SeenLanes{});
}

TEST(SeenLanes, LeaveOutWhatTheyCannotRead) {
  for (const char* const bad : {"", ",", "0", "0.1.2", "0.1.2.3.4", "0.1.2.-3", "a.1.2.3", "0..2.3",
                                "4294967296.0.1.1", "0.0.99999999999999999999.1"}) {
    EXPECT_EQ(seen_lanes(bad), SeenLanes{}) << bad;
  }
  EXPECT_EQ(seen_lanes("nothing,3.0.5.4,0.1"), (SeenLanes{{LaneId{3}, {0, 5, 4}}}));
  EXPECT_EQ(seen_lanes(std::string(100'000, '1')), SeenLanes{});
}

TEST(SeenLanes, AreBoundedInLength) {
  SeenLanes seen;
  for (std::uint32_t lane = 0; lane < 1000; ++lane) seen[LaneId{lane}] = {lane, 1'000'000'000, 1'000'000'000};
  EXPECT_LE(text_of(seen).size(), seen_bytes_max);
  const SeenLanes back = seen_lanes(text_of(seen));
  EXPECT_GT(back.size(), 100U);
  for (const auto& [lane, of] : back) EXPECT_EQ(of, seen.at(lane));
}

class Events : public ::testing::Test {
 protected:
  Events() {
    Settings settings{.public_address = "127.0.0.1:0", .operator_address = "127.0.0.1:0"};
    settings.limits.events_max = 3;
    settings.limits.events_per_address_max = 2;
    loop_.on_loop([&] {
      servers_.emplace(loop_.loop, settings, loop_.shown, loop_.operators);
      loop_.shown.open_lane(public_lane(0));
      loop_.shown.update(spend(0, 100, 0.1));
      loop_.shown.update(release(0, 50, R"({"x":1})"));
      loop_.shown.update(release(0, 100, R"({"x":2})"));
    });
  }
  ~Events() override {
    loop_.on_loop([this] { servers_.reset(); });
  }
  std::unique_ptr<HttpClient> follow(const Listener& listener, const std::string& last = {}) {
    auto client = std::make_unique<HttpClient>(listener.port());
    client->send(http_request("/api/v1/events", last.empty() ? "" : "Last-Event-ID: " + last + "\r\n"));
    return client;
  }
  std::unique_ptr<HttpClient> follow(const std::string& last = {}) {
    return follow(*servers_->public_listener(), last);
  }
  void go_on(std::uint64_t steps) {
    loop_.on_loop([&] {
      loop_.shown.update(spend(0, steps, 0.2));
      loop_.shown.update(release(0, steps, R"({"x":3})"));
    });
  }

  tests::ServeLoop loop_;
  std::optional<Servers> servers_;
};

TEST_F(Events, TellTheStateAndThenWhatIsNew) {
  const auto client = follow();
  const std::string first = client->read_until("\n\nid: 0.0.100.100\n");
  EXPECT_THAT(first, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(first, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(first, Not(HasSubstr("Content-Length")));
  const std::string message = client->read_until("\n\n");
  EXPECT_THAT(message, HasSubstr("event: update\ndata: {\"stream\":\"retail\",\"open\":[0],\"lanes\":[{\"lane\":0,"));
  EXPECT_THAT(message, HasSubstr("\"steps_committed\":100,"));
  EXPECT_THAT(message, HasSubstr("\"points\":[{\"step\":100,")) << "of the past, the last point alone";
  go_on(150);
  go_on(200);
  const std::string next = client->read_until("\n\n");
  EXPECT_THAT(next, HasSubstr("id: 0.0.200.200\n")) << "all of one tick is one message";
  EXPECT_THAT(next, HasSubstr("\"points\":[{\"step\":150,"));
  EXPECT_THAT(next, HasSubstr("{\"step\":200,"));
}

TEST_F(Events, TellWhoComesBackWhatWasMissed) {
  go_on(150);
  const auto client = follow("0.0.60.50");
  const std::string missed = client->read_until("]}]}\n\n");
  EXPECT_THAT(missed, HasSubstr("id: 0.0.150.150\n"));
  EXPECT_THAT(missed, HasSubstr("\"points\":[{\"step\":100,"));
  EXPECT_THAT(missed, Not(HasSubstr("{\"step\":50,")));
  // A client that knows every event waits for the next one.
  const auto knows = follow("0.0.150.150");
  static_cast<void>(knows->read_until("retry: 3000\n\n"));
  EXPECT_FALSE(knows->readable(std::chrono::milliseconds(1500)));
  loop_.on_loop([this] { loop_.shown.close_lane(LaneId{0}); });
  EXPECT_THAT(knows->read_until("\n\n"),
              HasSubstr("id: -\nevent: update\ndata: {\"stream\":\"retail\",\"open\":[],"));
}

TEST_F(Events, TellTheOperatorsFiguresToTheOperatorAlone) {
  loop_.on_loop([this] {
    loop_.operators.open_lane(LaneId{0}).records->Increment(41);
    loop_.operators.set_state(LaneId{0}, LaneStatus::restoring, "reading");
  });
  const auto of_operator = follow(*servers_->operator_listener());
  std::string seen = of_operator->read_until("event: operator\n");
  seen += of_operator->read_until("\n\n");
  EXPECT_THAT(seen, HasSubstr("\"records\":41"));
  EXPECT_THAT(seen, HasSubstr("event: update"));
  const auto of_public = follow();
  static_cast<void>(of_public->read_until("]}]}\n\n"));
  loop_.on_loop([this] { loop_.operators.set_state(LaneId{0}, LaneStatus::running); });
  EXPECT_THAT(of_operator->read_until("\n\n"), HasSubstr("\"state\":\"running\""));
  EXPECT_FALSE(of_public->readable(std::chrono::milliseconds(1500)));
}

TEST_F(Events, HaveALimitAndAClientThatGoesMakesRoom) {
  auto one = follow();
  auto two = follow();
  for (const auto* client : {&one, &two}) static_cast<void>((*client)->read_until("]}]}\n\n"));
  const auto refused = follow()->read();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("Retry-After"), "10");
  HttpClient other(servers_->public_listener()->port());
  other.send(http_request("/livez"));
  EXPECT_EQ(other.read().status, 200) << "others are answered";
  two.reset();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int status = 429;
  while (status == 429 && std::chrono::steady_clock::now() < until) {
    auto again = follow();
    status = again->read_until("\r\n").starts_with("HTTP/1.1 200") ? 200 : 429;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(Events, AreOnlyForGet) {
  HttpClient client(servers_->public_listener()->port());
  client.send(http_request("/api/v1/events", {}, "HEAD"));
  EXPECT_EQ(client.read(true).headers.at("Content-Type"), "text/event-stream");
}

TEST_F(Events, EndWithTheListener) {
  auto client = follow();
  static_cast<void>(client->read_until("]}]}\n\n"));
  loop_.on_loop([this] { servers_->stop(); });
  EXPECT_EQ(client->read_to_end(), "");
}

}  // namespace
}  // namespace nustream::serve
