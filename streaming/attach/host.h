// What a lane asks of the process around it.
#pragma once

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "attach/lane_machine.h"
#include "attach/lane_state.h"
#include "attach/open_lane.h"
#include "engine/noise_supply.h"
#include "kafka/group_consumer.h"
#include "secrets/locked_memory.h"
#include "serve/operator_surface.h"
#include "serve/public_surface.h"

namespace nustream::attach {

/// Shared by the lanes of one process, on the loop's thread. Outlives them.
struct Host {
  boost::asio::io_context& loop;
  const Setup& setup;
  const config::Mechanism& mechanism;  ///< copied for each lane
  kafka::GroupConsumer& consumer;
  serve::PublicSurface& shown;
  serve::OperatorSurface& operators;
  secrets::LockedMemory& locked;
  Renewal renewal;
  std::set<LaneId> opened;               ///< once each since the process began: `renewal` was for that
  const std::atomic<bool>& out_of_time;  ///< the process ends now: what is under way is left as it is

  std::chrono::milliseconds
      fenced_pause;                     ///< two heartbeats of the group: until then a fenced lane does not come back
  std::function<void()> look_for_room;  ///< after a lane took, or gave up, records that waited: reading may go on
  std::function<void()> answered;       ///< after a commit, or whatever else shows that the brokers are there
  std::function<bool()> brokers_are_silent;  ///< as far as is known: no time to ask them for anything
  std::function<void(std::function<void()>)> on_commit_thread;  ///< for slices of transactions
  std::function<void(std::function<void()>)> on_noise_thread;
  std::function<void(std::function<void()>)> on_spare_thread;  ///< for what may wait long: opening and closing lanes
  /// A noise of the test's in place of the lane's own; empty in production, and only there for tests to set.
  std::function<std::unique_ptr<engine::NoiseSupply>(LaneId, std::unique_ptr<engine::NoiseSupply>)> wrap_noise;
  std::minstd_rand jitter;  ///< of pauses
  /// Told of every event of every lane; empty in production, and only there for tests to set.
  std::function<void(LaneId, LaneStage from, LaneEvent, LaneStage to)> watch_stages{};
  std::map<LaneId, int> waited{};  ///< for other lanes, times in a row, in whichever of its turns
};

}  // namespace nustream::attach
