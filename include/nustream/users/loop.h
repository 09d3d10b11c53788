// The private descent loop where the unit of privacy is the user: of each step's records, a user's are one
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

/// An iterate and the rule that moves it, as descent::Loop, but that the sum in the bracket is over users:
///
///     θ ← Π(θ − η_t((Σ_u trunc(clip(Σ_{i of u} g_i)/s) + z_t)·s/m + λθ)),
///
/// (with momentum as there), u over the users whose limits let them contribute in step t (StepContributions), g_i the
/// gradients of their records at θ before any clip, and m the nominal number of records of a step. A record of
/// nobody, and one whose gradient is not finite, adds nothing and uses nothing up; its step is taken all the same.
///
/// Guarantee: whatever a user's records hold, and however many there are, all of them together move the sums of all
/// steps as users::sensitivity() says, Δ the clip norm of the grid or twice that.
class Loop {
 public:
  /// At `start`, the entries of an iterate for every predictor of the loss. Throws InvalidParameter where rule, start
  /// or grid are out of range.
  Loop(const descent::StepRule& rule, const noise::Grid& grid, std::span<const double> start, const Limits& limits);

  /// Takes stretch.step_sizes.size() steps, the first of which is `first`. `users` has one for each row; what they
  /// use up goes into `changes`. `average` has as many entries as the iterate, or none. Where limits hold within
  /// windows of time, `times` has one for each row and `clock` says in which window a step is; else there is neither.
  void run(const descent::Stretch& stretch, std::span<const record::RowUser> users, Changes& changes, StepIndex first,
           std::span<double> average, std::span<const double> times = {}, WindowClock* clock = nullptr);

  [[nodiscard]] std::span<const double> theta() const noexcept { return theta_; }
  /// Replaces the iterate: restoring a state.
  void set_theta(std::span<const double> theta);
  /// As descent::Loop's.
  [[nodiscard]] std::span<const double> velocity() const noexcept { return velocity_; }
  void set_velocity(std::span<const double> velocity);
  /// Contributions that were longer than the clip norm. Operator side only.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return contributions_.clipped(); }
  /// All of them. Operator side only.
  [[nodiscard]] std::uint64_t contributions() const noexcept { return contributions_.settled(); }

 private:
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
