// One lane of a topic on the event loop: records in, transactions out, from assignment to hand-over.
#pragma once

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "attach/backoff.h"
#include "attach/host.h"
#include "attach/lane_end.h"
#include "attach/lane_input.h"
#include "attach/lane_machine.h"
#include "attach/lane_tally.h"
#include "attach/lane_transactions.h"
#include "attach/open_lane.h"
#include "decode/json_names.h"
#include "error.h"

namespace nustream::attach {

/// The lane on the event loop: records go into its open batch, batches into its transactions, and timers and calls
/// from outside become events of its machine (lane_machine.h), which alone says what may follow. Everything runs on
/// the loop's thread, which never waits in here; what may wait, opening a lane and closing its clients, runs on a
/// spare one. Held by shared_ptr: work under way keeps it alive.
class LaneWorker : public std::enable_shared_from_this<LaneWorker> {
 public:
  struct Listener {
    std::function<void(LaneId, const LaneEnd&)> stopped;  ///< everything is published that ever will be
    std::function<void(LaneId)> gone;                     ///< the answer to drain() and drop(), once, perhaps at once
    /// A topic lacks the lane's partition, for the reason given, whenever the lane has looked; or, with an empty
    /// reason, no topic does.
    std::function<void(LaneId, const std::string&)> lacks_partition;
    /// Before a lane that waited looks again: true where it is dropped, since another one waits for its place.
    std::function<bool(LaneId)> gives_way{};
  };

  LaneWorker(Host& host, LaneId lane, std::uint32_t partitions, Listener listener);
  ~LaneWorker();
  LaneWorker(const LaneWorker&) = delete;
  LaneWorker& operator=(const LaneWorker&) = delete;

  /// Takes the lane over. Once.
  void open();
  void take(std::span<const kafka::Message> messages);
  void end_of_partition(std::uint64_t offset);
  /// True while more records wait here than the next batch takes, and those behind them had better wait in the
  /// client's queue.
  [[nodiscard]] bool is_full() const;
  /// Stops reading a lane that is full, until it is half empty or has no minibatch left. What the client had fetched
  /// is lost and fetched again.
  void pause_if_full();
  /// Now and then: figures that nothing else changes.
  void tick();
  /// Commits and publishes what was stepped, then goes. `tag`: of an extra release, empty for none.
  void drain(const std::string& tag);
  /// Goes as it is: the lane belongs to others, nothing of it may be committed any more.
  void drop();
  /// The lane cannot go on for a reason from outside.
  void fail(const Failure& failure);
  /// The same, where it is the input alone that fails: what was read before is still committed and published.
  void fail_to_read(const Failure& failure);
  /// The next record's place in the partition, for messages.
  [[nodiscard]] std::string where() const;
  /// The group's coordinator has confirmed the membership: a fenced lane may come back.
  void membership_confirmed();

  /// A record of the combined model, between two of the lane's own transactions, as soon as the lane is open.
  void publish_model(std::string model);

  [[nodiscard]] LaneId id() const noexcept { return lane_; }
  [[nodiscard]] LaneStage stage() const noexcept { return stage_; }

 private:
  struct Open;

  [[nodiscard]] bool enter(LaneEvent event);
  [[nodiscard]] bool goes_quiet(LaneEvent event, bool opening);
  void end_with(LaneEvent event);
  void show(serve::LaneStatus state, std::string reason = {});
  [[nodiscard]] kafka::PartitionIndex partition() const;

  // How it is taken over: lane_opening.cpp.
  void open_again();
  void start_opening();
  void opened(const std::exception_ptr& failure, std::unique_ptr<OpenedLane> lane);
  void open_again_after(std::chrono::milliseconds time, LaneEvent event, const std::string& reason);
  void wait_for_partition(const std::string& reason);
  void wait_for_others(const std::string& reason);
  void begin_running(std::unique_ptr<OpenedLane> lane);
  void show_restored(const OpenedLane& lane);
  void show_past(EpochId epoch);
  void start_reading();

  // Records in, batches out: lane_worker.cpp.
  void look_at_first(std::size_t before);
  void pump();
  void step_batch();
  [[nodiscard]] bool step_or_fail();
  void regulate_input();
  void schedule();
  [[nodiscard]] bool is_due(std::chrono::steady_clock::time_point now) const;
  void commit_if_due();
  [[nodiscard]] journal::Completion completion();
  [[nodiscard]] LaneTransactions::Member member() const;
  void transaction_ended(const std::exception_ptr& failure);
  void send_again();

  // Trouble, and the end: lane_ends.cpp.
  [[nodiscard]] bool gave_up();
  void all_is_well();
  void fail_or_reopen(const kafka::Error& error);
  void reopen(const kafka::Error& error);
  void ask_the_group();
  void retry_later(void (LaneWorker::*work)());
  void settle();
  [[nodiscard]] std::optional<LaneEnd> reached_end();
  void lose_writer(const std::string& reason);
  void stop(bool keeps_writer);
  void go();
  void dispose();

  Host& host_;
  LaneId lane_;
  std::uint32_t partitions_;
  Listener listener_;
  LaneStage stage_ = LaneStage::idle;
  serve::OperatorMetrics::Lane& metrics_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
  std::unique_ptr<Open> open_;           // what an opened lane has
  boost::asio::steady_timer timer_;      // of what is tried again
  boost::asio::steady_timer due_timer_;  // of what closes by time
  boost::asio::steady_timer read_timer_;
  Backoff backoff_;
  Kept kept_;
  decode::MemberNames names_;       // that the first records have
  LaneTally tally_;                 // of this process, however often the lane is opened
  std::optional<Failure> failure_;  // why it is flushing, stopping or stopped
  std::optional<LaneEnd> end_;      // why it is finishing or finished
};

}  // namespace nustream::attach
