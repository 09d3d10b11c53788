// Samples of seed noise from the keys of their steps. A sample is a function of the cipher key of its part and of its
// number within the block alone, so it does not matter in which order or in which pieces steps are asked for.
#include "seed_noise.h"

#include <algorithm>
#include <array>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

// The words and samples of one batch fit together into the first-level cache.
constexpr std::size_t batch = 8 * gaussian_chunk;

}  // namespace

KeyedSeedNoise::KeyedSeedNoise(KeyRing& keys, std::size_t width, InstructionSet set)
    : keys_(keys), width_(width), set_(set), words_(batch) {}

void KeyedSeedNoise::fill(StepIndex first, std::size_t steps, std::span<double> out) {
  NUSTREAM_REQUIRE(out.size() == steps * width_, "seed noise has its place");
  for (std::size_t done = 0; done < steps;) {
    const std::uint64_t step = first.value() + done;
    const KeyRing::Part part = keys_.part_of(step);
    const std::size_t count = std::min<std::uint64_t>(steps - done, part.end - step);
    const std::size_t within = step % keys_.block_steps();
    use_key(part.number, step);
    fill_in_block(within * width_, out.subspan(done * width_, count * width_));
    done += count;
  }
}

void KeyedSeedNoise::use_key(std::uint64_t part, std::uint64_t step) {
  // The key is asked for even where it is in use, so that a step whose key was wiped ends the process.
  const KeyBytes& key = keys_.cipher_key(step);
  if (part == keyed_part_) return;
  keystream_.set_key(key);
  keyed_part_ = part;
}

/// Whole chunks go straight to `out`; a chunk of which only a part is asked for is computed whole and copied from.
void KeyedSeedNoise::fill_in_block(std::uint64_t sample, std::span<double> out) {
  // Samples up to the next chunk, where the piece begins inside one.
  const std::size_t head =
      std::min<std::size_t>(out.size(), (gaussian_chunk - sample % gaussian_chunk) % gaussian_chunk);
  fill_part(sample, out.first(head));
  const std::size_t whole = (out.size() - head) / gaussian_chunk * gaussian_chunk;
  fill_chunks(sample + head, out.subspan(head, whole));
  fill_part(sample + head + whole, out.subspan(head + whole));
}

void KeyedSeedNoise::fill_chunks(std::uint64_t sample, std::span<double> out) {
  for (std::size_t done = 0; done < out.size(); done += batch) {
    const auto samples = out.subspan(done, std::min(batch, out.size() - done));
    const auto words = std::span(words_).first(samples.size());
    keystream_.fill(sample + done, words);
    fill_gaussian(words, samples, set_);
  }
}

void KeyedSeedNoise::fill_part(std::uint64_t sample, std::span<double> out) {
  if (out.empty()) return;
  // Samples i and i + 128 of a chunk come from one pair of words, so a chunk of which a piece is asked for is
  // computed whole.
  const std::size_t within = sample % gaussian_chunk;
  std::array<double, gaussian_chunk> chunk;
  fill_chunks(sample - within, chunk);
  std::copy_n(chunk.begin() + static_cast<std::ptrdiff_t>(within), out.size(), out.begin());
}

// Sample n < 128 of a chunk is the cosine of pair n, and sample n + 128 its sine.
double seed_sample(const KeyBytes& cipher_key, std::uint64_t n) {
  constexpr std::uint64_t half = gaussian_chunk / 2;
  const std::uint64_t radius_index = n / gaussian_chunk * gaussian_chunk + n % half;
  Keystream keystream;
  keystream.set_key(cipher_key);
  const auto word = [&keystream](std::uint64_t index) {
    // The keystream is read from even words on.
    std::array<std::uint64_t, 2> pair{};
    keystream.fill(index / 2 * 2, pair);
    return pair[index % 2];
  };
  const GaussianPair pair = gaussian_pair(word(radius_index), word(radius_index + half));
  return n % gaussian_chunk < half ? pair.cosine : pair.sine;
}

}  // namespace nustream::noise
