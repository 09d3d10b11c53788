#include "coupled_run.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "config/moments.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "journal/release_chain.h"
#include "secrets/locked_memory.h"
#include "serve/public_surface.h"

namespace nustream::tests {
namespace {

/// What is kept at a commit.
struct Committed {
  std::string lane;
  journal::NoiseCheckpoints noise;
  std::uint64_t steps = 0;
  std::uint64_t released_at = 0;
};

/// The estimator before an epoch's first step.
engine::Estimator first_lane(const World& world) {
  engine::Estimator lane = engine::first_estimator(world.settings->config, world.settings->mechanism, Position{0});
  if (world.carried) lane.go_on_from(*world.carried);
  return lane;
}

/// One process of a run, which goes on from a commit.
class Life {
 public:
  Life(const World& world, const secrets::Keyring& keys, const Shifts& shifts, const record::RowBatch& rows,
       std::optional<StepCount> limit, const Committed& from)
      : config_(world.settings->config),
        rows_(rows),
        noise_(std::make_unique<engine::NoiseFeed>(world.settings->mechanism, from.noise, StepIndex{from.steps},
                                                   &locked_, keys.healing(from.steps > 0)),
               shifts),
        lane_(from.lane.empty() ? first_lane(world)
                                : engine::decoded_estimator(config_, world.settings->mechanism, from.lane)),
        encoder_(engine::release_encoder(config_, world.settings->mechanism,
                                         {LaneId{0}, EpochId{0}, world.settings->digest, keys.is_private()})),
        stepper_(lane_, noise_, encoder_, config_.descent.minibatch, limit, from.released_at) {
    drop(rows_, from.steps * config_.descent.minibatch);
  }

  void go_to(std::uint64_t step) {
    static_cast<void>(stepper_.step(rows_, (step - lane_.steps().value()) * config_.descent.minibatch, output_));
  }
  void release_the_end() { stepper_.release_now("end", output_); }
  [[nodiscard]] const engine::Estimator& lane() const noexcept { return lane_; }
  /// What the process has released since this was called last.
  [[nodiscard]] std::string released() { return std::exchange(output_.outbox, {}); }
  [[nodiscard]] Committed commit() const {
    return {lane_.encode(), noise_.checkpoints(), lane_.steps().value(), stepper_.released_at()};
  }

 private:
  static void drop(record::RowBatch& rows, std::uint64_t count) {
    const auto from = static_cast<std::ptrdiff_t>(count);
    rows.x.erase(rows.x.begin(), rows.x.begin() + from * static_cast<std::ptrdiff_t>(rows.dimension));
    rows.y.erase(rows.y.begin(), rows.y.begin() + from);
    rows.next.erase(rows.next.begin(), rows.next.begin() + from);
  }

  const config::Config& config_;
  record::RowBatch rows_;
  secrets::LockedMemory locked_;
  ShiftedNoise noise_;
  engine::Estimator lane_;
  publish::ReleaseEncoder encoder_;
  engine::Stepper stepper_;
  engine::Output output_;
};

}  // namespace

Claims::Claims(const config::Mechanism& mechanism, std::uint64_t steps) {
  for (const config::CalibratedStage& stage : mechanism.stages) {
    encoders.emplace_back(stage.correlation, static_cast<std::size_t>(steps));
  }
  for (const noise::Grid& grid : mechanism.grids) {
    const double one = 1;
    std::int64_t units = 0;
    grid.round_noise({&one, 1}, {&units, 1});
    stddevs.push_back(static_cast<double>(units));
  }
  for (std::uint64_t step = 0; step <= steps; ++step) {
    spend.push_back(mechanism.spend.after(StepCount{step}).value());
  }
}

World::World(std::uint64_t seed, std::uint64_t passes_max, bool beside_values) {
  std::mt19937_64 random(seed);
  do {
    const std::uint64_t passes = random() % 3 == 0 ? 1 + random() % passes_max : 1;
    const std::uint64_t per_pass = 4 + random() % (passes > 1 ? 10 : 24);
    stream = random_stream(
        random(), {.steps = per_pass * passes + passes, .replace_one = true, .beside_values = beside_values});
    window = {0, per_pass * stream.minibatch + random() % stream.minibatch, passes};
    steps = *window.end * passes / stream.minibatch;
    settings = settings_of(stream, "", replay::participation(window, stream.minibatch));
  } while (!settings);
  if (const auto horizon = settings->mechanism.horizon()) steps = std::min(steps, horizon->value());
  claims = Claims(settings->mechanism, steps);
}

void World::draw_beginning(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15U + 5);
  if (random() % 3 != 0) return;
  std::normal_distribution<double> normal;
  carried.emplace();
  for (std::size_t j = 0; j < config::centre_size(settings->config); ++j) carried->theta.push_back(normal(random));
  if (random() % 2 == 0 || settings->config.moments) return;  // running sums have no average
  carried->average = carried->theta;
  carried->average_weight = static_cast<double>(1 + random() % 50);
}

