// The records of one step summed by user: what enters the mechanism is a contribution of each user, clipped as a
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

/// A part of a contribution that is clipped by itself: a gradient has one, a batch of moments one for H and one for
/// g, with one mass and one scale for both.
struct Block {
  std::size_t entries;
  double bound;    ///< G: the norm that a user's sum is clipped to, units of the entries
  double spacing;  ///< s of the grid, a power of two; bound/s below 2^51
};

/// How a user's sum is shortened that is longer than the bound of a block.
enum class Shortening {
  by_block,  ///< each block by itself
  together   ///< all blocks by one factor: sums over the same rows stay sums of one weight
};

/// The contributions of one step: a record, a minibatch, or a batch of moments.
///
/// For each record, in order: takes_part(), before its gradient is computed at the step's iterate; where it says so
/// and the gradient is there, add(). At the end of the step, settle(). A record that does not take part, and one
/// without a finite gradient, leaves nothing behind and uses nothing up.
///
/// Guarantee: Σ of the units that settle() adds for a user has a norm of at most allowed·bound/s in each block, in
/// exact arithmetic, `allowed` what charge() answered to the largest of the blocks' norms over their bounds. So a
/// user moves a step's sum by G at most, whatever its records hold and however many there are, and over all steps as
/// users::sensitivity() says. The grid's sum saturates instead of wrapping.
class StepContributions {
 public:
  /// Throws InvalidParameter where a block is empty, or its bound or spacing out of range.
  StepContributions(std::vector<Block> blocks, Limits limits, Shortening shortening = Shortening::by_block);

  /// Forgets the records of the step before, settled or not.
  void begin(StepIndex step) noexcept;
  /// Whether this record counts: its user contributes in the step already, or the limits let it begin to.
  [[nodiscard]] bool takes_part(const UserHash& user, const Changes& users) const noexcept;
  /// Adds a record's entries, all blocks behind each other, to its user's sum. False, and nothing is added, where one
  /// of them is not finite. `number` is the user's in its entry (Entry).
  bool add(const UserHash& user, std::uint32_t number, std::span<const double> entries);
  /// Clips each user's sum, charges it, truncates it to the grid and adds it to `units`, all blocks behind each
  /// other. A sum that overflows is charged as one of full length and adds nothing. Returns how many users
  /// contributed (not public).
  std::size_t settle(Changes& users, std::span<std::int64_t> units);
  /// Contributions that were as long as a block's bound, or longer, since construction. Operator side only.
  [[nodiscard]] std::uint64_t clipped() const noexcept { return clipped_; }
  /// All of them, since construction. Operator side only.
  [[nodiscard]] std::uint64_t settled() const noexcept { return settled_; }

 private:
  struct Contributor {
    UserHash user;
    std::uint32_t number;
  };

  void shorten_together(std::span<double> sum) const noexcept;
  [[nodiscard]] double norm_of(std::span<const double> sum) const noexcept;
  void add_to_grid(std::span<const double> sum, double scale, std::span<std::int64_t> units) const;

  std::vector<Block> blocks_;
  Limits limits_;
  Shortening shortening_;
  std::size_t entries_;
  StepIndex step_{0};
  UserIndex index_;
  std::vector<Contributor> contributors_;
  std::vector<double> sums_;  // contributors × entries
  std::uint64_t clipped_ = 0;
  std::uint64_t settled_ = 0;
};

}  // namespace nustream::users
