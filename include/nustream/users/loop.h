// The private descent loop where the unit of privacy is the user: the records that a user has in one step are one
// contribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/loop.h"
#include "nustream/noise/grid.h"
#include "nustream/record/batch.h"
#include "nustream/users/changes.h"
#include "nustream/users/contribution.h"
#include "nustream/users/limits.h"
#include "nustream/users/period.h"

namespace nustream::users {

/// An iterate and the rule that moves it. The rule is that of descent::Loop, except that the sum in the bracket is
/// over users,
///
///     θ ← Π(θ − η_t((Σ_u trunc(clip(Σ_{i of u} g_i)/s) + z_t)·s/m + λθ)),
///
/// with momentum as in descent::Loop. u runs over the users whose limits let them contribute in step t
/// (StepContributions), g_i are the gradients of their records at θ before any clip, and m is the nominal number of
/// records of a step. A record that belongs to nobody, or whose gradient is not finite, adds nothing and uses nothing
/// up; its step is taken all the same.
///
/// Guarantee: whatever a user's records hold, and however many there are, all of them together move the sums of all
/// steps as users::sensitivity() says, with Δ the clip norm of the grid or twice that.
class Loop {
 public:
  /// Begins at `start`, the entries of an iterate for every predictor of the loss. Throws InvalidParameter where the
  /// rule, `start` or the grid are out of range.
  Loop(const descent::StepRule& rule, const noise::Grid& grid, std::span<const double> start, const Limits& limits);

  /// Takes stretch.step_sizes.size() steps, of which `first` is the first. `users` has one entry for each row, and
  /// what they use up of their limits goes into `changes`. `average` has as many entries as the iterate, or none.
  /// Where the limits hold within windows of time, `times` has one entry for each row and `clock` says in which
  /// window a step is; otherwise both are left out.
  void run(const descent::Stretch& stretch, std::span<const record::RowUser> users, Changes& changes, StepIndex first,
           std::span<double> average, std::span<const double> times = {}, WindowClock* clock = nullptr);

  [[nodiscard]] std::span<const double> theta() const noexcept { return theta_; }
  /// Replaces the iterate, to restore a state.
  void set_theta(std::span<const double> theta);
  /// The velocity, as in descent::Loop.
  [[nodiscard]] std::span<const double> velocity() const noexcept { return velocity_; }
  void set_velocity(std::span<const double> velocity);
  /// How many contributions were longer than the clip norm. Only the operator may see it.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return contributions_.clipped(); }
  /// How many of them were charged in full (StepContributions). Only noise may show it.
  [[nodiscard]] std::uint64_t clipped_in_full() const noexcept { return contributions_.clipped_in_full(); }
  /// How many contributions there were. Only the operator may see it.
  [[nodiscard]] std::uint64_t contributions() const noexcept { return contributions_.settled(); }
  /// How many records did not count because the limits of their users were used up. Only the operator may see it.
  [[nodiscard]] std::uint64_t beyond_limits() const noexcept { return contributions_.beyond_limits(); }

 private:
  void look_ahead(std::span<const record::RowUser> users, std::size_t row, const Changes& changes) const noexcept;
  void add(const descent::Stretch& stretch, std::size_t row, const record::RowUser& of, const Changes& changes);

  descent::StepRule rule_;
  double gradient_per_unit_;
  double l2_;
  std::size_t columns_;  // predictors of the loss
  std::size_t inputs_;   // numbers of a row
  std::vector<double> theta_;
  std::vector<double> velocity_;  // empty without momentum
  std::vector<double> slopes_;    // of one record
  std::vector<double> gradient_;  // of one record
  std::vector<std::int64_t> units_;
  StepContributions contributions_;
};

}  // namespace nustream::users
