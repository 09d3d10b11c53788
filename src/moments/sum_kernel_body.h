// The code of sum_kernel.h, compiled once for each instruction set. NUSTREAM_SUM_KERNEL names the Variant to define.
//
// Nothing here may call an inline function of a shared header unless it is always inlined. The linker could otherwise
// keep the copy with the wider instructions for everyone.
#include <numbers>

#include "descent/pack.h"
#include "moments/sum_kernel.h"
#include "nustream/descent/packed.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace nustream::moments::kernel {
namespace {

// Lanes holds as many doubles as one instruction takes. plus_truncated() rounds towards zero, for numbers within
// ±2^51; what a lane beyond that adds is of no use, and may wrap.
#if defined(__AVX512F__) && defined(__AVX512DQ__)

using Lanes = __m512d;
using Sums = __m512i;
constexpr std::size_t lane_count = 8;

inline Lanes load(const double* from) {
  return _mm512_loadu_pd(from);
}
inline Lanes times(double a, Lanes b) {
  return _mm512_mul_pd(_mm512_set1_pd(a), b);
}
inline Lanes times(Lanes a, Lanes b) {
  return _mm512_mul_pd(a, b);
}
inline void store(double* to, Lanes value) {
  _mm512_storeu_pd(to, value);
}
inline Sums load(const std::int64_t* from) {
  return _mm512_loadu_si512(from);
}
inline void store(std::int64_t* to, Sums value) {
  _mm512_storeu_si512(to, value);
}
inline Sums plus_truncated(Sums sums, Lanes value) {
  return _mm512_add_epi64(sums, _mm512_cvttpd_epi64(value));
}

#elif defined(__AVX2__)

using Lanes = __m256d;
using Sums = __m256i;
constexpr std::size_t lane_count = 4;

inline Lanes load(const double* from) {
  return _mm256_loadu_pd(from);
}
inline Lanes times(double a, Lanes b) {
  return _mm256_mul_pd(_mm256_set1_pd(a), b);
}
inline Lanes times(Lanes a, Lanes b) {
  return _mm256_mul_pd(a, b);
}
inline void store(double* to, Lanes value) {
  _mm256_storeu_pd(to, value);
}
inline Sums load(const std::int64_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline void store(std::int64_t* to, Sums value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
inline Sums plus_truncated(Sums sums, Lanes value) {
  // Adding 1.5·2^52 to an integer below 2^51 leaves that integer in the low bits. AVX2 has no conversion for 64 bits.
  const __m256d shift = _mm256_set1_pd(0x1.8p52);
  const __m256d shifted = _mm256_add_pd(_mm256_round_pd(value, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC), shift);
  return _mm256_add_epi64(sums, _mm256_sub_epi64(_mm256_castpd_si256(shifted), _mm256_castpd_si256(shift)));
}

#else

using Lanes = double;
using Sums = std::int64_t;
constexpr std::size_t lane_count = 1;

inline Lanes load(const double* from) {
  return *from;
}
inline Lanes times(double a, Lanes b) {
  return a * b;
}
inline void store(double* to, Lanes value) {
  *to = value;
}
inline Sums load(const std::int64_t* from) {
  return *from;
}
inline void store(std::int64_t* to, Sums value) {
  *to = value;
}
inline Sums plus_truncated(Sums sums, Lanes value) {
  return sums + static_cast<std::int64_t>(value);
}

#endif

namespace pack = descent::kernel;

// Calls body(at, Whole or First) for the pack of eight entries that begins at each `at`.
template <class Body>
inline void each_pack(std::size_t d, const Body& body) {
  const std::size_t before_last = (d - 1) / pack::pack_size * pack::pack_size;
  for (std::size_t at = 0; at < before_last; at += pack::pack_size) body(at, pack::Whole{});
  body(before_last, pack::First{d - before_last});
}

double squares(const double* v, std::size_t d) {
  pack::Reals sums{};
  each_pack(d, [&](std::size_t at, auto entries) {
    const pack::Reals own = pack::get(v + at, entries);
    sums = sums + own * own;
  });
  return pack::sum(sums);
}

double scaled_product(const double* v, std::size_t d, double factor, const double* theta, double* u) {
  pack::Reals sums{};
  each_pack(d, [&](std::size_t at, auto entries) {
    const pack::Reals scaled = factor * pack::get(v + at, entries);
    pack::store(u + at, scaled);
    sums = sums + scaled * pack::get(theta + at, entries);
  });
  return pack::sum(sums);
}

// Every sum stays in a register while the rows are added to it.
template <class Term>
inline void add_rows(std::int64_t* sums, std::size_t rows, const Term& term) {
  Sums total = load(sums);
  for (std::size_t k = 0; k < rows; ++k) total = plus_truncated(total, term(k));
  store(sums, total);
}

void add_vectors(const double* u, std::size_t rows, std::size_t d, const double* units, std::int64_t* sums) {
  const std::size_t stride = descent::packed_size(d);
  for (std::size_t at = 0; at < d; at += lane_count) {
    add_rows(sums + at, rows, [&](std::size_t k) { return times(units[k], load(u + k * stride + at)); });
  }
}

void add_outers(const double* u, std::size_t rows, std::size_t d, const double* units, double* scaled,
                std::int64_t* sums) {
  const std::size_t stride = descent::packed_size(d);
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t at = 0; at < d; at += lane_count) {
      store(scaled + k * stride + at, times(units[k], load(u + k * stride + at)));
    }
  }
  for (std::size_t at = 0; at < d; at += lane_count, sums += lane_count) {
    add_rows(sums, rows,
             [&](std::size_t k) { return times(load(scaled + k * stride + at), load(u + k * stride + at)); });
  }
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t at = 0; at < d; at += lane_count) {
      store(scaled + k * stride + at, times(std::numbers::sqrt2, load(scaled + k * stride + at)));
    }
  }
  for (std::size_t i = 0; i + 1 < d; ++i) {
    for (std::size_t at = (i + 1) / lane_count * lane_count; at < d; at += lane_count, sums += lane_count) {
      add_rows(sums, rows, [&](std::size_t k) { return times(scaled[k * stride + i], load(u + k * stride + at)); });
    }
  }
}

}  // namespace

extern const Variant NUSTREAM_SUM_KERNEL{lane_count, squares, scaled_product, add_vectors, add_outers};

}  // namespace nustream::moments::kernel