engine::EpochLedger ledger_of(const World& world, const secrets::Keyring& keys) {
  const config::Config& config = world.settings->config;
  return {{config.stream, LaneId{0}, EpochId{0}, Position{0}, journal::Overlap::disjoint, world.settings->digest,
           config.privacy.neighbours(), keys.is_private()},
          world.settings->mechanism,
          {}};
}

bool show_the_same(const Shown& one, const Shown& two, bool same_commits) {
  const auto agrees = [&](const auto& commit) {
    const auto found = two.lanes.find(commit.first);
    return found == two.lanes.end() ? !same_commits : found->second == commit.second;
  };
  if (one.lanes.empty() || two.lanes.empty() || *one.lanes.rbegin() != *two.lanes.rbegin()) return false;
  return std::ranges::all_of(one.lanes, agrees) && one.releases == two.releases && one.metrics == two.metrics &&
         one.state == two.state && (!same_commits || one.ledger == two.ledger);
}

std::vector<std::string> states_before(const World& world, std::uint64_t seed, const record::RowBatch& rows,
                                       const std::vector<std::uint64_t>& stops) {
  const secrets::Keyring keys = secrets::Keyring::insecure(seed);
  const config::Mechanism& mechanism = world.settings->mechanism;
  const Committed start{
      {}, engine::noise_of_new_epoch(keys, world.settings->config.stream, LaneId{0}, EpochId{0}, mechanism)};
  Life life(world, keys, {}, rows, std::nullopt, start);
  std::vector<std::string> all;
  for (const std::uint64_t stop : stops) {
    life.go_to(stop);
    all.push_back(life.lane().encode());
  }
  return all;
}

Shown run(const World& world, std::uint64_t seed, const record::RowBatch& rows, const Shifts& shifts, Fate& fate) {
  const config::Config& config = world.settings->config;
  const config::Mechanism& mechanism = world.settings->mechanism;
  const secrets::Keyring keys = secrets::Keyring::insecure(seed);
  engine::EpochLedger ledger = ledger_of(world, keys);
  const std::optional<StepCount> limit = ledger.limit(config.privacy.budget, Position{0});
  Committed committed{{}, engine::noise_of_new_epoch(keys, config.stream, LaneId{0}, EpochId{0}, mechanism)};
  auto life = std::make_unique<Life>(world, keys, shifts, rows, limit, committed);
  Shown shown;
  StepCount sealed{0};
  journal::ReleaseChain releases{config.descent.release_every};
  for (const std::uint64_t commit : fate.commits) {
    if (const auto death = fate.deaths.find(commit); death != fate.deaths.end()) {
      life->go_to(std::max(committed.steps, death->second));
      if (life->lane().steps().value() > committed.steps) ++fate.lost;
      life = std::make_unique<Life>(world, keys, shifts, rows, limit, committed);
    }
    life->go_to(commit);
    if (commit == world.steps) life->release_the_end();
    committed = life->commit();
    shown.lanes[commit] = committed.lane;
    const journal::Hash durable = releases.head;
    shown.releases += journal::chained(life->released(), releases, keys);
    const engine::Estimator& lane = life->lane();
    const std::optional<StepCount> before = commit == fate.commits.front() ? std::nullopt : std::optional(sealed);
    sealed = lane.steps();
    shown.ledger += ledger.append_lines(
        {sealed, Position{world.window.touched(lane.position().value())}, before, commit == world.steps}, keys,
        durable);
  }
  const engine::Estimator& lane = life->lane();
  serve::PublicSurface surface(config.stream);
  surface.open_lane(
      {engine::release_header(config, {LaneId{0}, EpochId{0}, world.settings->digest, keys.is_private()}),
       mechanism.spend.limit(), mechanism.main().sigma, mechanism.main().sensitivity, config.descent.schedule,
       config.privacy.budget, StepCount{config.descent.release_every}});
  surface.update(serve::CommittedSpend::committed(ledger.entry(lane.steps(), lane.position()),
                                                  ledger.total(lane.steps(), lane.position())));
  if (!shown.releases.empty()) surface.update(serve::CommittedRelease::published(shown.releases));
  shown.metrics = surface.metrics();
  shown.state = surface.state();
  return shown;
}

}  // namespace nustream::tests
