// What a lane needs of the process around it.
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
#include "engine/noise_feed.h"
#include "kafka/group_consumer.h"
#include "secrets/locked_memory.h"
#include "serve/operator_surface.h"
#include "serve/public_surface.h"

namespace nustream::attach {

/// The lanes of one process share it, and use it on the loop's thread. It outlives them.
struct Host {
  boost::asio::io_context& loop;
  const Setup& setup;
  const config::Mechanism& mechanism;  ///< copied for each lane
  kafka::GroupConsumer& consumer;
  serve::PublicSurface& shown;
  serve::OperatorSurface& operators;
  secrets::LockedMemory& locked;
  Renewal renewal;
  /// The lanes that this process has opened before: `renewal` applies to the first opening of a lane alone.
  std::set<LaneId> opened;
  const std::atomic<bool>& out_of_time;  ///< the process ends now: what is under way is left as it is

  std::chrono::milliseconds
      fenced_pause;  ///< two heartbeats of the group: until then a fenced lane does not come back
  /// Called after a lane took, or gave up, records that waited: reading may go on.
  std::function<void()> look_for_room;
  std::function<void()> answered;  ///< called after a commit, and after any other sign that the brokers are there
  std::function<bool()> brokers_are_silent;  ///< true where a request would probably go unanswered now
  std::function<void(std::function<void()>)> on_commit_thread;  ///< for slices of transactions
  std::function<void(std::function<void()>)> on_noise_thread;
  std::function<void(std::function<void()>)> on_spare_thread;  ///< for what may wait long: opening and closing lanes
  /// Wraps a lane's noise supply. Only tests set it; it is empty in production.
  std::function<std::unique_ptr<engine::NoiseSupply>(LaneId, std::unique_ptr<engine::NoiseSupply>)> wrap_noise;
  std::minstd_rand jitter;  ///< for the length of pauses
  /// Told of every event of every lane. Only tests set it; it is empty in production.
  std::function<void(LaneId, LaneStage from, LaneEvent, LaneStage to)> watch_stages{};
  /// How many times in a row a lane has had to wait for other lanes. It is kept here since a lane may leave and come
  /// back in between.
  std::map<LaneId, int> waited{};
};

}  // namespace nustream::attach
