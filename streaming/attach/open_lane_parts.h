// What a lane worker holds while its lane is open. This header is private to the sources of the lane worker.
#pragma once

#include <memory>
#include <utility>

#include "attach/lane_transactions.h"
#include "attach/lane_worker.h"
#include "attach/open_batch.h"
#include "engine/release_encoder.h"

namespace nustream::attach {

[[nodiscard]] inline kafka::Offset offset_of(Position position) {
  return kafka::Offset{static_cast<std::int64_t>(position.value())};
}

/// Everything that is destroyed when the lane is closed or opened anew.
struct LaneWorker::Open {
  Open(Host& host, OpenedLane opened, std::unique_ptr<engine::NoiseSupply> noise,
       serve::OperatorMetrics::Lane& metrics, Kept& kept)
      : state(std::move(opened.state)),
        input(host.setup.config, host.setup.keys, state.id(), state.users ? &state.users->key() : nullptr,
              state.lane.position(), state.stop, host.setup.letter_bytes_max),
        batch(batch_limits(host.setup), state.lane, std::move(noise),
              engine::release_encoder(host.setup.config, *state.mechanism,
                                      {state.id(), state.ledger.identity().epoch, state.ledger.identity().digest,
                                       host.setup.keys.is_private()},
                                      [ledger = state.ledger](Rho spent, StepCount steps, Position position) {
                                        return ledger.total(spent, steps, position);
                                      }),
              state.ledger.limit(host.setup.config.privacy.budget, state.lane.position()), opened.released,
              std::chrono::steady_clock::now()),
        transactions(host.setup, state, std::move(opened.journal), host.shown, metrics, kept) {}

  /// Whether a lane that ends has another transaction to make: for its last batch, for the releases of that batch, or
  /// for a ledger line. A line is owed where the last one reserves steps that were not taken; it also names the last
  /// release.
  [[nodiscard]] bool owes_anything() const {
    return !batch.is_empty() || transactions.owes_releases() || state.ledger.reserves_beyond(state.lane.steps());
  }

  LaneState state;
  bool begins = state.lane.steps().value() == 0;  ///< the lane had taken no step when it was opened
  LaneInput input;
  OpenBatch batch;
  LaneTransactions transactions;
};

}  // namespace nustream::attach
