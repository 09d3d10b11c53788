// Two topics differ in one record, and their noise is coupled so that the noisy gradients, or sums, agree. Everything
// on the public surface then has to be the same, byte for byte: the release topic and every page of the public
// listener.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "config/config.h"
#include "config/mechanism.h"
#include "config/moments.h"
#include "descent_gradient.h"
#include "engine/noise_feed.h"
#include "neighbour_world.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"

namespace nustream::tests {
namespace {

/// θ right before `step`, computed by a lane of the test's own over the same rows and noise.
std::vector<double> iterate_before(const config::Config& config, const config::Mechanism& mechanism,
                                   const std::vector<std::array<double, 3>>& rows, std::size_t step) {
  secrets::LockedMemory locked;
  const noise::KeyBytes key = secrets::Keyring::insecure(neighbour_seed).epoch_key("neighbours");
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

/// 1, x and y of each value; zeros for an unusable one.
std::vector<std::array<double, 3>> rows_of(const std::vector<std::string>& values) {
  std::vector<std::array<double, 3>> rows;
  for (const std::string& value : values) {
    double x = 0;
    double y = 0;
    const bool usable = std::sscanf(value.c_str(), "%lf,%lf", &x, &y) == 2;
    rows.push_back(usable ? std::array{1.0, x, y} : std::array{0.0, 0.0, 0.0});
  }
  return rows;
}

TEST(AttachNeighbours, ShowTheSameToEverybody) {
  const std::vector<std::string> values = AttachWorld::values(records);
  const std::vector<std::array<double, 3>> rows = rows_of(values);
  const AttachWorld settings;
  const config::Config config =
      config::read_config(settings.folder().write("settings.toml", config_text(settings, 1, {})), {});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const std::uint16_t port = free_port();
  const Shown one = run_neighbour(log_of(values), 0, {0, 0}, port, {});
  ASSERT_EQ(one.releases.size(), records / 20);
  for (const std::size_t step : {std::size_t{0}, std::size_t{333}, std::size_t{999}}) {
    SCOPED_TRACE("record " + std::to_string(step));
    std::vector<StoredRecord> log = log_of(values);
    log[step].value.reset();  // a null record takes its place
    const auto shift = units_of(config, mechanism, iterate_before(config, mechanism, rows, step), rows[step]);
    ASSERT_NE(shift, (std::vector<std::int64_t>{0, 0}));
    const Shown other = run_neighbour(log, step, shift, port, {});
    expect_same_to_everybody(one, other, std::to_string(step));
  }
  // The comparison can fail: without the shift of the noise the record shows.
  std::vector<StoredRecord> log = log_of(values);
  log[0].value.reset();
  EXPECT_FALSE(one.releases == run_neighbour(log, 0, {0, 0}, port, {}).releases);
}

// ---- running sums

const Stepping of_sums{
    "[model]\nestimator = \"moments\"\n[moments]\nrow_norm = 4\nresidual_bound = 4\n"
    "stages = [{from = 500, residual_bound = 2}]\n[intervals]\nkind = \"residuals\"\n",
    20, 100, 20, 100};

/// Where the sums of `step` are taken, computed by a lane of the test's own over the same rows and noise.
moments::StageSums stage_of(const config::Mechanism& mechanism, const moments::Settings& settings,
                            const std::vector<std::array<double, 3>>& rows, std::size_t step) {
  secrets::LockedMemory locked;
  const noise::KeyBytes key = secrets::Keyring::insecure(neighbour_seed).epoch_key("neighbours");
  engine::NoiseFeed noise(mechanism, journal::first_checkpoints(key, LaneId{0}, EpochId{0}, mechanism.stages.size()),
                          StepIndex{0}, &locked, {});
  moments::Lane lane(settings, Position{0});
  moments::Releases releases;
  for (std::size_t i = 0; i <= step; ++i) {
    record::RowBatch batch;
    batch.dimension = 2;
    for (std::size_t row = i * of_sums.records; row < (i + 1) * of_sums.records; ++row) {
      batch.x.insert(batch.x.end(), rows[row].begin(), rows[row].begin() + 2);
      batch.y.push_back(rows[row][2]);
      batch.next.push_back(row + 1);
    }
    lane.advance(record::slice(batch, 0, batch.count()), noise.take(1), releases);
  }
  return lane.sums().stages().back();
}

/// What the row adds to the sums of every block.
std::vector<std::int64_t> units_in_sums(const moments::Settings& settings, const moments::StageSums& stage,
                                        const std::array<double, 3>& row) {
  moments::Spacings spacings;
  for (const noise::Grid& grid : moments::grids(settings)) spacings.push_back(grid.spacing());
  moments::BatchSums sums(settings.mechanism.design, spacings);
  sums.aim(stage.radii, stage.centre);
  const std::uint64_t next = 1;
  sums.add({2, 1, row.data(), &row[2], &next});
  std::vector<std::int64_t> units;
  for (const moments::Block block : moments::noised_blocks(settings.mechanism.design)) {
    for (const moments::Wide unit : sums.sums(block)) units.push_back(static_cast<std::int64_t>(unit));
  }
  return units;
}

TEST(AttachNeighbours, ShowTheSameSumsToEverybody) {
  const std::vector<std::string> values = AttachWorld::values(records);
  const std::vector<std::array<double, 3>> rows = rows_of(values);
  const AttachWorld world;
  const config::Config config =
      config::read_config(world.folder().write("settings.toml", config_text(world, 1, of_sums)), {});
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const moments::Settings settings = config::moments_settings(config, mechanism);
  const std::uint16_t port = free_port();
  const std::vector<std::int64_t> none(6);  // xx', x·residual and the spread
  const Shown one = run_neighbour(log_of(values), 0, none, port, of_sums);
  ASSERT_EQ(one.releases.size(), records / of_sums.records);
  EXPECT_NE(one.releases.back().find("\"sums\""), std::string::npos) << "where there is a topic of the model";
  for (const std::size_t row : {std::size_t{0}, std::size_t{333}, std::size_t{999}}) {
    SCOPED_TRACE("record " + std::to_string(row));
    const std::size_t step = row / of_sums.records;
    std::vector<StoredRecord> log = log_of(values);
    log[row].value.reset();  // a null record takes its place
    const auto shift = units_in_sums(settings, stage_of(mechanism, settings, rows, step), rows[row]);
    ASSERT_EQ(shift.size(), none.size());
    ASSERT_NE(shift, none);
    expect_same_to_everybody(one, run_neighbour(log, step, shift, port, of_sums), std::to_string(row));
  }
  std::vector<StoredRecord> log = log_of(values);
  log[0].value.reset();
  EXPECT_FALSE(one.releases == run_neighbour(log, 0, none, port, of_sums).releases) << "without the shift it shows";
}

}  // namespace
}  // namespace nustream::tests
