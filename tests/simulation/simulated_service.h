// A process of `attach` without threads: its lanes over the simulated broker, on an event loop that the test turns by
// hand.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "attach/lane_worker.h"
#include "simulated_broker.h"

namespace nustream::tests {

/// Takes the place of attach::Service: gives the same events to the same lanes, one at a time, in an order drawn from
/// a seed. Every step may throw SimulatedCrash; after that only the destructor may be called.
class SimulatedService {
 public:
  using WrapNoise = decltype(attach::Host::wrap_noise);

  SimulatedService(SimulatedBroker& broker, const attach::Setup& setup, const config::Mechanism& mechanism,
                   std::uint32_t partitions, std::uint64_t seed, attach::Renewal renewal = {},
                   WrapNoise wrap_noise = {});
  ~SimulatedService();
  SimulatedService(const SimulatedService&) = delete;
  SimulatedService& operator=(const SimulatedService&) = delete;

  /// Does one thing; returns false where there was nothing to do at this time.
  bool step();
  /// Wakes everything that waits for a time that has come.
  void look_at_the_clock();
  /// Asks the service to end, as SIGTERM does.
  void shut_down();
  /// Whether no lane is left after a shut_down().
  [[nodiscard]] bool is_drained() const { return ending_ && workers_.empty(); }
  /// The reason why the process would end by itself; empty where there is none.
  [[nodiscard]] const std::optional<attach::LaneEnd>& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::map<LaneId, attach::LaneEnd>& stopped() const noexcept { return stopped_; }

  SimulatedBroker::Process process;  ///< the process whose calls are counted
  /// The number of partitions that the process found at its start.
  [[nodiscard]] std::uint32_t partitions() const noexcept { return partitions_; }
  [[nodiscard]] const serve::PublicSurface& shown() const noexcept { return shown_; }

 private:
  void use() const;
  void watch(LaneId lane, attach::LaneStage from, attach::LaneEvent event, attach::LaneStage to);
  bool run_task();
  [[nodiscard]] bool is_full() const;
  bool poll_consumer();
  void deliver();
  void handle(kafka::Message&& message);
  void handle(const kafka::EndOfPartition& end);
  void handle(const kafka::Assigned& assigned);
  void handle(const kafka::Revoked& revoked);
  void handle(const kafka::Membership& membership);
  void handle(const kafka::PartitionError& error);
  void handle(const kafka::ClientError&) {}
  void open_lane(LaneId lane);
  void lane_gone(LaneId lane);
  void finish_revocation();

  SimulatedBroker& broker_;
  std::uint32_t partitions_;
  std::mt19937_64 random_;
  std::atomic<bool> out_of_time_{false};
  secrets::LockedMemory locked_;
  serve::PublicSurface shown_;
  serve::OperatorSurface operators_;
  std::unique_ptr<kafka::GroupConsumer> consumer_;
  boost::asio::io_context loop_;
  std::optional<attach::Host> host_;
  struct Task {
    std::function<void()> work;
    bool may_wait;  // it may wait for slices of transactions, which then run at once
  };
  std::deque<Task> tasks_;
  bool waits_inside_ = false;
  std::map<LaneId, std::shared_ptr<attach::LaneWorker>> workers_;
  std::map<LaneId, attach::LaneStage> stages_;  // the stages to which the lanes were led by their last event
  std::map<LaneId, std::vector<kafka::Message>> arrived_;
  std::set<LaneId> assigned_;
  std::map<LaneId, attach::LaneEnd> stopped_;
  std::optional<kafka::Revoked> revoked_;
  std::set<LaneId> waiting_for_;
  std::optional<attach::LaneEnd> failure_;
  bool ending_ = false;
};

}  // namespace nustream::tests
