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
// finds. Nothing that a lane computes, counts or times reaches a public listener on any other way: steps and spend
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

/// Steps and spend of one (lane, epoch), as a durable ledger has them.
class CommittedSpend {
 public:
  /// `entry`: the last ledger entry inside the committed state. `total`: what the ledger comes to with it, over all
  /// epochs (privacy::total).
  [[nodiscard]] static CommittedSpend committed(const journal::LedgerEntry& entry, Rho total);

  [[nodiscard]] LaneId lane() const noexcept { return lane_; }
  [[nodiscard]] EpochId epoch() const noexcept { return epoch_; }
  [[nodiscard]] StepCount steps() const noexcept { return steps_; }  ///< of the epoch
  [[nodiscard]] Rho rho() const noexcept { return rho_; }            ///< of the epoch's worst record
  [[nodiscard]] Rho total() const noexcept { return total_; }        ///< of the worst record over all epochs

 private:
  CommittedSpend(LaneId lane, EpochId epoch, StepCount steps, Rho rho, Rho total)
      : lane_(lane), epoch_(epoch), steps_(steps), rho_(rho), total_(total) {}

  LaneId lane_;
  EpochId epoch_;
  StepCount steps_;
  Rho rho_;
  Rho total_;
};

/// The last of the releases of a published outbox, and how many there were.
class CommittedRelease {
 public:
  /// `outbox`: one or more encoded releases of one lane, the very bytes that are public now. Failure(internal) where
  /// they are anything else. `at`: seconds since 1970 by the clock of whoever took them; nothing where they became
  /// public just now.
  [[nodiscard]] static CommittedRelease published(std::string_view outbox, std::optional<double> at = {});

  [[nodiscard]] const publish::ShownRelease& last() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] const std::optional<double>& at() const noexcept { return at_; }
  /// All of them, a line each.
  [[nodiscard]] const std::string& lines() const noexcept { return lines_; }

 private:
  CommittedRelease(std::string_view lines, publish::ShownRelease last, std::uint64_t count, std::optional<double> at)
      : lines_(lines), last_(std::move(last)), count_(count), at_(at) {}

  std::string lines_;
  publish::ShownRelease last_;
  std::uint64_t count_;
  std::optional<double> at_;
};

/// A published combined model, as it was published.
class CommittedModel {
 public:
  /// `record`: one JSON object, the very bytes that are public now. Failure(internal) where it is anything else.
  [[nodiscard]] static CommittedModel published(std::string_view record);

  /// The object without the white space around its values.
  [[nodiscard]] const std::string& json() const noexcept { return json_; }
  /// Lanes whose releases it is the mean of.
  [[nodiscard]] std::uint64_t lanes() const noexcept { return lanes_; }
  /// Its coefficients, as a page shows them; its step is the sum of the parts'. Without an estimate where noise hides
  /// it.
  [[nodiscard]] const publish::ShownRelease& mean() const noexcept { return mean_; }

 private:
  CommittedModel(std::string json, std::uint64_t lanes, publish::ShownRelease mean)
      : json_(std::move(json)), lanes_(lanes), mean_(std::move(mean)) {}

  std::string json_;
  std::uint64_t lanes_;
  publish::ShownRelease mean_;
};

/// Earlier releases of one (lane, epoch), found where everybody may read them.
class CommittedPast {
 public:
  /// `lines`: encoded releases, a line each, the very bytes that are public. Lines of other lanes or epochs, and what
  /// is no release, are left out.
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

using Committed = std::variant<CommittedSpend, CommittedRelease, CommittedModel, CommittedPast>;

}  // namespace nustream::serve
