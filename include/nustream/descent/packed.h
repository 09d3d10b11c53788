// Vectors in the form that the kernels need: aligned to a cache line, and padded with zeros to whole packs of eight.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace nustream::descent {

/// The number of entries of a pack: one AVX-512 register of doubles.
inline constexpr std::size_t pack_entries = 8;

/// `dimension` rounded up to whole packs.
[[nodiscard]] constexpr std::size_t packed_size(std::size_t dimension) noexcept {
  return (dimension + pack_entries - 1) / pack_entries * pack_entries;
}

/// An allocator that aligns to 64-byte boundaries.
template <class Entry>
struct CacheLineAllocator {
  using value_type = Entry;
  static constexpr std::align_val_t alignment{64};

  CacheLineAllocator() = default;
  template <class Other>
  explicit CacheLineAllocator(const CacheLineAllocator<Other>& /*other*/) noexcept {}

  [[nodiscard]] Entry* allocate(std::size_t count) {
    return static_cast<Entry*>(::operator new(count * sizeof(Entry), alignment));
  }
  void deallocate(Entry* memory, std::size_t /*count*/) noexcept { ::operator delete(memory, alignment); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) = default;
};

/// A vector whose first entry begins a cache line.
template <class Entry>
using Packed = std::vector<Entry, CacheLineAllocator<Entry>>;

}  // namespace nustream::descent
