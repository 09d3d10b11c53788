// The operator's surface: readiness with reasons, counters, and that nothing of it shows on the public side.
#include "serve/operator_surface.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "serve_lanes.h"

namespace nustream::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tests::MetricsPage;
using tests::of_lane;

TEST(OperatorSurface, IsReadyWhenServingWithEveryLaneRestored) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  EXPECT_FALSE(surface.ready());
  EXPECT_EQ(surface.readiness(), "starting\n");
  surface.set_phase(Phase::serving);
  EXPECT_TRUE(surface.ready()) << "a member of the group without a lane is as ready as it can be";
  surface.open_lane(LaneId{0});
  surface.open_lane(LaneId{4});
  surface.set_state(LaneId{0}, LaneStatus::restoring, "reading the state topic");
  surface.set_state(LaneId{4}, LaneStatus::running);
  EXPECT_EQ(surface.readiness(), "lane 0: restoring: reading the state topic\n");
  surface.set_state(LaneId{0}, LaneStatus::running);
  EXPECT_EQ(surface.readiness(), "ready\n");
  EXPECT_TRUE(shown.ready());
  surface.close_lane(LaneId{0});
  surface.close_lane(LaneId{4});
  surface.set_phase(Phase::rejoining, "waiting for brokers");
  EXPECT_FALSE(surface.ready()) << "no lanes are left, and that is why";
  EXPECT_EQ(surface.readiness(), "rejoining: waiting for brokers\n");
  surface.set_phase(Phase::draining);
  EXPECT_EQ(surface.readiness(), "draining\n");
  EXPECT_FALSE(shown.ready());
}

TEST(OperatorSurface, PublicReadinessFollowsEveryChange) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  surface.set_phase(Phase::serving);
  EXPECT_TRUE(shown.ready());
  surface.open_lane(LaneId{0});
  EXPECT_FALSE(shown.ready());
  for (const LaneStatus state : lane_statuses) {
    surface.set_state(LaneId{0}, state);
    const bool expected =
        state == LaneStatus::running || state == LaneStatus::draining || state == LaneStatus::finished;
    EXPECT_EQ(shown.ready(), expected) << name(state);
  }
  surface.set_state(LaneId{0}, LaneStatus::failed, "the log begins behind the lane's position");
  EXPECT_FALSE(shown.ready());
  surface.close_lane(LaneId{0});
  EXPECT_TRUE(shown.ready());
}

// The reason why a lane is restored anew may depend on a record, and everybody can read readiness.
TEST(OperatorSurface, ALaneThatIsRestoredAnewIsReadyMeanwhile) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  surface.set_phase(Phase::serving);
  surface.open_lane(LaneId{0});
  surface.set_state(LaneId{0}, LaneStatus::restoring);
  EXPECT_FALSE(shown.ready());
  surface.set_state(LaneId{0}, LaneStatus::running);
  for (const LaneStatus state : {LaneStatus::restoring, LaneStatus::waiting}) {
    surface.set_state(LaneId{0}, state, "a dead letter");
    EXPECT_TRUE(shown.ready()) << name(state);
    EXPECT_EQ(surface.readiness(), "ready\n");
    EXPECT_EQ(MetricsPage(surface.metrics())
                  .at("nustream_lane_state{lane=\"0\",state=\"" + std::string(name(state)) + "\",stream=\"retail\"}"),
              "1")
        << "the operator sees it";
  }
  surface.set_state(LaneId{0}, LaneStatus::failed);
  EXPECT_FALSE(shown.ready());
  surface.close_lane(LaneId{0});
  surface.open_lane(LaneId{0});
  EXPECT_FALSE(shown.ready()) << "taken anew, it begins anew";
}

TEST(OperatorSurface, ALaneIsInOneState) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  surface.open_lane(LaneId{2});
  for (const LaneStatus state : lane_statuses) {
    surface.set_state(LaneId{2}, state);
    const MetricsPage page(surface.metrics());
    for (const LaneStatus each : lane_statuses) {
      const std::string series =
          "nustream_lane_state{lane=\"2\",state=\"" + std::string(name(each)) + "\",stream=\"retail\"}";
      EXPECT_EQ(page.at(series), each == state ? "1" : "0") << series;
    }
  }
}

TEST(OperatorSurface, EverySeriesIsThereFromTheStartAndGoesWithItsLane) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  surface.open_lane(LaneId{0});
  surface.open_lane(LaneId{1});
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(R"(nustream_records_rejected_total{lane="1",reason="tombstone",stream="retail"})"), "0");
  EXPECT_EQ(page.at(R"(nustream_transactions_total{lane="1",outcome="fenced",stream="retail"})"), "0");
  EXPECT_EQ(page.at(R"(nustream_consumer_lag_records{lane="1",partition="1",stream="retail"})"), "0");
  EXPECT_EQ(page.at(of_lane("nustream_commit_seconds_count", 1)), "0");
  surface.close_lane(LaneId{1});
  EXPECT_THAT(surface.metrics(), Not(HasSubstr("lane=\"1\"")));
  EXPECT_THAT(surface.metrics(), HasSubstr("lane=\"0\""));
}

