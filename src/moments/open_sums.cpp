// Where each 64-bit sum lies in the memory that kernels add to, and how the sums move to 128 bits. The rows of an
// outer product begin at a whole lane, so a few places left of the diagonal are filled too; nothing reads them.
#include "moments/open_sums.h"

#include <algorithm>

#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"

namespace nustream::moments {
namespace {

/// The first entry of row i that is kept: the one with which the lanes of entry i + 1 begin.
std::size_t first_of(const OpenLayout& layout, std::size_t i) noexcept {
  return (i + 1) / layout.lanes * layout.lanes;
}

/// Adds the outer product's triangle, row by row, and returns where the sums go on behind it.
Wide* move_outer(const OpenLayout& layout, const std::int64_t* open, Wide* sums) noexcept {
  std::size_t row = layout.padded(layout.outer);
  for (std::size_t i = 0; i < layout.outer; ++i) {
    *sums++ += open[i];
    const std::size_t first = first_of(layout, i);
    // Row i begins in memory with entry `first` ≤ i + 1, and what lies before entry i + 1 is skipped.
    for (std::size_t j = i + 1; j < layout.outer; ++j) *sums++ += open[row + j - first];
    row += layout.padded(layout.outer) - first;
  }
  return sums;
}

}  // namespace

std::size_t OpenLayout::vector(std::size_t k) const noexcept {
  // The diagonal comes first, then each row from the lanes on that hold the entry right of the diagonal.
  std::size_t at = padded(outer);
  for (std::size_t i = 0; i + 1 < outer; ++i) at += padded(outer) - first_of(*this, i);
  return at + k * padded(length);
}

OpenLayout open_layout(const Design& design, Block block, std::size_t lanes) noexcept {
  const Shape& shape = design.shape;
  const std::size_t d = shape.inputs;
  switch (block) {
    case Block::second:
      return {lanes, d, 0, 0};
    case Block::regressors:
      return {lanes, 0, shape.endogenous, d};
    case Block::target:
      return {lanes, 0, 1, d};
    case Block::eigenvalue:
      return {};
    case Block::spread:
      break;
  }
  switch (design.spread) {
    case Spread::none:
      return {};
    case Spread::residuals:
      return {lanes, shape.responses(), 0, 0};
    case Spread::sandwich:
      return {lanes, d, 0, 0};
    case Spread::tight_sandwich:
      break;
  }
  // A tight sandwich is followed by a vector of one entry, Σ r².
  return {lanes, d, 1, 1};
}

void move(const OpenLayout& layout, std::span<std::int64_t> open, std::span<Wide> sums) noexcept {
  NUSTREAM_REQUIRE(open.size() == layout.size(), "open sums have the layout's size");
  NUSTREAM_REQUIRE(sums.size() == descent::triangle_size(layout.outer) + layout.vectors * layout.length,
                   "sums have the layout's entries");
  Wide* sum = move_outer(layout, open.data(), sums.data());
  for (std::size_t k = 0; k < layout.vectors; ++k) {
    const std::int64_t* const vector = open.data() + layout.vector(k);
    for (std::size_t j = 0; j < layout.length; ++j) *sum++ += vector[j];
  }
  std::ranges::fill(open, 0);
}

}  // namespace nustream::moments
