// The transactions of an open lane: one for each batch and, on lane 0, one for each record of the combined model.
// What is shown after a commit, and what follows where one fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "attach/lane_machine.h"
#include "attach/lane_state.h"
#include "attach/open_batch.h"
#include "error.h"
#include "kafka/kafka_journal.h"
#include "serve/operator_metrics.h"
#include "serve/public_surface.h"

namespace nustream::attach {

/// How much of each dead letter is written.
enum class Letters : std::uint8_t { whole, reasons, none };

/// What a lane keeps when its producer is replaced by a new one.
struct Kept {
  Letters letters = Letters::whole;  ///< only ever reduced: a letter that cannot be written holds up releases
  std::optional<std::string> model;  ///< the combined model's next record, which waits for its turn
};

/// How a transaction ended, for the lane worker, which goes on from there.
struct Committed {
  std::size_t letter_bytes = 0;  ///< the bytes of dead letters that need not be kept any more
  check::Tally tally{};          ///< counts of the batch; empty for a record of the model
};
struct Aborted {
  kafka::Error error;  ///< the same transaction may be sent again after a pause
};
struct Interrupted {
  kafka::Error error;  ///< whether it was committed is found out when a new producer reads the state again
};
using Ended = std::variant<Committed, Aborted, Interrupted, Failure>;

/// What follows from an error that did not abort the transaction: an interruption, after which the lane is opened
/// again, or a Failure where somebody has to mend something first.
[[nodiscard]] std::variant<Interrupted, Failure> judged(const config::Kafka& kafka, LaneId lane,
                                                        const kafka::Error& error);

/// Makes one transaction at a time, each over one batch or one record of the model. It holds the batch until it is
/// committed, and shows only then what the commit made durable: the spend and steps of the batch, and the releases of
/// the batch before it, which that commit published. It is used on the event loop's thread, never waits, and reads no
/// clock. The caller that sends gives a completion. One of the journal's threads calls the completion with the
/// outcome, and the caller passes the outcome to ended().
class LaneTransactions {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Member = std::shared_ptr<const kafka::GroupMetadata>;

  /// All references outlive it. `state` is the lane's durable state.
  LaneTransactions(const Setup& setup, LaneState& state, std::unique_ptr<kafka::KafkaJournal> journal,
                   serve::PublicSurface& shown, serve::OperatorMetrics::Lane& metrics, Kept& kept);

  /// Seals the lane together with `batch`, and sends both. Contract: is_free().
  void commit(ClosedBatch batch, Member member, Time now, journal::Completion done);
  /// Sends the very same bytes again after an abort, without dead letters that were given up.
  void commit_again(Member member, journal::Completion done);
  /// Sends the record of the model that waits.
  void send_model(journal::Completion done);
  /// Takes what the completion was given, and tells what follows. To be called once for each transaction.
  [[nodiscard]] Ended ended(const std::exception_ptr& failure, Time now);
  /// The pause after an abort of the model's transaction is over.
  void end_pause();

  [[nodiscard]] TransactionStage stage() const noexcept { return stage_; }
  /// True where the next transaction may begin.
  [[nodiscard]] bool is_free() const noexcept { return stage_ == TransactionStage::none; }
  [[nodiscard]] bool is_under_way() const noexcept {
    return stage_ == TransactionStage::batch || stage_ == TransactionStage::model;
  }
  /// True while a committed outbox waits for the next commit, which publishes it.
  [[nodiscard]] bool owes_releases() const noexcept { return journal_->owes_releases(); }
  /// Since when such an outbox has waited; nothing where none waits.
  [[nodiscard]] std::optional<Time> owes_since() const noexcept { return outbox_since_; }
  /// The position in the input up to which the last commit read.
  [[nodiscard]] Position committed() const noexcept { return committed_; }

 private:
  void enter(TransactionEvent event) { stage_ = next(stage_, event); }
  void send(Member member, journal::Completion done);
  [[nodiscard]] Ended batch_ended(const std::exception_ptr& failure, Time now);
  [[nodiscard]] Ended model_ended(const std::exception_ptr& failure);
  [[nodiscard]] Ended lost(const kafka::Error& error);
  [[nodiscard]] Committed show_committed(Time now);
  void count_batch();
  [[nodiscard]] bool give_up_letters(const kafka::Error& error);
  void shorten_letters();

  const Setup& setup_;
  LaneState& state_;
  std::unique_ptr<kafka::KafkaJournal> journal_;
  serve::PublicSurface& shown_;
  serve::OperatorMetrics::Lane& metrics_;
  Kept& kept_;
  TransactionStage stage_ = TransactionStage::none;
  Position committed_;

  // The batch that is under way, or waits to be sent again.
  // The journal finishes it, so that the very same bytes can be sent again.
  std::shared_ptr<journal::Batch> sent_;
  BatchFigures figures_;
  std::size_t letter_bytes_ = 0;
  Time sent_at_{};
  std::string published_;    // the outbox of the batch before, which the commit under way publishes
  Time published_closed_{};  // when that batch closed
  Time outbox_closed_{};     // when the batch closed whose outbox the next commit publishes
  std::optional<Time> outbox_since_;
  std::string model_;  // the record of the model that is under way
};

}  // namespace nustream::attach
