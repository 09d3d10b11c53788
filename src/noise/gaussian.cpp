// Chooses among the compiled loops for Gaussian samples. All of them give the same bits, so the choice is one of
// speed alone, and a state may move between processors.
#include "nustream/noise/gaussian.h"

#include <algorithm>

#include "kernel_gaussian.h"
#include "kernels.h"
#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

static_assert(gaussian_chunk == 2 * pairs_per_chunk);

/// What this processor can run, from the slowest to the fastest: fastest_instruction_set() takes the last.
std::vector<InstructionSet> detect() {
  std::vector<InstructionSet> sets{InstructionSet::baseline};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) sets.push_back(InstructionSet::avx2);
  // kernels_avx512.cpp is compiled with all of these extensions, so a processor must have every one.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    sets.push_back(InstructionSet::avx512);
  }
#endif
  return sets;
}

bool is_available(InstructionSet set) {
  const auto& sets = available_instruction_sets();
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

}  // namespace

const std::vector<InstructionSet>& available_instruction_sets() {
  static const std::vector<InstructionSet> sets = detect();
  return sets;
}

InstructionSet fastest_instruction_set() {
  return available_instruction_sets().back();
}

const Kernels& kernels(InstructionSet set) {
  NUSTREAM_REQUIRE(is_available(set), "an instruction set that this processor has");
#if defined(__x86_64__)
  if (set == InstructionSet::avx512) return kernels_avx512;
  if (set == InstructionSet::avx2) return kernels_avx2;
#endif
  return kernels_baseline;
}

// One pair by itself, as the plain twin of fill_gaussian().
GaussianPair gaussian_pair(std::uint64_t radius_word, std::uint64_t angle_word) noexcept {
  GaussianPair pair{};
  box_muller(radius_word, angle_word, pair.cosine, pair.sine);
  return pair;
}

void fill_gaussian(std::span<const std::uint64_t> words, std::span<double> samples, InstructionSet set) {
  // Words i and i + 128 of a chunk make its samples i and i + 128, so no part of a chunk can be computed by itself.
  NUSTREAM_REQUIRE(words.size() == samples.size() && words.size() % gaussian_chunk == 0,
                   "the Gaussian takes whole chunks of words");
  kernels(set).gaussian(words.data(), samples.data(), words.size());
}

}  // namespace nustream::noise
