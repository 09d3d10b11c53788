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

#include "attach/host.h"
#include "attach/lane_input.h"
#include "attach/open_lane.h"
#include "engine/stepper.h"
#include "error.h"

namespace nustream::attach {

/// Why a lane does nothing any more, and the exit code that stands for it.
struct LaneEnd {
  Exit code;
  std::string reason;  ///< for the operator
};

struct BatchFigures;

/// A state machine: opening → running → (draining →) gone, and back to opening where its producer has to be made
/// anew. A lane that cannot go on is stopped, and stays with its process until that is told to let it go. Everything
/// runs on the loop's thread, which never waits in here. Held by shared_ptr: work under way keeps it alive.
class LaneWorker : public std::enable_shared_from_this<LaneWorker> {
 public:
  struct Listener {
    std::function<void(LaneId, const LaneEnd&)> stopped;  ///< everything is published that ever will be
    std::function<void(LaneId)> gone;                     ///< the answer to drain() and drop(), once, perhaps at once
    /// A topic lacks the lane's partition, for the reason given; or, with an empty one, no longer does.
    std::function<void(LaneId, const std::string&)> lacks_partition;
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

 private:
  enum class Letters { whole, reasons, none };  ///< what of dead letters is written
  enum class Phase { idle, opening, waiting, fenced, running, draining, stopped, gone };
  struct Open;

  void start_opening();
  void opened(const std::exception_ptr& failure, std::unique_ptr<OpenedLane> lane);
  void wait_for_partition(const std::string& reason);
  void begin_running(std::unique_ptr<OpenedLane> lane);
  void show_restored(const OpenedLane& lane);
  void start_reading();

  void pump();
  void step_batch();
  void collect_rejects();
  [[nodiscard]] std::size_t batch_room() const;
  [[nodiscard]] bool is_reading() const;
  void regulate_input();
  void schedule();
  void commit_if_due();
  [[nodiscard]] bool is_due(std::chrono::steady_clock::time_point now) const;
  [[nodiscard]] bool has_uncommitted() const;
  [[nodiscard]] bool is_busy() const;
  void commit();
  void send();
  void send_model();
  void resend_model();
  void committed(const std::exception_ptr& failure);
  void after_commit();
  void count(const BatchFigures& figures);
  void after_abort(const kafka::Error& error);
  void settle();
  [[nodiscard]] bool give_up_letters(const kafka::Error& error);
  void shorten_letters();

  void fail_or_reopen(const kafka::Error& error);
  void reopen(const kafka::Error& error);
  void ask_the_group();
  void retry_later(void (LaneWorker::*work)());
  void stop(const Failure& failure);
  void lose_writer(const std::string& reason);
  void drained();
  void go();
  void dispose();
  void set_state(serve::LaneState state, std::string reason = {});
  [[nodiscard]] bool gave_up();
  void all_is_well();
  [[nodiscard]] bool ends_here();
  [[nodiscard]] kafka::PartitionIndex partition() const;

  Host& host_;
  LaneId lane_;
  std::uint32_t partitions_;
  Listener listener_;
  Phase phase_ = Phase::idle;
  serve::OperatorMetrics::Lane& metrics_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
  std::unique_ptr<Open> open_;           // what an opened lane has
  boost::asio::steady_timer timer_;      // of what is tried again
  boost::asio::steady_timer due_timer_;  // of what closes by time
  boost::asio::steady_timer read_timer_;
  std::optional<std::chrono::steady_clock::time_point> trouble_since_;
  unsigned attempts_ = 0;              // since the last success
  bool dropped_ = false;               // goes as soon as nothing is under way
  std::optional<Failure> failure_;     // waits for the transaction under way
  std::optional<Failure> unreadable_;  // waits until what was read before is published
  std::optional<LaneEnd> end_;         // why it stops, once everything is published
  bool end_told_ = false;
  bool lacks_partition_ = false;
  bool asked_ = false;                // the group, since the lane was fenced
  Letters letters_ = Letters::whole;  // never more again: an attempt that fails holds up releases
  std::optional<std::string> model_;  // waits for its turn
};

}  // namespace nustream::attach
