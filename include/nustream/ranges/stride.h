// Decides which record of a table belongs to which part. It goes by positions alone, so that every part sees the
// whole table.
#pragma once

#include <cstdint>

namespace nustream::ranges {

/// The places π(i) = i·g mod n of the positions i = 0, …, n − 1: a permutation that n fixes before anything is read.
/// g is odd, prime to n and about .618·n, so that neighbouring places lie far apart in the table. A part of
/// consecutive places is therefore spread over the whole table, and drift does no harm.
class Stride {
 public:
  /// Throws InvalidParameter for 0 records, and for more than 2^62.
  explicit Stride(std::uint64_t records);

  [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
  /// The multiplier g.
  [[nodiscard]] std::uint64_t multiplier() const noexcept { return multiplier_; }
  /// The place π(position).
  [[nodiscard]] std::uint64_t place(std::uint64_t position) const noexcept;
  /// The position π⁻¹(place).
  [[nodiscard]] std::uint64_t position(std::uint64_t place) const noexcept;

 private:
  std::uint64_t records_;
  std::uint64_t multiplier_;
  std::uint64_t inverse_;
};

/// The places [first, first + count).
struct Part {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Deals out places, each of them once.
///
/// Guarantee: no place is in two parts. A record is therefore in one part at most, and is charged the largest ρ of
/// all parts, not their sum. How long a part is, and what is done with it, may depend on the releases of earlier
/// parts: given those releases the part of a record is known, and the releases of the other parts do not depend on
/// that record. Of a user's records some may be in every part, so that users are charged the sum (sizes.h).
class Dealer {
 public:
  explicit Dealer(std::uint64_t records) noexcept : records_(records) {}
  /// The next `count` places, or as many as are left.
  [[nodiscard]] Part deal(std::uint64_t count) noexcept;
  /// All places that are left.
  [[nodiscard]] Part rest() noexcept { return deal(records_ - taken_); }

 private:
  std::uint64_t records_;
  std::uint64_t taken_ = 0;
};

}  // namespace nustream::ranges