TEST(OperatorSurface, CountsWhereTheThingHappened) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  OperatorMetrics::Lane& lane = surface.open_lane(LaneId{3});
  lane.records->Increment(1'000'000);
  lane.records_rejected[RejectReason::too_long].Increment();
  lane.transactions[TransactionOutcome::aborted].Increment(2);
  lane.dead_letters_failed->Increment();
  lane.consumer_lag_records->Set(17);
  lane.gradients_clipped_ratio->Set(0.25);
  lane.noise_ahead_steps->Set(4096);
  lane.commit_seconds->Observe(0.004);
  surface.set_state(LaneId{3}, LaneStatus::failed, "line \"one\"");
  const MetricsPage page(surface.metrics());
  EXPECT_EQ(page.at(of_lane("nustream_records_total", 3)), "1000000");
  EXPECT_EQ(page.at(R"(nustream_records_rejected_total{lane="3",reason="too_long",stream="retail"})"), "1");
  EXPECT_EQ(page.at(R"(nustream_transactions_total{lane="3",outcome="aborted",stream="retail"})"), "2");
  EXPECT_EQ(page.at(R"(nustream_commit_seconds_bucket{lane="3",stream="retail",le="0.0025"})"), "0");
  EXPECT_EQ(page.at(R"(nustream_commit_seconds_bucket{lane="3",stream="retail",le="0.005"})"), "1");

  simdjson::dom::parser parser;
  const std::string text = surface.state();
  const simdjson::dom::element state = parser.parse(text);
  EXPECT_EQ(std::string_view(state["stream"]), "retail");
  EXPECT_EQ(std::string_view(state["operator"]["phase"]), "starting");
  EXPECT_EQ(bool(state["operator"]["ready"]), false);
  const simdjson::dom::element shown_lane = state["operator"]["lanes"].at(0);
  EXPECT_EQ(std::string_view(shown_lane["state"]), "failed");
  EXPECT_EQ(std::string_view(shown_lane["reason"]), "line \"one\"");
  EXPECT_EQ(std::uint64_t(shown_lane["records"]), 1'000'000u);
  EXPECT_EQ(std::uint64_t(shown_lane["records_rejected"]["too_long"]), 1u);
  EXPECT_EQ(std::uint64_t(shown_lane["transactions"]["aborted"]), 2u);
  EXPECT_EQ(std::uint64_t(shown_lane["dead_letters_failed"]), 1u);
  EXPECT_EQ(double(shown_lane["consumer_lag_records"]), 17);
  EXPECT_EQ(double(shown_lane["gradients_clipped_ratio"]), 0.25);
}

TEST(OperatorSurface, EveryHelpTextSaysThatItIsNotPrivate) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  surface.open_lane(LaneId{0});
  const MetricsPage page(surface.metrics());
  ASSERT_GE(page.help.size(), 16u);
  for (const auto& [metric, help] : page.help) EXPECT_THAT(help, ::testing::EndsWith("not private.")) << metric;
}

// The two registries are two types. No compiler can tell to which of them a metric belongs, so this test looks at
// what a metric in the wrong one would change.
TEST(OperatorSurface, SharesNoMetricWithThePublicSurface) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  surface.open_lane(LaneId{0});
  shown.open_lane(tests::public_lane(0, 0, Rho{1}));
  shown.update(tests::spend(0, 10, 0.1));
  shown.update(tests::release(0, 10, R"({"x":1})", R"({"x":1})"));
  const MetricsPage operators(surface.metrics());
  const MetricsPage page(shown.metrics());
  EXPECT_EQ(page.type.size(), 18u);
  for (const auto& [metric, type] : page.type) EXPECT_FALSE(operators.type.contains(metric)) << metric;
  for (const auto& [metric, help] : page.help) EXPECT_THAT(help, Not(HasSubstr("not private"))) << metric;
  EXPECT_THAT(shown.metrics(), Not(HasSubstr("process_")));
}

// The metrics are held against the kernel's other accounts of the same quantities.
TEST(ProcessMetrics, AgreeWithTheKernel) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  std::vector<char> memory(64 << 20, 'x');  // so that memory is resident, and some time is spent
  const MetricsPage page(surface.metrics());
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  EXPECT_NEAR(std::stod(page.at("process_cpu_seconds_total")), cpu, 0.1);
  const double resident = std::stod(page.at("process_resident_memory_bytes"));
  EXPECT_GE(resident, static_cast<double>(memory.size()));
  EXPECT_LE(resident, static_cast<double>(usage.ru_maxrss) * 1024 * 1.1);
  struct rlimit limit {};
  getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(std::stod(page.at("process_max_fds")), static_cast<double>(limit.rlim_cur));
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(std::stod(page.at("process_start_time_seconds")), now + 2);
  EXPECT_GE(std::stod(page.at("process_start_time_seconds")), now - 600);
  EXPECT_EQ(page.type.at("process_cpu_seconds_total"), "counter");
}

// The test counts descriptors one by one, by another system call.
TEST(ProcessMetrics, CountOpenDescriptors) {
  PublicSurface shown("retail");
  OperatorSurface surface(shown);
  const auto count = [] {
    int open = 0;
    for (int descriptor = 0; descriptor < 4096; ++descriptor) open += ::fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
    return std::to_string(open);
  };
  EXPECT_EQ(MetricsPage(surface.metrics()).at("process_open_fds"), count());
  const std::ifstream one("/dev/null");
  const std::ifstream two("/dev/null");
  EXPECT_EQ(MetricsPage(surface.metrics()).at("process_open_fds"), count());
}

}  // namespace
}  // namespace nustream::serve
