// Both listeners over made-up lanes, told by lines on standard input: what the tests in a browser look at.
//
//   features NAME…          of lanes opened from here on
//   open LANE [BUDGET]      a lane; BUDGET: the step after which the budget ends it
//   go LANE STEPS           that many steps are committed, and all releases up to them are published
//   restored LANE STEPS     as after a restart: the last release alone
//   past LANE STEPS         and then the releases before it
//   close LANE
//   state LANE STATE [REASON…], phase PHASE [REASON…]
//
// Arguments: the two ports, 0 for any that is free, and the stream's name ("retail" without it). Prints the ports,
// and "ok" after each line that was followed.
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <future>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "nustream/noise/correlation.h"
#include "nustream/privacy/zcdp.h"
#include "publish/json_writer.h"
#include "serve/servers.h"
#include "serve_lanes.h"
#include "serve_loop.h"

namespace nustream::tests {
namespace {

constexpr std::uint64_t cadence = 50;

/// A path that settles: what a private descent looks like, from a formula.
struct Values {
  double estimate, average, lower, upper;
};
Values values_at(std::size_t feature, std::uint64_t step) {
  const auto t = static_cast<double>(step);
  const auto j = static_cast<double>(feature);
  const double aim = 2 * std::sin(1.7 * j + 0.4);
  const double noise = std::sin(t * (0.013 + 0.001 * j) + j) + 0.6 * std::cos(0.031 * t * (1 + 0.1 * j));
  const double average = aim * (1 - std::exp(-t / 700)) + 3 * noise / std::sqrt(t + 20);
  const double half = 9 / std::sqrt(t);
  return {average + 0.35 * noise, average, average - half, average + half};
}

class World {
 public:
  World(const std::array<std::string, 2>& ports, const std::string& stream) : loop_(stream) {
    loop_.on_loop([&] {
      servers_.emplace(
          loop_.loop,
          serve::Settings{.public_address = "127.0.0.1:" + ports[0], .operator_address = "127.0.0.1:" + ports[1]},
          loop_.shown, loop_.operators);
    });
    std::printf("%u %u\n", servers_->public_listener()->port(), servers_->operator_listener()->port());
    std::fflush(stdout);
  }
  ~World() {
    loop_.on_loop([this] { servers_.reset(); });
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void follow(const std::string& line) {
    loop_.on_loop([&] {
      std::istringstream words(line);
      std::string what;
      words >> what;
      if (what == "features") return read_features(words);
      if (what == "phase") return set_phase(words);
      std::uint32_t lane = 0;
      words >> lane;
      if (what == "open") return open(lane, words);
      if (what == "close") return close(LaneId{lane});
      if (what == "state") return set_state(lane, words);
      std::uint64_t steps = 0;
      words >> steps;
      if (what == "past") return recall(lane, steps);
      go(lane, steps, what == "restored");
    });
  }

 private:
  void read_features(std::istringstream& words) {
    features_.clear();
    for (std::string name; words >> name;) features_.push_back(name);
  }

  void open(std::uint32_t lane, std::istringstream& words) {
    std::uint64_t budget = 0;
    words >> budget;
    serve::PublicLane settings = public_lane(lane);
    if (budget > 0) {
      settings.budget = Rho{0.4};
      settings.last_step = StepCount{budget};
    }
    settings.header.stream = loop_.shown.stream();
    settings.subject = "Linear regression of demand on what the stream says.";
    settings.spend_by_age = [](StepCount most) {
      return serve::spend_by_age(privacy::Spend(noise::Correlation(noise::NuFtrl{Damping{0.001}, std::nullopt}),
                                                privacy::Participation::once(), NoiseMultiplier{2}),
                                 most);
    };
    loop_.shown.open_lane(std::move(settings));
    figures_[lane] = &loop_.operators.open_lane(LaneId{lane});
    loop_.operators.set_state(LaneId{lane}, serve::LaneStatus::running);
  }

  void close(LaneId lane) {
    loop_.shown.close_lane(lane);
    loop_.operators.close_lane(lane);
  }

  void set_state(std::uint32_t lane, std::istringstream& words) {
    std::string state;
    std::string reason;
    words >> state;
    std::getline(words >> std::ws, reason);
    for (const serve::LaneStatus each : serve::lane_statuses) {
      if (name(each) == state) loop_.operators.set_state(LaneId{lane}, each, reason);
    }
  }
  void set_phase(std::istringstream& words) {
    std::string phase;
    std::string reason;
    words >> phase;
    std::getline(words >> std::ws, reason);
    for (const serve::Phase each : serve::phases) {
      if (name(each) == phase) loop_.operators.set_phase(each, reason);
    }
  }

  std::string line_at(std::uint32_t lane, std::uint64_t step) const {
    publish::NamedValues estimate;
    publish::NamedValues average;
    publish::NamedValues lower;
    publish::NamedValues upper;
    for (std::size_t j = 0; j < features_.size(); ++j) {
      const Values values = values_at(j + lane, step);
      estimate.emplace_back(features_[j], values.estimate);
      average.emplace_back(features_[j], values.average);
      lower.emplace_back(features_[j], values.lower);
      upper.emplace_back(features_[j], values.upper);
    }
    std::string bounds = ",";
    publish::JsonWriter json(bounds);
    {
      const auto interval = json.object("interval");
      json.field("kind", "batch-means");
      json.field("level", 0.95);
      json.field("covers", "the minimiser of the expected loss");
      json.field("effective_steps", 80);
      json.field("through", step);
      json.field("too_few_steps", false);
      json.fields_or_null("lower", lower);
      json.fields_or_null("upper", upper);
    }
    const auto object = [](const publish::NamedValues& values) {
      return publish::object_text([&](publish::JsonWriter& members) {
        for (const auto& [name, value] : values) members.field(name, value);
      });
    };
    std::string line = release_line(lane, step, object(estimate), object(average));
    line.insert(line.rfind(",\"rho\""), bounds);
    std::string stream;
    publish::append_string(loop_.shown.stream(), stream);
    constexpr std::string_view name = "\"retail\"";
    return line.replace(line.find(name), name.size(), stream);
  }

  void go(std::uint32_t lane, std::uint64_t steps, bool last_alone) {
    const double rho = 0.5 * (1 - std::exp(-static_cast<double>(steps) / 5000));
    std::uint64_t& released = released_[lane];
    loop_.shown.update(spend(lane, steps, rho));
    figures_.at(lane)->records->Increment(static_cast<double>(steps) - figures_.at(lane)->records->Value());
    figures_.at(lane)->commit_seconds->Observe(0.004);
    figures_.at(lane)->release_latency_seconds->Observe(0.012);
    if (last_alone) released = steps - cadence;
    // Of a long stream some, so that a year is here in a moment; each span of the history has one.
    std::string lines;
    const std::uint64_t every = std::max(cadence, (steps - released) / 4096 / cadence * cadence);
    for (std::uint64_t step = released + every; step <= steps; step += every) lines += line_at(lane, step);
    if (lines.empty()) return;
    released = steps;
    loop_.shown.update(serve::CommittedRelease::published(lines));
  }

  void recall(std::uint32_t lane, std::uint64_t steps) {
    std::string lines;
    for (std::uint64_t step = cadence; step <= steps; step += cadence) lines += line_at(lane, step);
    loop_.shown.update(serve::CommittedPast::found(LaneId{lane}, EpochId{0}, lines));
  }

  ServeLoop loop_;
  std::optional<serve::Servers> servers_;
  std::vector<std::string> features_{"intercept", "price", "weekend"};
  std::map<std::uint32_t, std::uint64_t> released_;
  std::map<std::uint32_t, serve::OperatorMetrics::Lane*> figures_;
};

}  // namespace
}  // namespace nustream::tests

int main(int count, char** arguments) {
  if (count != 3 && count != 4) return 64;
  nustream::tests::World world({arguments[1], arguments[2]}, count == 4 ? arguments[3] : "retail");
  for (std::string line; std::getline(std::cin, line);) {
    world.follow(line);
    std::printf("ok\n");
    std::fflush(stdout);
  }
}
