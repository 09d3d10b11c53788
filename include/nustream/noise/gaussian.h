// Standard normal samples from uniform words: the same bits on every machine, compiler and instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nustream::noise {

/// The code paths of the vectorised loops (Gaussian, recurrent filter, rounding to the grid). All of them give
/// the same bits; `baseline` is what every processor of the architecture has (SSE2 on x86-64, NEON on aarch64).
enum class InstructionSet { baseline, avx2, avx512 };

/// The paths that this processor can run, slowest first; never empty.
[[nodiscard]] const std::vector<InstructionSet>& available_instruction_sets();
/// The last of them, chosen once per process: what the noise runs on.
[[nodiscard]] InstructionSet fastest_instruction_set();

/// Words that are turned into samples together; samples i and i + gaussian_chunk/2 of a chunk are a pair.
inline constexpr std::size_t gaussian_chunk = 256;

struct GaussianPair {
  double cosine;
  double sine;
};

/// One pair of independent N(0, 1) samples, √(−2 ln u)·(cos φ, sin φ) with u from all 64 bits of `radius_word`,
/// centred and never 0 (u ≥ 2^-65: samples reach 9.49), and φ from 62 bits of `angle_word`. Computed with IEEE
/// + − × ÷ √ and integers only, without contraction. Absolute error below 4e-15 + 2^-53/r at radius r: u has the
/// resolution of a double, 2^-53 near 1, where r is near 0.
///
/// Source: Box and Muller 1958; logarithm, sine and cosine after FreeBSD's msun (e_log.c, k_sin.c, k_cos.c).
[[nodiscard]] GaussianPair gaussian_pair(std::uint64_t radius_word, std::uint64_t angle_word) noexcept;

/// Turns whole chunks of independent uniform `words` into as many N(0, 1) samples, by gaussian_pair() of words i
/// and i + gaussian_chunk/2 of each chunk: its vectorised equal. `samples` is as long as `words`, a multiple of
/// gaussian_chunk; `set` must be available.
void fill_gaussian(std::span<const std::uint64_t> words, std::span<double> samples,
                   InstructionSet set = fastest_instruction_set());

}  // namespace nustream::noise
