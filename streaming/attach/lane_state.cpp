// Collects what belongs into a state of a topic's lane, and seals it (engine/seal_batch.h). What the lane is at this
// moment and what the batch says have to fit, so that nothing steps in between.
#include "attach/lane_state.h"

#include <utility>

#include "engine/seal_batch.h"

namespace nustream::attach {

journal::Batch seal_lane(const Setup& setup, LaneState& state, BatchContent content, const std::string& bookmark) {
  const StepCount steps = state.lane.steps();
  const Position position = state.lane.position();
  journal::StateRecord record;
  record.ranges = setup.config.ranges;
  record.stop = state.stop;
  record.stop_asked = state.stop_asked;
  record.rejected = state.rejected;
  record.noise = std::move(content.noise);
  record.outbox = std::move(content.outbox);
  record.bookmark = bookmark;
  record.released = content.released;
  record.partitions = state.partitions;
  // Only marks of records below the position: rows that wait may be of records that no step has taken yet.
  record.seen = state.seen.below(position);
  engine::Sealing sealing{engine::Keeping::topics, position, state.steps_sealed, content.closes};
  // Once for each state: what the batch changed goes into records of the same transaction as the state.
  if (state.users) sealing.users = state.users->close();
  journal::Batch batch =
      engine::seal_batch(setup.keys, state.lane, state.ledger, state.releases, std::move(record), sealing);
  // The next line counts from this state on, whether or not its transaction succeeds: an aborted batch is sent again
  // as it is.
  state.steps_sealed = steps;
  batch.dead_letters = std::move(content.dead_letters);
  return batch;
}

}  // namespace nustream::attach
