// How the sums of 64 bits lie in memory that the kernels add rows to, before they move to 128 bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nustream/moments/batch_sums.h"

namespace nustream::moments {

/// The open sums of a block: an outer product of d entries where d is not 0, and behind it `vectors` vectors of
/// `length` entries. A vector is padded to whole lanes, so that a kernel never stores a part of them.
///
/// An outer product is its diagonal, a vector, and then for each i < d − 1 the lanes of row i from those on that hold
/// entry i + 1. Only the entries right of the diagonal count there. With d = 10 and 4 lanes these are 12 entries for
/// the diagonal and for each of the rows 0 to 2, 8 for the rows 3 to 6, and 4 for the rows 7 and 8.
struct OpenLayout {
  std::size_t lanes = 1;
  std::size_t outer = 0;
  std::size_t vectors = 0;
  std::size_t length = 0;

  [[nodiscard]] std::size_t padded(std::size_t entries) const noexcept {
    return (entries + lanes - 1) / lanes * lanes;
  }
  /// Where vector k begins.
  [[nodiscard]] std::size_t vector(std::size_t k) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return vector(vectors); }
};

/// The layout of a block. It is empty for a smallest eigenvalue, which is not a sum over rows.
[[nodiscard]] OpenLayout open_layout(const Design& design, Block block, std::size_t lanes) noexcept;
/// Adds the open sums to those of 128 bits, which are packed as entries() counts them, and sets them to 0.
void move(const OpenLayout& layout, std::span<std::int64_t> open, std::span<Wide> sums) noexcept;

}  // namespace nustream::moments
