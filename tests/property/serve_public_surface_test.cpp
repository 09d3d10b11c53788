// The public page against a twin that is nothing but a table, over random histories of lanes, commits and releases.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "serve/public_surface.h"
#include "serve_lanes.h"

namespace nustream::serve {
namespace {

using tests::of_lane;
using tests::public_lane;
using tests::release_line;
using tests::spend;

/// What one lane shows, kept in the simplest way.
struct TwinLane {
  std::uint32_t epoch = 0;
  std::uint64_t steps = 0;
  std::uint64_t releases = 0;
  std::uint64_t released_step = 0;
  double rho = 0;
  std::optional<int> estimate{};
};

std::string number(double value) {
  std::ostringstream text;
  text.precision(16);
  text << value;
  return text.str();
}

class Twins {
 public:
  explicit Twins(std::uint64_t seed) : random_(seed) {}

  void act() {
    const auto lane = static_cast<std::uint32_t>(draw(4));
    switch (draw(6)) {
      case 0:
        return open(lane);
      case 1:
        return draw(3) == 0 ? close(lane) : commit(lane);
      case 2:
        return commit(lane);
      default:
        return publish(lane);
    }
  }

  void compare() const {
    const tests::MetricsPage page(surface_.metrics());
    std::map<std::string, std::string> expected;
    for (const auto& [lane, twin] : twins_) {
      expected[of_lane("nustream_steps_total", lane)] = number(static_cast<double>(twin.steps));
      expected[of_lane("nustream_releases_total", lane)] = number(static_cast<double>(twin.releases));
      expected[of_lane("nustream_zcdp_rho_spent", lane)] = number(twin.rho);
      if (twin.estimate) {
        expected["nustream_estimate{feature=\"x\",lane=\"" + std::to_string(lane) + "\",stream=\"retail\"}"] =
            number(*twin.estimate);
      }
    }
    std::map<std::string, std::string> shown;
    for (const auto& [series, value] : page.values) {
      for (const char* name :
           {"nustream_steps_total{", "nustream_releases_total{", "nustream_zcdp_rho_spent{", "nustream_estimate{"}) {
        if (series.starts_with(name)) shown[series] = value;
      }
    }
    ASSERT_EQ(shown, expected);
  }

  [[nodiscard]] const PublicSurface& surface() const { return surface_; }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  void open(std::uint32_t lane) {
    const auto epoch = static_cast<std::uint32_t>(draw(2));
    surface_.open_lane(public_lane(lane, epoch));
    const auto twin = twins_.find(lane);
    if (twin == twins_.end() || twin->second.epoch != epoch) twins_[lane] = TwinLane{.epoch = epoch};
  }
  void close(std::uint32_t lane) {
    surface_.close_lane(LaneId{lane});
    twins_.erase(lane);
  }
  /// Commits steps of the lane's epoch or of another one, ahead or behind.
  void commit(std::uint32_t lane) {
    const auto epoch = static_cast<std::uint32_t>(draw(2));
    const std::uint64_t steps = draw(1000);
    const double rho = 0.5 * static_cast<double>(steps) / 1000;
    surface_.update(spend(lane, steps, rho, epoch));
    const auto twin = twins_.find(lane);
    if (twin == twins_.end() || twin->second.epoch != epoch || steps < twin->second.steps) return;
    twin->second.steps = steps;
    twin->second.rho = rho;
  }
  /// Publishes one to three releases of at most the committed steps, some perhaps once more.
  void publish(std::uint32_t lane) {
    const auto twin = twins_.find(lane);
    const auto epoch = static_cast<std::uint32_t>(draw(2));
    const std::uint64_t steps = twin == twins_.end() ? 1000 : twin->second.steps;
    const std::uint64_t count = 1 + draw(3);
    if (steps < count) return;
    const std::uint64_t last = count + draw(steps - count + 1);
    std::string outbox;
    int value = 0;
    for (std::uint64_t step = last - count + 1; step <= last; ++step) {
      value = static_cast<int>(draw(100));
      outbox += release_line(lane, step, "{\"x\":" + std::to_string(value) + "}", "null", epoch);
    }
    surface_.update(CommittedRelease::published(outbox));
    if (twin == twins_.end() || twin->second.epoch != epoch) return;
    if (twin->second.estimate && last <= twin->second.released_step) return;
    twin->second.released_step = last;
    twin->second.releases += count;
    twin->second.estimate = value;
  }

  std::mt19937_64 random_;
  PublicSurface surface_{"retail"};
  std::map<std::uint32_t, TwinLane> twins_;
};

TEST(PublicSurfaceProperty, ShowsWhatATableShows) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Twins twins(seed);
    for (int act = 0; act < 200; ++act) {
      twins.act();
      twins.compare();
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", act " << act;
    }
  }
}

// The order in which lanes came, went and came back is a matter of the consumer group; the page must not tell it.
TEST(PublicSurfaceProperty, PagesDoNotDependOnTheOrderOfLanes) {
  const auto surface_after = [](const std::vector<std::uint32_t>& order, bool detour) {
    auto surface = std::make_unique<PublicSurface>("retail");
    if (detour) {
      for (std::uint32_t lane = 100; lane < 200; ++lane) surface->open_lane(public_lane(lane));
      for (std::uint32_t lane = 100; lane < 200; ++lane) surface->close_lane(LaneId{lane});
    }
    for (const std::uint32_t lane : order) surface->open_lane(public_lane(lane));
    for (const std::uint32_t lane : order) {
      surface->update(spend(lane, 10 + lane, 0.01 * lane));
      surface->update(CommittedRelease::published(release_line(lane, 5, R"({"x":1,"y":2})")));
    }
    return surface;
  };
  std::vector<std::uint32_t> order(40);
  for (std::uint32_t lane = 0; lane < order.size(); ++lane) order[lane] = lane;
  const auto sorted = surface_after(order, false);
  std::mt19937_64 random(1);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    const auto shuffled = surface_after(order, i % 2 == 0);
    EXPECT_EQ(shuffled->metrics(), sorted->metrics());
    EXPECT_EQ(shuffled->state(), sorted->state());
  }
}

}  // namespace
}  // namespace nustream::serve
