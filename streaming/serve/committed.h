// What the public surface may be told: values that exist only once what they say is durable or public.
//
// The rule of this room. A batch that does not commit must leave nothing readable behind (commit before release), so
// the public surface changes by these values alone, and each is made in one place only:
//
//   CommittedSpend    where the commit of a batch's state has completed, from the ledger entry of that state
//   CommittedRelease  where the commit or append that published an outbox has completed, from the published bytes
//   CommittedModel    where the commit that published a combined model has completed, from the published bytes
//   CommittedPast     where a reader of committed records has found earlier releases of the lane, from those bytes
//
// A restored lane makes them from its committed state and from the last release that a reader of committed records
// finds. Nothing that a lane computes, counts or times reaches a public listener in any other way: steps and spend
// are functions of step counts, and an estimate is read back from bytes that anyone could already read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "publish/release_json.h"

namespace nustream::serve {

/// The steps and the spend of one (lane, epoch), as a durable ledger has them.
class CommittedSpend {
 public:
  /// `entry` is the last ledger entry inside the committed state. `total` is what the ledger comes to with it, over
  /// all epochs (privacy::total).
  [[nodiscard]] static CommittedSpend committed(const journal::LedgerEntry& entry, Rho total);

  [[nodiscard]] LaneId lane() const noexcept { return lane_; }
  [[nodiscard]] EpochId epoch() const noexcept { return epoch_; }
  [[nodiscard]] StepCount steps() const noexcept { return steps_; }  ///< taken in the epoch
  /// Spent in the epoch, for the record that it costs most.
  [[nodiscard]] Rho rho() const noexcept { return rho_; }
  /// Spent over all epochs, for the record that they cost most.
  [[nodiscard]] Rho total() const noexcept { return total_; }

 private:
  CommittedSpend(LaneId lane, EpochId epoch, StepCount steps, Rho rho, Rho total)
      : lane_(lane), epoch_(epoch), steps_(steps), rho_(rho), total_(total) {}

  LaneId lane_;
  EpochId epoch_;
  StepCount steps_;
  Rho rho_;
  Rho total_;
};

/// The last release of a published outbox, and how many releases it held.
class CommittedRelease {
 public:
  /// `outbox` holds one or more encoded releases of one lane: the very bytes that are public now. Throws
  /// Failure(internal) where they are anything else. `at` is the time in seconds since 1970 by the clock that dated
  /// them; empty where they became public just now.
  [[nodiscard]] static CommittedRelease published(std::string_view outbox, std::optional<double> at = {});

  [[nodiscard]] const publish::ShownRelease& last() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const std::optional<double>& at() const noexcept { return at_; }
  /// All releases of the outbox, one a line.
  [[nodiscard]] const std::string& lines() const noexcept { return lines_; }

 private:
  CommittedRelease(std::string_view lines, publish::ShownRelease last, std::uint64_t count, std::optional<double> at)
      : lines_(lines), last_(std::move(last)), count_(count), at_(at) {}

  std::string lines_;
  publish::ShownRelease last_;
  std::uint64_t count_;
  std::optional<double> at_;
};

/// A combined model, as it was published.
class CommittedModel {
 public:
  /// `record` is one JSON object: the very bytes that are public now. Throws Failure(internal) where it is anything
  /// else.
  [[nodiscard]] static CommittedModel published(std::string_view record);

  /// The object, without white space around its values.
  [[nodiscard]] const std::string& json() const noexcept { return json_; }
  /// How many lanes' releases it is the mean of.
  [[nodiscard]] std::uint64_t lanes() const noexcept { return lanes_; }
  /// Its coefficients as a page shows them; their step is the sum of the parts' steps. It has no estimate where noise
  /// hides the solution.
  [[nodiscard]] const publish::ShownRelease& mean() const noexcept { return mean_; }

 private:
  CommittedModel(std::string json, std::uint64_t lanes, publish::ShownRelease mean)
      : json_(std::move(json)), lanes_(lanes), mean_(std::move(mean)) {}

  std::string json_;
  std::uint64_t lanes_;
  publish::ShownRelease mean_;
};

/// Earlier releases of one (lane, epoch), found where everybody can read them.
class CommittedPast {
 public:
  /// `lines` holds encoded releases, one a line: the very bytes that are public. Lines of other lanes or epochs, and
  /// lines that are no releases, are left out.
  [[nodiscard]] static CommittedPast found(LaneId lane, EpochId epoch, std::string_view lines);

  [[nodiscard]] LaneId lane() const noexcept { return lane_; }
  [[nodiscard]] EpochId epoch() const noexcept { return epoch_; }
  [[nodiscard]] const std::string& lines() const noexcept { return lines_; }

 private:
  CommittedPast(LaneId lane, EpochId epoch, std::string lines)
      : lane_(lane), epoch_(epoch), lines_(std::move(lines)) {}

  LaneId lane_;
  EpochId epoch_;
  std::string lines_;
};

using CommittedFact = std::variant<CommittedSpend, CommittedRelease, CommittedModel, CommittedPast>;

}  // namespace nustream::serve
