// One process of a run over records of users: it goes on from a commit, and is lost or commits again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coupled_users.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "secrets/locked_memory.h"

namespace nustream::tests {

inline record::RowBatch rows_behind(const record::RowBatch& rows, std::uint64_t count) {
  const auto from = static_cast<std::ptrdiff_t>(count);
  record::RowBatch left;
  left.dimension = rows.dimension;
  left.x.assign(rows.x.begin() + from * static_cast<std::ptrdiff_t>(rows.dimension), rows.x.end());
  left.y.assign(rows.y.begin() + from, rows.y.end());
  left.next.assign(rows.next.begin() + from, rows.next.end());
  left.users.assign(rows.users.begin() + from, rows.users.end());
  if (!rows.times.empty()) left.times.assign(rows.times.begin() + from, rows.times.end());
  return left;
}

inline users::UserHash hash_of(const record::RowUser& user) {
  return {user.high, user.low};
}

/// What is kept at a commit.
struct CommittedUsers {
  std::string lane;
  journal::NoiseCheckpoints noise;
  std::uint64_t steps = 0;
  std::uint64_t released_at = 0;
  users::Table table{};
  std::optional<users::WindowClock> clock{};
};

/// One process of a run, which goes on from a commit.
class LifeOfUsers {
 public:
  LifeOfUsers(const WorldOfUsers& world, const secrets::Keyring& keys, const Shifts& shifts,
              const record::RowBatch& rows, std::optional<StepCount> limit, const CommittedUsers& from)
      : minibatch_(world.minibatch()),
        rows_(rows_behind(rows, from.steps * minibatch_)),
        table_(from.table),
        clock_(from.clock),
        noise_(std::make_unique<engine::NoiseFeed>(world.settings->mechanism, from.noise, StepIndex{from.steps},
                                                   &locked_, keys.healing(from.steps > 0)),
               shifts),
        lane_(from.lane.empty()
                  ? engine::first_estimator(world.settings->config, world.settings->mechanism, Position{0})
                  : engine::decoded_estimator(world.settings->config, world.settings->mechanism, from.lane)),
        encoder_(engine::release_encoder(world.settings->config, world.settings->mechanism,
                                         {LaneId{0}, EpochId{0}, world.settings->digest, keys.is_private()})),
        stepper_(lane_, noise_, encoder_, minibatch_, limit, from.released_at) {
    lane_.use(open_, clock_ ? &*clock_ : nullptr);
  }

  void go_to(std::uint64_t step) {
    if (step <= lane_.steps().value()) return;
    static_cast<void>(stepper_.step(rows_, (step - lane_.steps().value()) * minibatch_, output_));
  }
  void release_the_end() { stepper_.release_now("end", output_); }
  [[nodiscard]] const engine::Estimator& lane() const noexcept { return lane_; }
  [[nodiscard]] std::string released() { return std::exchange(output_.outbox, {}); }
  [[nodiscard]] CommittedUsers commit() {
    closed_.take_over(open_);
    closed_.apply(table_);
    return {lane_.encode(), noise_.checkpoints(), lane_.steps().value(), stepper_.released_at(), table_, clock_};
  }

 private:
  std::uint64_t minibatch_;
  record::RowBatch rows_;
  users::Table table_;
  users::Changes closed_{table_};
  users::Changes open_{table_, closed_};
  std::optional<users::WindowClock> clock_;
  secrets::LockedMemory locked_;
  ShiftedNoise noise_;
  engine::Estimator lane_;
  publish::ReleaseEncoder encoder_;
  engine::Stepper stepper_;
  engine::Output output_;
};

inline CommittedUsers beginning(const WorldOfUsers& world, const secrets::Keyring& keys) {
  const config::Config& config = world.settings->config;
  CommittedUsers first{
      {}, engine::noise_of_new_epoch(keys, config.stream, LaneId{0}, EpochId{0}, world.settings->mechanism)};
  if (world.limits().windows()) first.clock.emplace(world.limits().windows()->period);
  return first;
}

}  // namespace nustream::tests
