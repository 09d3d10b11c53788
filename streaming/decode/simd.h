// What the kernels for one kind of processor share: masks, and macros around regions of code. Such a region is
// compiled for that kind, whatever the rest of the program is compiled for. Only code between the two macros may use
// the processor's special instructions, and it may be called only where the processor has them.
//
// Compiling a translation unit with -mavx2 would be simpler. But then the inline functions that it shares with the
// rest of the program would be compiled for AVX2 too, and the linker may keep that version of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#define NUSTREAM_PRAGMA_OF(text) _Pragma(#text)
#if defined(__clang__)
#define NUSTREAM_TARGET_BEGIN(features) \
  NUSTREAM_PRAGMA_OF(clang attribute push(__attribute__((target(features))), apply_to = function))
#define NUSTREAM_TARGET_END NUSTREAM_PRAGMA_OF(clang attribute pop)
#else
#define NUSTREAM_TARGET_BEGIN(features) \
  NUSTREAM_PRAGMA_OF(GCC push_options)  \
  NUSTREAM_PRAGMA_OF(GCC target(features))
#define NUSTREAM_TARGET_END NUSTREAM_PRAGMA_OF(GCC pop_options)
#endif

namespace nustream::decode {

// Masks of the upper or lower bytes of a vector, by an unaligned load from a window.

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
