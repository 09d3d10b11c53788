// The event loop of an attached process: the group's events, signals, timers and listeners around its lanes.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "attach/attach.h"
#include "attach/broker_watch.h"
#include "attach/host.h"
#include "attach/lane_worker.h"
#include "attach/model_clock.h"
#include "kafka/group_consumer.h"
#include "serve/servers.h"

namespace nustream::attach {

/// One process's part in a stream. Constructed, run once, destroyed on one thread, the loop's.
class Service {
 public:
  Service(const Setup& setup, const config::Mechanism& mechanism, std::uint32_t partitions, const Options& options);
  ~Service();

  /// Until nothing is left to do. Throws the Failure that ended it.
  [[nodiscard]] Exit run();

 private:
  struct Revocation {
    std::vector<kafka::PartitionIndex> partitions;
    std::set<LaneId> waiting_for;
  };

  void watch_consumer();
  [[nodiscard]] bool poll_round();
  void read_events();
  void poll_unasked();
  [[nodiscard]] bool is_full() const;
  void hold();
  void look_for_room();
  void deliver();
  void handle(kafka::Message&& message);
  void handle(const kafka::EndOfPartition& end);
  void handle(const kafka::Assigned& assigned);
  void handle(const kafka::Revoked& revoked);
  void handle(const kafka::PartitionError& error);
  void handle(const kafka::ClientError& error);
  void handle(const kafka::Membership& membership);

  void open_lane(LaneId lane);
  [[nodiscard]] bool keeps_model(LaneId lane) const;
  [[nodiscard]] std::size_t lanes_that_count() const;
  void lane_stopped(LaneId lane, const LaneEnd& end);
  void lane_gone(LaneId lane);
  void lane_lacks_partition(LaneId lane, const std::string& reason);
  void end_if_none_can_go_on();
  void finish_revocation();
  void keep_model_clock();
  void model_looked(std::optional<std::string> changed);
  void tick();
  void look_at_brokers();
  void tell_of_brokers();
  void ask_brokers();
  void shut_down(const std::string& tag);
  void close_if_drained();
  void watch_close();
  void fail(const Failure& failure);

  const Setup& setup_;
  std::uint32_t partitions_;
  std::atomic<bool> out_of_time_{false};
  secrets::LockedMemory locked_;  // before the loop: what it still holds at the end has keys in there
  boost::asio::io_context loop_;
  boost::asio::thread_pool commit_pool_;
  boost::asio::thread_pool noise_pool_;
  boost::asio::thread_pool spare_pool_;
  serve::PublicSurface shown_;
  serve::OperatorSurface operators_;
  std::optional<serve::Servers> servers_;
  kafka::GroupConsumer consumer_;
  Host host_;
  boost::asio::posix::stream_descriptor wake_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer closer_;
  boost::asio::steady_timer holder_;
  BrokerWatch brokers_;

  std::map<LaneId, std::shared_ptr<LaneWorker>> lanes_;
  std::map<LaneId, std::vector<kafka::Message>> arrived_;  // of this round
  std::set<LaneId> assigned_;
  std::map<LaneId, LaneEnd> stopped_;
  std::set<LaneId> waiting_;                // beyond max_lanes
  std::map<LaneId, std::string> homeless_;  // a topic lacks their partition: which, and what to do
  std::optional<Revocation> revocation_;
  std::unique_ptr<ModelClock> model_clock_;  // while lane 0 is here
  std::optional<Failure> failure_;
  Exit exit_ = Exit::done;
  bool told_out_ = false;  // of the group, in the log and to readiness
  bool held_ = false;      // reading, until a lane has room or has waited for long
  int looks_left_ = 0;     // of the combined model before the end
  bool ending_ = false;
  bool closing_ = false;
  std::chrono::steady_clock::time_point close_until_;
};

}  // namespace nustream::attach
