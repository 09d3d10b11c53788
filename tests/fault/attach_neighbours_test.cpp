// Two topics that differ in one record, their noise coupled so that the noisy gradients agree: then everything on the
// public surface has to be the same, byte for byte: the release topic and every page of the public listener.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <thread>

#include "attach_promise.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "descent_gradient.h"
#include "engine/noise_feed.h"
#include "free_port.h"
#include "nustream/lane/lane.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"

namespace nustream::tests {
namespace {

constexpr std::size_t records = 1000;
constexpr std::size_t piece = 100;  ///< records that are written at once
constexpr std::uint64_t seed = 7;

/// What anybody sees of one run.
struct Shown {
  std::vector<std::string> releases;
  /// Offset, key and value of all that is in the release topic, aborted transactions included.
  std::vector<std::string> log;
  std::string model;  ///< the combined model of the last release
  /// The answers of the public listener after each piece of records, and those in between that were seen, each by how
  /// far the stream had come.
  std::vector<std::string> answers;
  std::map<std::string, std::string> in_between;
};

std::string fetch(std::uint16_t port, const std::string& path) {
  const std::string command = "curl -s -m 60 http://" + loopback(port) + path + " -o - -D - | grep -vi '^date:'";
  std::string page;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    page.append(buffer.data(), count);
  ::pclose(pipe);
  return page;
}

std::string config_text(const AttachWorld& world, std::uint16_t port) {
  std::string text = read_file(world.config());
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("name = \"" + world.name() + "\"", "name = \"neighbours\"");
  replace("[kafka]", "[kafka]\ngroup = \"" + world.name() + "\"\nrelease_topic = \"" + world.name() +
                         ".releases\"\nmodel_seconds = 0.2\nmodel_topic = \"" + world.name() +
                         ".model\"\nstate_topic = \"" + world.name() + ".state\"\nledger_topic = \"" + world.name() +
                         ".ledger\"");
  // Batches close by their count alone, and the last outbox waits for the end: no time that this machine takes shows.
  replace("commit_records = 250", "commit_records = 50\ncommit_seconds = 3600");
  replace("every = 100", "every = 20\nlinger_seconds = 3600");
  replace("public_address = \"\"", "public_address = \"" + loopback(port) + "\"");
  return text;
}

/// The last one, on its own public clock: how often one was published depends on time alone.
std::string last_model(const AttachWorld& world) {
  const auto models = world.committed(world.name() + ".model");
  return models.empty() ? "" : models.back().key.value_or("") + " " + models.back().value.value_or("");
}

std::vector<std::string> log_of_releases(const AttachWorld& world) {
  std::vector<std::string> log;
  for (const StoredRecord& record : read_uncommitted_records(AttachWorld::direct(), world.name() + ".releases")) {
    log.push_back(std::to_string(record.offset) + " " + record.key.value_or("") + " " + record.value.value_or(""));
  }
  return log;
}

/// What the public listener says, whatever it is asked. The combined model, on its own public clock, is left out of
/// the state and the metrics: it is compared at the end. So is the time of day at which a release was published.
std::string answers(std::uint16_t port) {
  std::string all;
  for (const char* const path :
       {"/readyz", "/healthz", "/livez", "/version", "/metrics", "/api/v1/state", "/api/v1/history",
        "/api/v1/history/0", "/", "/lanes/0", "/lanes/0/from/0", "/assets/page.js", "/other"}) {
    std::string page = fetch(port, path);
    if (const std::size_t model = page.find(",\"model\":"); model != std::string::npos) page.erase(model);
    for (const char* const metric : {"\nnustream_model_", "\n# HELP nustream_model_", "\n# TYPE nustream_model_",
                                     "\nnustream_last_release_timestamp_seconds{"}) {
      for (std::size_t at; (at = page.find(metric)) != std::string::npos;) {
        page.erase(at, page.find('\n', at + 1) - at);
      }
    }
    // And with it its length.
    const std::size_t length = page.find("Content-Length:");
    if (length != std::string::npos) page.erase(length, page.find('\n', length) - length);
    all += std::string(path) + '\n' + page + '\n';
  }
  return all;
}

/// The whole number that stands right behind `name`, or, of a series, behind its labels; "none" where there is none.
std::string number_behind(const std::string& name, const std::string& text) {
  std::size_t at = text.find(name);
  if (at == std::string::npos) return "none";
  at += name.size();
  if (name.back() == '{') at = text.find("} ", at) + 2;
  const std::string digits = text.substr(at, text.find_first_not_of("0123456789", at) - at);
  return digits.empty() ? "none" : digits;
}

/// How far the stream is by its own pages; empty where those are of different moments, or it is not open yet.
std::string progress_in(const std::string& all) {
  const std::string steps = number_behind("\nnustream_steps_total{", all);
  if (steps == "none" || steps != number_behind("\"steps_committed\":", all)) return {};
  return steps + " steps, " + number_behind("\nnustream_releases_total{", all) + " releases, the last of step " +
         number_behind("\"step\":", all);
}

/// Asks all the time, while records arrive.
class Asking {
 public:
  explicit Asking(std::uint16_t port)
      : thread_([this, port](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            const std::string before = progress_in(answers(port));
            const std::string all = answers(port);
            const std::string after = progress_in(answers(port));
            // What stood still before and behind it stood still in between.
            if (before.empty() || before != after) continue;
            const auto [known, is_new] = seen_.emplace(before, all);
            if (!is_new && known->second != all) seen_[before + ", and once more"] = all;
          }
        }) {}
  std::map<std::string, std::string> stop() {
    thread_.request_stop();
    thread_.join();
    return seen_;
  }

