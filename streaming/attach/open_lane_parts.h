// What a lane worker holds while its lane is open: private to the sources of the lane worker.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attach/lane_worker.h"
#include "engine/release_encoder.h"
#include "publish/release_json.h"
#include "serve/operator_metrics.h"

namespace nustream::attach {

[[nodiscard]] inline kafka::Offset offset_of(Position position) {
  return kafka::Offset{static_cast<std::int64_t>(position.value())};
}

/// What the operator is told of a batch, once it is committed: one that is computed again counts once.
struct BatchFigures {
  std::uint64_t records = 0;
  std::array<std::uint64_t, serve::reject_reasons.size()> rejected{};  ///< records, by reason
  std::uint64_t letters_lost = 0;                                      ///< given up
  std::optional<double> clipped_ratio;                                 ///< none: no record
  std::optional<double> seconds;  ///< from the first record to the close; none: no record
};

/// Everything that goes when the lane is opened anew.
struct LaneWorker::Open {
  Open(Host& host, OpenedLane opened, std::unique_ptr<engine::NoiseSupply> supply)
      : journal(std::move(opened.journal)),
        state(std::move(opened.state)),
        noise(std::move(supply)),
        encoder(engine::release_encoder(
            host.setup.config, *state.mechanism,
            {state.id(), state.ledger.identity().epoch, host.setup.digest, host.setup.keys.is_private()})),
        stepper(state.lane, *noise, encoder, host.setup.config.descent.minibatch,
                state.ledger.limit(host.setup.config.privacy.budget, state.lane.position()), opened.released.value()),
        input(host.setup.config, host.setup.keys, state.lane.position(), state.stop, host.setup.letter_bytes_max),
        batch_opened(std::chrono::steady_clock::now()),
        committed(state.lane.position()) {}

  std::unique_ptr<kafka::KafkaJournal> journal;
  LaneState state;
  std::unique_ptr<engine::NoiseSupply> noise;
  publish::ReleaseEncoder encoder;
  engine::Stepper stepper;
  LaneInput input;

  engine::Output output;  // of the open batch
  std::vector<journal::DeadLetter> letters;
  BatchFigures figures;  // all but the records
  std::size_t sent_letter_bytes = 0;
  std::uint64_t batch_records = 0;
  std::chrono::steady_clock::time_point batch_opened;
  Position committed;  // of the last commit
  std::uint64_t clipped_before = 0;
  bool limit_reached = false;
  bool paused = false;
  bool reading = false;  // from the lane's position on

  bool in_flight = false;  // a transaction is under way
  bool resend = false;     // an aborted batch waits to be sent again: no other may go before it
  journal::Batch sent{{}, Position{0}, {}, {}, {}, {}};
  std::string published;  // outbox of the batch before: public with the commit
  BatchFigures sent_figures;
  std::chrono::steady_clock::time_point sent_at;
  std::optional<std::chrono::steady_clock::time_point> outbox_since;  // when the committed outbox began to wait
  std::chrono::steady_clock::time_point outbox_closed;                // when its batch closed
  std::chrono::steady_clock::time_point published_closed;
};

}  // namespace nustream::attach
