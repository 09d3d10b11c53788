// The life of a lane that is attached to a topic, and of its transactions: for each of the two, every stage, every
// event, and one table that says which event leads from which stage to which. docs/lane-states.md draws both tables,
// and a test compares the drawing with them.
//
// A lane is in one LaneStage at a time. While it is open, its transactions are in one TransactionStage beside that.
// The two are apart because almost every stage of an open lane goes on in the same way whether or not a transaction
// is under way. Only `stopping` and `leaving` depend on that: they wait for LaneEvent::quiet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attach/transition_table.h"

namespace nustream::attach {

enum class LaneStage : std::uint8_t {
  idle,       ///< made, not opened yet
  opening,    ///< being taken over, on a thread that may wait
  homeless,   ///< a topic lacks the lane's partition, or another lane has to do something first: looks again later
  looking,    ///< as `opening`, for a lane that was `homeless` before
  retrying,   ///< was interrupted: is opened again after a pause
  fenced,     ///< another producer has the lane, or the group has gone on: the group has not been asked yet
  asking,     ///< the group has been asked whether this process is its member, perhaps more than once
  starting,   ///< open; its partition is not read yet
  reading,    ///< open, and records come
  paused,     ///< as `reading`, but full: no record comes until there is room
  finishing,  ///< has reached its stop offset, horizon or budget, and publishes what it still owes
  finished,   ///< owes nothing; stays to write the combined model, and to be handed over
  draining,   ///< is handed over: commits and publishes what was stepped, then leaves
  flushing,   ///< cannot be read any more: commits and publishes what was read before, then stops
  stopping,   ///< cannot go on: waits for the transaction under way, then stops
  stopped,    ///< does nothing until the next start, except perhaps write the combined model
  leaving,    ///< commits nothing more: waits for the transaction or opening under way, then is gone
  gone,
};

enum class LaneEvent : std::uint8_t {
  open,             ///< the process was assigned the partition
  opened,           ///< the state is restored and durable, and nothing is owed
  lacks_partition,  ///< a topic has no partition for the lane
  must_wait,        ///< another lane has to do something first
  pause_over,       ///< the pause before another attempt is over
  asked,            ///< the question to the group is on its way
  confirmed,        ///< the group counts this process as its member
  reading_began,    ///< the client fetches records from the lane's position on
  full,             ///< more records wait than the next batch takes: the partition is paused
  room,             ///< the partition is resumed
  end_reached,      ///< stop offset, horizon or budget
  settled,          ///< everything that was stepped is committed and published
  interrupted,      ///< the end of a transaction, or of the opening, is unknown
  fenced_off,       ///< as `interrupted`, because another producer has the lane or the group goes on without it
  failed,           ///< the lane cannot go on until somebody mends something
  unreadable,       ///< the lane's input cannot be read
  drain,            ///< told to hand over
  drop,             ///< told to leave at once: the lane belongs to another member
  quiet,            ///< neither a transaction nor an opening is under way
};

enum class TransactionStage : std::uint8_t {
  none,           ///< the next one may begin
  batch,          ///< that of a batch is under way
  model,          ///< that of the combined model is under way
  batch_aborted,  ///< the very same batch is sent again after a pause, and nothing else before it
  model_aborted,  ///< waits for a pause to end; then a batch that is due goes first
  over,           ///< the producer is of no use any more: its last transaction was neither committed nor aborted
};

enum class TransactionEvent : std::uint8_t {
  send_batch,
  send_model,
  committed,
  aborted,     ///< nothing of it will ever be read as committed
  lost,        ///< it ended in any other way, so that nobody here knows whether it was committed
  pause_over,  ///< after the model's transaction was aborted
};

inline constexpr std::array lane_stage_names{
    std::string_view("idle"),     std::string_view("opening"),   std::string_view("homeless"),
    std::string_view("looking"),  std::string_view("retrying"),  std::string_view("fenced"),
    std::string_view("asking"),   std::string_view("starting"),  std::string_view("reading"),
    std::string_view("paused"),   std::string_view("finishing"), std::string_view("finished"),
    std::string_view("draining"), std::string_view("flushing"),  std::string_view("stopping"),
    std::string_view("stopped"),  std::string_view("leaving"),   std::string_view("gone")};
inline constexpr std::array lane_event_names{
    std::string_view("open"),        std::string_view("opened"),        std::string_view("lacks_partition"),
    std::string_view("must_wait"),   std::string_view("pause_over"),    std::string_view("asked"),
    std::string_view("confirmed"),   std::string_view("reading_began"), std::string_view("full"),
    std::string_view("room"),        std::string_view("end_reached"),   std::string_view("settled"),
    std::string_view("interrupted"), std::string_view("fenced_off"),    std::string_view("failed"),
    std::string_view("unreadable"),  std::string_view("drain"),         std::string_view("drop"),
    std::string_view("quiet")};
inline constexpr std::array transaction_stage_names{
    std::string_view("none"),          std::string_view("batch"),         std::string_view("model"),
    std::string_view("batch_aborted"), std::string_view("model_aborted"), std::string_view("over")};
inline constexpr std::array transaction_event_names{std::string_view("send_batch"), std::string_view("send_model"),
                                                    std::string_view("committed"),  std::string_view("aborted"),
                                                    std::string_view("lost"),       std::string_view("pause_over")};

namespace machine {

using Stages = StateSet<LaneStage>;
using LaneRule = Rule<LaneStage, LaneEvent>;
using TransactionRule = Rule<TransactionStage, TransactionEvent>;

/// Groups of stages, which the drawing has too.
inline constexpr Stages taking_over{LaneStage::opening, LaneStage::looking};
inline constexpr Stages closed{LaneStage::idle,     LaneStage::opening, LaneStage::homeless, LaneStage::looking,
                               LaneStage::retrying, LaneStage::fenced,  LaneStage::asking};
inline constexpr Stages running{LaneStage::starting, LaneStage::reading, LaneStage::paused};
inline constexpr Stages at_end{LaneStage::finishing, LaneStage::finished};
inline constexpr Stages going{LaneStage::leaving, LaneStage::gone};

inline constexpr std::array lane_rules{
    // The lane is taken over.
    LaneRule{{LaneStage::idle}, LaneEvent::open, LaneStage::opening},
    LaneRule{taking_over, LaneEvent::opened, LaneStage::starting},
    LaneRule{taking_over, LaneEvent::lacks_partition, LaneStage::homeless},
    LaneRule{taking_over, LaneEvent::must_wait, LaneStage::homeless},
    LaneRule{{LaneStage::homeless}, LaneEvent::pause_over, LaneStage::looking},
    LaneRule{{LaneStage::retrying}, LaneEvent::pause_over, LaneStage::opening},
    LaneRule{{LaneStage::fenced, LaneStage::asking}, LaneEvent::asked, LaneStage::asking},
    LaneRule{{LaneStage::asking}, LaneEvent::confirmed, LaneStage::opening},
    // The answer to another lane's question, or to an older one of this lane, says nothing of this lane now.
    LaneRule{{LaneStage::idle, LaneStage::opening, LaneStage::homeless, LaneStage::looking, LaneStage::retrying,
              LaneStage::fenced},
             LaneEvent::confirmed,
             std::nullopt},
    LaneRule{running | at_end | going |
                 Stages{LaneStage::draining, LaneStage::flushing, LaneStage::stopping, LaneStage::stopped},
             LaneEvent::confirmed, std::nullopt},
    // The lane is read.
    LaneRule{{LaneStage::starting}, LaneEvent::reading_began, LaneStage::reading},
    LaneRule{{LaneStage::reading}, LaneEvent::full, LaneStage::paused},
    LaneRule{{LaneStage::paused}, LaneEvent::room, LaneStage::reading},
    LaneRule{running, LaneEvent::end_reached, LaneStage::finishing},
    // Everything that was stepped is published.
    LaneRule{{LaneStage::finishing}, LaneEvent::settled, LaneStage::finished},
    LaneRule{{LaneStage::draining}, LaneEvent::settled, LaneStage::leaving},
    LaneRule{{LaneStage::flushing}, LaneEvent::settled, LaneStage::stopping},
    LaneRule{running | Stages{LaneStage::finished, LaneStage::stopped}, LaneEvent::settled, std::nullopt},
    // Trouble that another attempt may mend. A lane that is on its way out makes no such attempt: the process that
    // opens it next computes again what was not committed.
    LaneRule{taking_over | running | at_end, LaneEvent::interrupted, LaneStage::retrying},
    LaneRule{taking_over | running | at_end, LaneEvent::fenced_off, LaneStage::fenced},
    LaneRule{{LaneStage::draining}, LaneEvent::interrupted, LaneStage::leaving},
    LaneRule{{LaneStage::draining}, LaneEvent::fenced_off, LaneStage::leaving},
    LaneRule{{LaneStage::flushing}, LaneEvent::interrupted, LaneStage::stopping},
    LaneRule{{LaneStage::flushing}, LaneEvent::fenced_off, LaneStage::stopping},
    LaneRule{{LaneStage::stopped}, LaneEvent::interrupted, std::nullopt},  // of the combined model's transaction
    LaneRule{{LaneStage::stopped}, LaneEvent::fenced_off, std::nullopt},
    // Trouble that somebody has to mend.
    LaneRule{closed, LaneEvent::failed, LaneStage::stopped},
    LaneRule{running | at_end | Stages{LaneStage::flushing}, LaneEvent::failed, LaneStage::stopping},
    LaneRule{{LaneStage::draining}, LaneEvent::failed, LaneStage::leaving},
    LaneRule{going | Stages{LaneStage::stopping, LaneStage::stopped}, LaneEvent::failed, std::nullopt},
    // Only the input fails. A lane that has stopped reading already goes on to publish what it has, as if nothing had
    // happened.
    LaneRule{closed, LaneEvent::unreadable, LaneStage::stopped},
    LaneRule{running, LaneEvent::unreadable, LaneStage::flushing},
    LaneRule{
        at_end | going | Stages{LaneStage::draining, LaneStage::flushing, LaneStage::stopping, LaneStage::stopped},
        LaneEvent::unreadable, std::nullopt},
    // The lane is told to leave. A lane that is told to drain a second time leaves at once.
    LaneRule{running | at_end | Stages{LaneStage::flushing}, LaneEvent::drain, LaneStage::draining},
    LaneRule{closed | Stages{LaneStage::draining, LaneStage::stopping, LaneStage::stopped}, LaneEvent::drain,
             LaneStage::leaving},
    LaneRule{closed | running | at_end |
                 Stages{LaneStage::draining, LaneStage::flushing, LaneStage::stopping, LaneStage::stopped},
             LaneEvent::drop, LaneStage::leaving},
    LaneRule{going, LaneEvent::drain, std::nullopt},
    LaneRule{going, LaneEvent::drop, std::nullopt},
    LaneRule{{LaneStage::stopping}, LaneEvent::quiet, LaneStage::stopped},
    LaneRule{{LaneStage::leaving}, LaneEvent::quiet, LaneStage::gone},
};

inline constexpr std::array transaction_rules{
    TransactionRule{{TransactionStage::none, TransactionStage::batch_aborted},
                    TransactionEvent::send_batch,
                    TransactionStage::batch},
    TransactionRule{{TransactionStage::none}, TransactionEvent::send_model, TransactionStage::model},
    TransactionRule{
        {TransactionStage::batch, TransactionStage::model}, TransactionEvent::committed, TransactionStage::none},
    TransactionRule{{TransactionStage::batch}, TransactionEvent::aborted, TransactionStage::batch_aborted},
    TransactionRule{{TransactionStage::model}, TransactionEvent::aborted, TransactionStage::model_aborted},
    TransactionRule{{TransactionStage::model_aborted}, TransactionEvent::pause_over, TransactionStage::none},
    TransactionRule{
        {TransactionStage::batch, TransactionStage::model}, TransactionEvent::lost, TransactionStage::over},
};

inline constexpr TransitionTable<LaneStage, lane_stage_names.size(), LaneEvent, lane_event_names.size()> lane_table(
    lane_rules);
inline constexpr TransitionTable<TransactionStage, transaction_stage_names.size(), TransactionEvent,
                                 transaction_event_names.size()>
    transaction_table(transaction_rules);

}  // namespace machine

[[nodiscard]] constexpr std::string_view name(LaneStage stage) {
  return lane_stage_names[static_cast<std::size_t>(stage)];
}
[[nodiscard]] constexpr std::string_view name(LaneEvent event) {
  return lane_event_names[static_cast<std::size_t>(event)];
}
[[nodiscard]] constexpr std::string_view name(TransactionStage stage) {
  return transaction_stage_names[static_cast<std::size_t>(stage)];
}
[[nodiscard]] constexpr std::string_view name(TransactionEvent event) {
  return transaction_event_names[static_cast<std::size_t>(event)];
}

/// The stage after the event. A contract: the process ends where that stage does not allow the event, because a lane
/// that is wrong about its own stage could show what is not durable.
[[nodiscard]] inline LaneStage next(LaneStage stage, LaneEvent event) {
  return machine::lane_table.after(stage, event, "an event of a lane came in a stage that does not allow it");
}
[[nodiscard]] inline TransactionStage next(TransactionStage stage, TransactionEvent event) {
  return machine::transaction_table.after(stage, event,
                                          "an event of a transaction came in a stage that does not allow it");
}

/// True while rows are stepped into the open batch.
[[nodiscard]] constexpr bool takes_steps(LaneStage stage) {
  return machine::running.contains(stage);
}
/// True while records that arrive are the lane's next ones. Records that arrive in `starting` were fetched before the
/// lane was opened anew: they may lie before its position, or beyond a gap.
[[nodiscard]] constexpr bool takes_records(LaneStage stage) {
  return stage == LaneStage::reading || stage == LaneStage::paused;
}
/// True where the lane commits what it has at once, and waits for no more records.
[[nodiscard]] constexpr bool is_ending(LaneStage stage) {
  return machine::at_end.contains(stage) || stage == LaneStage::draining || stage == LaneStage::flushing;
}

}  // namespace nustream::attach
