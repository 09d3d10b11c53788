// The record that an audit looks for: the longest gradients that the settings let one record have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/claimed_part.h"
#include "config/mechanism.h"

namespace nustream::audit {

/// The steps of a game and those of its canary. Every other record is null, because the adversary knows the others
/// and what they add. Where the unit is the user, all records from the canary user's first step on are the user's,
/// and its limits decide in which steps they count.
struct GameShape {
  std::uint64_t steps;            ///< T
  std::vector<std::uint64_t> at;  ///< steps that the canary takes part in, rising
  bool along_axis = false;        ///< each of its gradients lies along one coordinate
  /// The first steps of an epoch's later windows, rising and counted from the epoch's first step, where the limits
  /// hold within windows of time.
  std::vector<std::uint64_t> borders{};
  double length = 1;         ///< part of a step's bound that the canary takes: below 1 where a user's mass is
  std::uint64_t epochs = 1;  ///< equally long; each has noise of its own and begins from the settings' start
  bool keeps_counts = true;  ///< what the canary used up in an epoch stays used up in the next one

  [[nodiscard]] std::uint64_t steps_of_epoch() const noexcept { return steps / epochs; }
  /// The window of the epoch in which the step lies, counted from 0.
  [[nodiscard]] std::uint64_t window_of(std::uint64_t step) const {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(borders, step % steps_of_epoch()) - borders.begin());
  }
  /// Whether the canary takes part in the step.
  [[nodiscard]] bool takes_part(std::uint64_t step) const { return std::binary_search(at.begin(), at.end(), step); }
};

/// A record as a lane gets it.
struct Row {
  std::vector<double> x;
  double y;           ///< NaN where features are public and the target cannot be read
  double weight = 1;  ///< how much the record counts
};

/// The canary and what stands beside it or in its place, as lines of the stream's own format without their newlines.
struct Canary {
  std::string header;  ///< a CSV's header line; empty where there is none
  /// A record that cannot be used: it takes its step with a zero gradient. Where features are public it has the
  /// features of the canary, because those move a first stage that has no noise.
  std::string null;
  std::string record;  ///< the canary: at least one of its gradients is as long as its clip norm
  std::string absent;  ///< what stands in its place in the other world
  Row row;             ///< `record` as a lane gets it
  Row absent_row;
  bool opposite;  ///< `absent` can be used; gradients of descents are then opposite to the canary's
};

/// The share of ρ that the canary shows in its first step against nothing, if its sums are as long as is claimed. It
/// is at most some percent above 1, and 0 where find_canary() would find none.
[[nodiscard]] double reach_of_canary(const config::Config& config, const config::Mechanism& mechanism,
                                     const GameShape& shape);

/// Tries records until all gradients of one are some four clip norms long, or the list ends. Returns the record that
/// shows most of the claim in the steps that it takes part in, along the path without noise. With replace-one
/// neighbours in running sums it tries pairs of records, all of the list. Throws Failure(configuration) where no
/// record has a gradient as long as its clip norm, because the columns are clamped too tightly.
[[nodiscard]] Canary find_canary(const config::Config& config, const config::Mechanism& mechanism,
                                 const GameShape& shape, Absent absent);

}  // namespace nustream::audit
