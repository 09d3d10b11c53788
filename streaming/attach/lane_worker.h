// One lane of a topic on the event loop, from its assignment to its hand-over: records come in, transactions go out.
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
#include "attach/lane_input.h"
#include "attach/lane_log.h"
#include "attach/lane_machine.h"
#include "attach/lane_tally.h"
#include "attach/lane_transactions.h"
#include "attach/open_lane.h"
#include "decode/json_names.h"
#include "error.h"

namespace nustream::attach {

/// Runs one lane. Records go into its open batch and batches into its transactions. Timers and calls from outside
/// become events of its machine (lane_machine.h), which alone says what may follow. Everything runs on the loop's
/// thread, which never waits in here. Opening the lane and closing its clients may take long, and run on a spare
/// thread. A worker is held by shared_ptr, so that work under way keeps it alive.
class LaneWorker : public std::enable_shared_from_this<LaneWorker> {
 public:
  struct Listener {
    std::function<void(LaneId, const LaneEnd&)> stopped;  ///< the lane has published all that it ever will
    std::function<void(LaneId)> gone;  ///< answers drain() and drop(), once, perhaps before they return
    /// Called each time the lane has looked for its partitions. The reason says which topic lacks one, or which other
    /// lane this one has waited for in vain; it is empty where nothing is missing.
    std::function<void(LaneId, const std::string&)> lacks_partition;
    /// Called before a lane that waited looks again. True where the lane was dropped, since another lane waits for
    /// its place among kafka.max_lanes.
    std::function<bool(LaneId)> gives_way{};
  };

  LaneWorker(Host& host, LaneId lane, std::uint32_t partitions, Listener listener);
  ~LaneWorker();
  LaneWorker(const LaneWorker&) = delete;
  LaneWorker& operator=(const LaneWorker&) = delete;

  /// Takes the lane over. To be called once.
  void open();
  void take(std::span<const kafka::Message> messages);
  void end_of_partition(std::uint64_t offset);
  /// True while more records wait here than the next batch takes. Those behind them had better wait in the client's
  /// queue.
  [[nodiscard]] bool is_full() const;
  /// Stops reading a lane that is full, until it is half empty or has less than a minibatch left. The client then
  /// drops the records that it has fetched, and fetches them again later.
  void pause_if_full();
  /// To be called about once a second: updates figures that change with the time alone, such as the lag.
  void tick();
  /// Commits and publishes what was stepped, then leaves. `tag` names an extra release of the present state, such as
  /// "shutdown"; where it is empty there is none.
  void drain(const std::string& tag);
  /// Leaves without another commit: the lane belongs to another member now.
  void drop();
  /// Stops the lane, which cannot go on for the given reason.
  void fail(const Failure& failure);
  /// Stops the lane where its input alone fails: records that were read before are still committed and published.
  void fail_to_read(const Failure& failure);
  /// The next record's place in the partition, for messages.
  [[nodiscard]] std::string where() const;
  /// The group's coordinator has confirmed the membership: a fenced lane may come back.
  void membership_confirmed();

  /// Publishes a record of the combined model between two of the lane's own transactions, as soon as the lane is
  /// open. A later record replaces one that still waits.
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
  [[nodiscard]] bool commit_if_due();
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
  std::unique_ptr<Open> open_;           // null unless the lane is open
  boost::asio::steady_timer timer_;      // for what is tried again
  boost::asio::steady_timer due_timer_;  // for a batch that closes, or an outbox that is published, by time
  boost::asio::steady_timer read_timer_;
  Backoff backoff_;
  Kept kept_;
  decode::MemberNames names_;       // the members of the first JSON records, to tell which column is missing
  LaneTally tally_;                 // counts since the process began, however often the lane is opened
  std::optional<Failure> failure_;  // why it is flushing, stopping or stopped
  std::optional<LaneEnd> end_;      // why it is finishing or finished
};

}  // namespace nustream::attach
