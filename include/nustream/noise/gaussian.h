// Turns uniform words into standard normal samples, with the same bits on every machine, compiler and instruction
// set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nustream::noise {

/// The instruction sets that the vectorised loops (Gaussian, recurrent filter, rounding to the grid) are compiled
/// for. All of them give the same bits. `baseline` is what every processor of the architecture has: SSE2 on x86-64,
/// NEON on aarch64.
enum class InstructionSet { baseline, avx2, avx512 };

/// The instruction sets that this processor can run, the slowest first; never empty.
[[nodiscard]] const std::vector<InstructionSet>& available_instruction_sets();
/// The fastest of them, which the noise runs on. It is chosen once per process.
[[nodiscard]] InstructionSet fastest_instruction_set();

/// The number of words that are turned into samples together. Samples i and i + gaussian_chunk/2 of a chunk are a
/// pair.
inline constexpr std::size_t gaussian_chunk = 256;

struct GaussianPair {
  double cosine;
  double sine;
};

/// One pair of independent N(0, 1) samples, √(−2 ln u)·(cos φ, sin φ). u comes from all 64 bits of `radius_word` and
/// is centred and never 0 (u ≥ 2^-65, so no sample is beyond 9.50). φ comes from 62 bits of `angle_word`. Only IEEE +
/// − × ÷ √ and integers are used, without contraction.
///
/// The absolute error is below 4e-15 + 2^-53/r at radius r. The second term comes from u, which has the resolution of
/// a double: 2^-53 near u = 1, where r is near 0.
///
/// Source: Box and Muller 1958; logarithm, sine and cosine after FreeBSD's msun (e_log.c, k_sin.c, k_cos.c).
[[nodiscard]] GaussianPair gaussian_pair(std::uint64_t radius_word, std::uint64_t angle_word) noexcept;

/// Turns whole chunks of independent uniform `words` into as many N(0, 1) samples. The result equals gaussian_pair()
/// of words i and i + gaussian_chunk/2 of each chunk, computed in vectors. `samples` is as long as `words`, a
/// multiple of gaussian_chunk, and `set` must be available; the process ends otherwise.
void fill_gaussian(std::span<const std::uint64_t> words, std::span<double> samples,
                   InstructionSet set = fastest_instruction_set());

}  // namespace nustream::noise
