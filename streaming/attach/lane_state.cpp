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
  record.seen = state.seen.below(position);
  TopicUsers::Closed users;
  if (state.users) {
    users = state.users->close();
    record.users = std::move(users.state);
  }
  journal::Batch batch = engine::seal_batch(setup.keys, state.lane, state.ledger, state.releases, std::move(record),
                                            {engine::Keeping::topics, position, state.steps_sealed, content.closes});
  state.steps_sealed = steps;
  batch.dead_letters = std::move(content.dead_letters);
  batch.user_records = std::move(users.records);
  return batch;
}

}  // namespace nustream::attach