 private:
  std::map<std::string, std::string> seen_;
  std::jthread thread_;
};

Shown run(const std::vector<StoredRecord>& log, std::uint64_t step, const std::vector<std::int64_t>& shift,
          std::uint16_t port) {
  const AttachWorld world;
  create_topic(AttachWorld::direct(), world.name() + ".model", 1, {{"cleanup.policy", "compact"}});
  const std::string config = world.folder().write("neighbours.toml", config_text(world, port));
  std::vector<std::string> arguments{config, std::to_string(seed), std::to_string(step)};
  for (const std::int64_t units : shift) arguments.push_back(std::to_string(units));
  Command service(NUSTREAM_NEIGHBOUR, arguments);
  Shown shown;
  {
    Asking asking(port);
    for (std::size_t at = 0; at < records; at += piece) {
      write_records(AttachWorld::direct(), world.name(), 0,
                    {log.begin() + static_cast<std::ptrdiff_t>(at),
                     log.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, records))});
      const std::string steps = std::to_string(at + piece) + " steps, ";
      wait_until([&] { return progress_in(answers(port)).starts_with(steps); });
      shown.answers.push_back(answers(port));
    }
    shown.in_between = asking.stop();
  }
  // The last outbox waits: its releases are in no model yet.
  const std::string released = std::to_string(records - 60);
  wait_until([&] { return last_model(world).find("\"step\":" + released) != std::string::npos; });
  shown.model = last_model(world);
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
  shown.releases = world.releases();
  shown.log = log_of_releases(world);
  return shown;
}

std::vector<StoredRecord> log_of(const std::vector<std::string>& values) {
  std::vector<StoredRecord> log;
  std::int64_t time = 1'700'000'000'000;
  for (const std::string& value : values) log.push_back({.value = value, .milliseconds = ++time});
  return log;
}

/// θ right before `step`, by a lane of the test's own over the same rows and noise.
std::vector<double> iterate_before(const config::Config& config, const config::Mechanism& mechanism,
                                   const std::vector<std::array<double, 3>>& rows, std::size_t step) {
  secrets::LockedMemory locked;
  const noise::KeyBytes key = secrets::Keyring::insecure(seed).epoch_key("neighbours");
  engine::NoiseFeed noise(mechanism, journal::first_checkpoints(key, LaneId{0}, EpochId{0}, 1), StepIndex{0}, &locked,
                          {});
  lane::Lane lane(config.descent, mechanism.grids, Position{0});
  lane::Releases releases;
  for (std::size_t i = 0; i < step; ++i) {
    const std::uint64_t next = i + 1;
    lane.advance({2, 1, rows[i].data(), &rows[i][2], &next}, noise.take(1), releases);
  }
  return {lane.theta().begin(), lane.theta().end()};
}

std::vector<std::int64_t> units_of(const config::Config& config, const config::Mechanism& mechanism,
                                   const std::vector<double>& theta, const std::array<double, 3>& row) {
  for (const auto& variant : descent::kernel::variants()) {
    if (variant.available) {
      return gradient_units(variant, config.descent.loss, mechanism.grids.front(), theta, std::span(row).first(2),
                            row[2]);
    }
  }
  return {};
}

TEST(AttachNeighbours, ShowTheSameToEverybody) {
  const std::vector<std::string> values = AttachWorld::values(records);
  std::vector<std::array<double, 3>> rows;
  for (const std::string& value : values) {
    double x = 0;
    double y = 0;
    const bool usable = std::sscanf(value.c_str(), "%lf,%lf", &x, &y) == 2;
    rows.push_back(usable ? std::array{1.0, x, y} : std::array{0.0, 0.0, 0.0});
  }
  const AttachWorld settings;
  const config::Config config =
      config::read_config(settings.folder().write("settings.toml", config_text(settings, 1)), {});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const std::uint16_t port = free_port();
  const Shown one = run(log_of(values), 0, {0, 0}, port);
  ASSERT_EQ(one.releases.size(), records / 20);
  for (const std::size_t step : {std::size_t{0}, std::size_t{333}, std::size_t{999}}) {
    SCOPED_TRACE("record " + std::to_string(step));
    std::vector<StoredRecord> log = log_of(values);
    log[step].value.reset();  // the null record in its place
    const auto shift = units_of(config, mechanism, iterate_before(config, mechanism, rows, step), rows[step]);
    ASSERT_NE(shift, (std::vector<std::int64_t>{0, 0}));
    const Shown other = run(log, step, shift, port);
    EXPECT_TRUE(one.releases == other.releases);
    EXPECT_TRUE(one.log == other.log);
    EXPECT_EQ(one.model, other.model);
    EXPECT_EQ(one.answers, other.answers);
    std::size_t compared = 0;
    for (const auto& [progress, answers] : one.in_between) {
      const auto found = other.in_between.find(progress);
      if (found == other.in_between.end()) continue;
      ++compared;
      EXPECT_EQ(answers, found->second) << progress;
    }
    // As many as this machine has time for; those after each piece are there on any.
    ::testing::Test::RecordProperty("answers_in_between_of_neighbour_" + std::to_string(step),
                                    static_cast<int>(compared));
  }
  // And the comparison can fail: without the shift the record shows.
  std::vector<StoredRecord> log = log_of(values);
  log[0].value.reset();
  EXPECT_FALSE(one.releases == run(log, 0, {0, 0}, port).releases);
}

}  // namespace
}  // namespace nustream::tests
