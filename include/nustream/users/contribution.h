// Sums the records of one step by user. What enters the mechanism is one contribution of each user, clipped as a
// whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/users/changes.h"
#include "nustream/users/limits.h"
#include "nustream/users/user_index.h"

namespace nustream::users {

/// A part of a contribution that is clipped by itself. A gradient has one; a batch of moments has one for H and one
/// for g, with one mass and one scale for both.
struct ContributionBlock {
  std::size_t entries;
  double bound;    ///< G, the norm that a user's sum is clipped to, in units of the entries
  double spacing;  ///< s of the grid, a power of two; bound/s must be below 2^51
};

/// How a user's sum is shortened if it is longer than the bound of a block.
enum class Shortening {
  by_block,  ///< each block by itself
  together   ///< all blocks by one factor, so that sums over the same rows stay sums of one weight
};

/// The contributions of one step, which takes a record, a minibatch, or a batch of moments.
///
/// For each record in order, the caller asks takes_part() before it computes the gradient at the step's iterate. If
/// the record takes part and its gradient exists, the caller calls add(). At the end of the step it calls settle(). A
/// record that does not take part, or that has no finite gradient, leaves nothing behind and uses nothing up.
///
/// Guarantee: the units that settle() adds for a user sum to a norm of at most allowed·bound/s in each block, in
/// exact arithmetic. `allowed` is what charge() answered to the largest of the blocks' norms over their bounds. So a
/// user moves the sum of a step by at most G, whatever its records hold and however many there are, and the sums of
/// all steps as users::sensitivity() says. The sum on the grid saturates instead of wrapping.
class StepContributions {
 public:
  /// Throws InvalidParameter where there is no block, a block is empty, or its bound or spacing is out of range.
  StepContributions(std::vector<ContributionBlock> blocks, Limits limits,
                    Shortening shortening = Shortening::by_block);

  /// Begins a step, and forgets the records of the step before, whether they were settled or not.
  void begin(StepIndex step) noexcept;
  /// Whether this record counts. It does if its user contributes to this step already, or if the limits allow the
  /// user another contribution. A record that does not is counted in beyond_limits().
  /// `users` must stay as it is until settle() changes it.
  [[nodiscard]] bool takes_part(const UserHash& user, const Changes& users);
  /// Adds the entries of a record, all blocks one after the other, to its user's sum. Returns false, and adds
  /// nothing, where an entry is not finite. `number` is that of a user who is new, before it is masked.
  bool add(const UserHash& user, std::uint32_t number, std::span<const double> entries);
  /// Clips each user's sum, charges it, truncates it to the grid and adds it to `units`, all blocks one after the
  /// other. A sum that overflows is charged as one of full length and adds nothing. Returns how many users
  /// contributed, which is not public.
  std::size_t settle(Changes& users, std::span<std::int64_t> units);
  /// How many contributions, since construction, were as long as a block's bound or longer. Only the operator may see
  /// it.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }
  /// How many of them were also charged in full. Only these enter a count of clipped contributions, each as a 1. So
  /// what a user adds to such a count in a step is at most what the user is charged for the step.
  [[nodiscard]] std::uint64_t clipped_in_full() const noexcept { return clipped_in_full_; }
  /// How many contributions there were since construction. Only the operator may see it.
  [[nodiscard]] std::uint64_t settled() const noexcept { return settled_; }
  /// How many records, since construction, did not take part because the limits of their users were used up. Only the
  /// operator may see it.
  [[nodiscard]] std::uint64_t beyond_limits() const noexcept { return beyond_limits_; }

 private:
  struct Contributor {
    UserHash user;
    std::uint32_t number;
    std::optional<Entry> before;  // as takes_part() found it; nothing where nobody asked
  };

  /// ‖v‖₂ of a block of a sum, as scale · fraction (descent/norm.h).
  struct BlockNorm {
    double scale;
    double fraction;
  };

  void shorten_together(std::span<double> sum) const noexcept;
  [[nodiscard]] double take_norms(std::span<const double> sum) noexcept;
  void add_to_grid(std::span<const double> sum, double scale, std::span<std::int64_t> units) const;

  std::vector<ContributionBlock> blocks_;
  Limits limits_;
  Shortening shortening_;
  std::size_t entries_;
  StepIndex step_{0};
  UserIndex index_;
  std::vector<Contributor> contributors_;
  std::vector<double> sums_;      // contributors × entries
  std::optional<Entry> asked_;    // of the user that takes_part() was asked about last
  std::vector<BlockNorm> norms_;  // of each block of the sum that is being settled
  std::uint64_t clipped_ = 0;
  std::uint64_t clipped_in_full_ = 0;
  std::uint64_t settled_ = 0;
  std::uint64_t beyond_limits_ = 0;
};

}  // namespace nustream::users
