// Marks regions of code that are compiled for one kind of processor, whatever the rest of the program is compiled
// for. Only code between the two macros may use its instructions, and it may be called only where the processor has
// them.
//
// Compiling a translation unit with -mavx2 would be simpler. But that would also compile the inline functions that it
// shares with the rest of the program for AVX2, and the linker may keep those.
#pragma once

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
