// Masks of the upper or lower bytes of a vector, by an unaligned load from a window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nustream::decode {

/// Of the `width` bytes from upper_bytes<width> + n on, the last n are set.
template <std::size_t width>
alignas(2 * width) inline constexpr std::array<std::uint8_t, 2 * width> upper_bytes = [] {
  std::array<std::uint8_t, 2 * width> window{};
  for (std::size_t i = width; i < 2 * width; ++i) window[i] = 0xff;
  return window;
}();

/// Of the `width` bytes from lower_bytes<width> + n on, all but the last n are set.
template <std::size_t width>
alignas(2 * width) inline constexpr std::array<std::uint8_t, 2 * width> lower_bytes = [] {
  std::array<std::uint8_t, 2 * width> window{};
  for (std::size_t i = 0; i < width; ++i) window[i] = 0xff;
  return window;
}();

}  // namespace nustream::decode
