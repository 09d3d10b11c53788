// The batch that a lane is stepping: rows become steps, releases and dead letters, until the batch closes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "attach/batch_content.h"
#include "attach/setup.h"
#include "check/tally.h"
#include "engine/estimator.h"
#include "engine/noise_feed.h"
#include "engine/stepper.h"
#include "publish/release_json.h"
#include "serve/operator_metrics.h"

namespace nustream::attach {

/// What the operator is told of a batch, once it is committed. So a batch that was lost and is computed again counts
/// once.
struct BatchFigures {
  std::uint64_t records = 0;
  std::array<std::uint64_t, serve::reject_reasons.size()> rejected{};  ///< records that could not be used, by reason
  std::uint64_t letters_lost = 0;                                      ///< records whose dead letter was given up
  std::optional<double> clipped_ratio;  ///< clipped gradients over records; empty without a record
  std::optional<double> seconds;        ///< from the first record to the close; empty without a record
  check::Tally tally;                   ///< counts of its records and gradients, for the log
};

/// A batch that takes no more records. Nobody but its journal may see it before it is durable.
struct ClosedBatch {
  BatchContent content;
  BatchFigures figures;
  std::uint64_t rejects = 0;  ///< records that could not be used
  std::chrono::steady_clock::time_point closed{};
};

/// When a batch is large enough or old enough to close. The limits follow from settings alone, and never from what a
/// record says.
struct BatchLimits {
  std::uint64_t records_max;               ///< a batch with this number of records closes
  std::size_t outbox_bytes_max;            ///< a batch closes before its releases could take more bytes
  std::size_t release_bytes_max;           ///< no release takes more bytes
  std::uint64_t release_every;             ///< steps from release to release
  std::uint64_t minibatch;                 ///< records a step
  std::chrono::duration<double> open_max;  ///< from the first record to the close
  bool writes_letters;                     ///< there is a topic for records that cannot be used
  bool of_sums = false;                    ///< true where residuals of running sums are clipped, not gradients
  /// A batch closes with one more release once the last release is this old, if a step was taken since. 0: never.
  std::chrono::duration<double> release_interval{0};
  bool of_users = false;           ///< the unit of privacy is the user, whose records have limits
  bool times_are_trusted = false;  ///< the limits hold within windows of the records' own times
};
[[nodiscard]] BatchLimits batch_limits(const Setup& setup);

/// The open batch of one lane. It reads no clock, does no I/O and knows no broker: time, rows, letters and noise are
/// given to it. To be used from one thread.
class OpenBatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Gives the dead letters of the next `rejects` rejected records, in their order, without those that do not fit
  /// their topic.
  using TakeLetters = std::function<std::vector<journal::DeadLetter>(std::size_t rejects)>;

  /// `limit` is the number of steps that horizon and budget allow; without it there is none. `released` is the number
  /// of steps at the last release. `lane` outlives the batch.
  OpenBatch(const BatchLimits& limits, engine::Estimator& lane, std::unique_ptr<engine::NoiseSupply> noise,
            publish::ReleaseEncoder encoder, std::optional<StepCount> limit, StepCount released, Time now);
  OpenBatch(const OpenBatch&) = delete;
  OpenBatch& operator=(const OpenBatch&) = delete;

  /// Steps whole minibatches and drops their rows, until rows, noise or room are used up, or the limit is reached.
  void step(record::RowBatch& rows, const TakeLetters& take_letters, Time now);
  /// Makes one more release, of the present state, unless it would repeat the last one.
  void release_now(std::string_view tag);

  /// Records that the batch can still take, in whole minibatches: by their number, and by the bytes of the releases
  /// that they may bring.
  [[nodiscard]] std::size_t room() const;
  /// The number of releases in the outbox behind its first `begin` bytes.
  [[nodiscard]] std::size_t lines_behind(std::size_t begin) const;
  /// True where there is nothing to commit.
  [[nodiscard]] bool is_empty() const { return records_ == 0 && output_.outbox.empty(); }
  /// True where another step would cross the horizon or the budget.
  [[nodiscard]] bool limit_reached() const noexcept { return limit_reached_; }
  /// When the batch closes at the latest; nothing while it is empty and no release is due by the clock.
  [[nodiscard]] std::optional<Time> closes_at() const;
  /// True where the batch has to close now: it is full, or at the limit, or has been open for long enough. An empty
  /// batch closes too where a release is due by the clock.
  [[nodiscard]] bool is_due(Time now) const;
  /// Closes the batch and returns it; the next batch begins behind it. An empty batch may be closed too: its
  /// transaction publishes the outbox of the batch before, where no new input comes.
  [[nodiscard]] ClosedBatch close(Time now);

  [[nodiscard]] const engine::NoiseSupply& noise() const noexcept { return *noise_; }

 private:
  void count_contributions();
  void collect_rejects(const TakeLetters& take_letters);
  [[nodiscard]] std::optional<Time> release_due() const;

  BatchLimits limits_;
  engine::Estimator& lane_;
  std::unique_ptr<engine::NoiseSupply> noise_;
  publish::ReleaseEncoder encoder_;
  engine::Stepper stepper_;
  engine::Output output_;
  std::vector<journal::DeadLetter> letters_;
  BatchFigures figures_;   // all figures but the number of records, which is records_
  std::size_t lines_ = 0;  ///< releases in the outbox; each gets longer when it is linked into the chain
  std::uint64_t records_ = 0;
  std::uint64_t rejects_ = 0;
  std::uint64_t clipped_before_ = 0;        // the lane's count of clipped gradients when the batch began
  std::uint64_t contributions_before_ = 0;  // the lane's count of users' contributions when the batch began
  std::uint64_t beyond_limits_before_ = 0;  // its count of records beyond the limits of their users then
  check::WindowsSeen windows_before_{};     // what its clock had seen then
  Time opened_;
  Time released_;  // when a batch with a release was closed last; before the first, when this object was made
  std::uint64_t released_steps_;
  bool limit_reached_ = false;
};

}  // namespace nustream::attach
