// Vectors of doubles by the compiler's own extension. Each file that is compiled for one instruction set includes
// this once (kernels.h); native_width is the width of that instruction set.
#pragma once

#include <cstddef>

namespace nustream::noise {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t native_width = 8;
#elif defined(__AVX2__)
constexpr std::size_t native_width = 4;
#else
constexpr std::size_t native_width = 2;
#endif

template <std::size_t Width>
struct Lanes {
  typedef double Vector __attribute__((vector_size(Width * sizeof(double))));
};
template <>
struct Lanes<1> {
  using Vector = double;
};

template <class Vector>
inline Vector load(const double* from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class Vector>
inline void store(double* to, const Vector& value) {
  __builtin_memcpy(to, &value, sizeof value);
}

template <class Vector>
inline Vector broadcast(double value) {
  return Vector{} + value;
}

}  // namespace
}  // namespace nustream::noise
