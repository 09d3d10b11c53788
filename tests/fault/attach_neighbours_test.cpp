// Two topics that differ in one record, their noise coupled so that the noisy gradients agree: then everything on the
// public surface has to be the same, byte for byte: the release topic and every page of the public listener.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

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
constexpr std::uint64_t seed = 7;

/// What anybody sees of one run.
struct Shown {
  std::vector<std::string> releases;
  /// Offset, key and value of all that is in the release topic, aborted transactions included.
  std::vector<std::string> log;
  std::string model;  ///< the combined model of the last release
  std::string metrics;
  std::string state;
  std::string ready;
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
  // Batches close by their count; at the quiet end the last outbox is published alone.
  replace("commit_records = 250", "commit_records = 250\ncommit_seconds = 3600");
  replace("every = 100", "every = 100\nlinger_seconds = 2");
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

Shown run(const std::vector<StoredRecord>& log, std::uint64_t step, const std::vector<std::int64_t>& shift,
          std::uint16_t port) {
  const AttachWorld world;
  create_topic(AttachWorld::direct(), world.name() + ".model", 1, {{"cleanup.policy", "compact"}});
  write_records(AttachWorld::direct(), world.name(), 0, log);
  const std::string config = world.folder().write("neighbours.toml", config_text(world, port));
  std::vector<std::string> arguments{config, std::to_string(seed), std::to_string(step)};
  for (const std::int64_t units : shift) arguments.push_back(std::to_string(units));
  Command service(NUSTREAM_NEIGHBOUR, arguments);
  wait_until([&] { return ledger_end(world).steps == records; });
  wait_until([&] { return world.releases().size() == records / 100; });
  wait_until([&] { return last_model(world).find("\"step\":" + std::to_string(records)) != std::string::npos; });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the quiet end: what follows on the last commit
  Shown shown{world.releases(),        log_of_releases(world),       last_model(world),
              fetch(port, "/metrics"), fetch(port, "/api/v1/state"), fetch(port, "/readyz")};
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait().code, 0);
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
  ASSERT_EQ(one.releases.size(), records / 100);
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
    EXPECT_EQ(one.metrics, other.metrics);
    EXPECT_EQ(one.state, other.state);
    EXPECT_EQ(one.ready, other.ready);
  }
  // And the comparison can fail: without the shift the record shows.
  std::vector<StoredRecord> log = log_of(values);
  log[0].value.reset();
  EXPECT_FALSE(one.releases == run(log, 0, {0, 0}, port).releases);
}

}  // namespace
}  // namespace nustream::tests
