// What an attached process does on its event loop: it handles the group's events, signals, timers and listeners, and
// runs the lanes.
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
#include "attach/front.h"
#include "attach/host.h"
#include "attach/lane_worker.h"
#include "attach/model_clock.h"
#include "attach/roster.h"
#include "attach/service_machine.h"
#include "kafka/group_consumer.h"

namespace nustream::attach {

/// One process's part in a stream. It is constructed, run once and destroyed on one thread, the loop's.
class Service {
 public:
  /// Works on the loop and the surfaces of `front`, which outlives it, as `setup` and `mechanism` do. The input has
  /// `partitions` partitions.
  Service(Front& front, const Setup& setup, const config::Mechanism& mechanism, std::uint32_t partitions,
          const Options& options);
  ~Service();

  /// Runs until nothing is left to do, or a signal ends it. Returns the exit code. Throws the Failure that ended it.
  [[nodiscard]] Exit run();
  /// Ends the service as SIGTERM does, but without a release. run() then returns, and renews() is true unless a
  /// signal came as well.
  void renew();
  [[nodiscard]] bool renews() const noexcept { return renews_; }

 private:
  struct Revocation {
    std::vector<kafka::PartitionIndex> partitions;
    std::set<LaneId> waiting_for;
  };

  /// Threads for work that the loop's thread must not wait for: slices of transactions, blocks of noise, and the
  /// opening and closing of lanes.
  struct Pools {
    boost::asio::thread_pool commit;
    boost::asio::thread_pool noise;
    boost::asio::thread_pool spare;
  };
  struct Timers {
    explicit Timers(boost::asio::io_context& loop) : ticker(loop), deadline(loop), closer(loop), holder(loop) {}
    boost::asio::steady_timer ticker;
    boost::asio::steady_timer deadline;  // until when lanes that are revoked, or all lanes at the end, may drain
    boost::asio::steady_timer closer;
    boost::asio::steady_timer holder;
    std::chrono::steady_clock::time_point close_until{};
  };
  struct Reading {
    boost::asio::posix::stream_descriptor wake;
    std::map<LaneId, std::vector<kafka::Message>> arrived{};  // records of this round of events
    bool held = false;  // events wait until no lane is full, or for hold_max at most
  };

  [[nodiscard]] bool enter(ServiceEvent event);
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
  [[nodiscard]] bool lane_gives_way(LaneId lane);
  void show_waiting(LaneId lane);
  void end_if_none_can_go_on();
  void finish_revocation();
  void keep_model_clock();
  void model_looked(std::optional<ModelClock::Look> look);
  void tell_of_model(const std::vector<LaneId>& waits_for);
  void tick();
  void look_at_brokers();
  void tell_of_joining() const;
  void tell_of_brokers();
  void ask_brokers();
  void shut_down(const std::string& tag);
  void close_if_drained();
  void watch_close();
  void fail(const Failure& failure);

  const Setup& setup_;
  std::uint32_t partitions_;
  std::atomic<bool> out_of_time_{false};
  boost::asio::io_context& loop_;
  serve::OperatorSurface& operators_;
  Pools pools_;
  kafka::GroupConsumer consumer_;
  Host host_;
  boost::asio::signal_set signals_;
  Timers timers_;
  Reading reading_;
  BrokerWatch brokers_;

  std::map<LaneId, std::shared_ptr<LaneWorker>> lanes_;
  Roster roster_;
  std::optional<Revocation> revocation_;
  std::unique_ptr<ModelClock> model_clock_;  // while lane 0 is here
  std::vector<LaneId> model_waits_for_;      // as the log said it last
  std::optional<Failure> failure_;
  Exit exit_ = Exit::done;
  bool renews_ = false;  // the process is to start again after run()
  ServiceStage stage_ = ServiceStage::joining;
  int looks_left_ = 0;  // how often the combined model is still looked at before the end; 0: no end is waiting for it
};

}  // namespace nustream::attach
