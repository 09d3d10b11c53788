// The Gaussian against the C library's long double functions, and every instruction set against the plain twin.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "noise/keystream.h"
#include "noise/seed_noise.h"
#include "nustream/noise/gaussian.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

struct ExactPair {
  long double cosine, sine;
};

// The formula of Box and Muller as the page on the layout states it, in extended precision.
ExactPair exact_pair(std::uint64_t radius_word, std::uint64_t angle_word) {
  const long double u = (static_cast<long double>(radius_word) + 0.5L) * 0x1p-64L;
  // Near u = 1 the centred uniform needs more than 64 bits: ln u = ln(1 − (1 − u)).
  const long double complement = (static_cast<long double>(~radius_word) + 0.5L) * 0x1p-64L;
  const long double logarithm = u < 0.5L ? std::log(u) : std::log1p(-complement);
  const long double radius = std::sqrt(-2 * logarithm);
  const std::uint64_t place = (angle_word >> 10) & 0xfffffffffffffU;
  const long double turns = (static_cast<long double>(place) + 0.5L) * 0x1p-52L - 0.5L +
                            static_cast<long double>(angle_word >> 63) +
                            2 * static_cast<long double>((angle_word >> 62) & 1U);
  const long double angle = turns * std::numbers::pi_v<long double> / 2;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Words of all zeros and all ones, powers of two and their neighbours: shifts and masks go wrong there.
std::vector<std::uint64_t> edge_words() {
  std::vector<std::uint64_t> words{0, ~std::uint64_t{0}};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    words.insert(words.end(), {power, power - 1, ~power, ~power + 1});
  }
  return words;
}

std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> words(count);
  std::generate(words.begin(), words.end(), std::ref(random));
  return words;
}

// Near u = 1 the double to which u is rounded is off by up to 2^-54, and √(−2 ln u) by that over the radius.
double rounding_of_uniform(const ExactPair& exact) {
  return 0x1p-53 / static_cast<double>(std::hypot(exact.cosine, exact.sine));
}

double error(const GaussianPair& pair, const ExactPair& exact) {
  return static_cast<double>(std::max(std::abs(exact.cosine - pair.cosine), std::abs(exact.sine - pair.sine)));
}

TEST(Gaussian, IsTheExactFormulaToTwoEMinus15) {
  const auto words = random_words(2'000'000, 1);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto exact = exact_pair(words[i], words[i + 1]);
    ASSERT_LT(error(gaussian_pair(words[i], words[i + 1]), exact), 2e-15 + rounding_of_uniform(exact));
  }
}

TEST(Gaussian, IsTheExactFormulaAtTheEdges) {
  for (const auto radius_word : edge_words()) {
    for (const auto angle_word : edge_words()) {
      const auto exact = exact_pair(radius_word, angle_word);
      // The largest radius, 9.5, has ulps twice as large as the radii that the random words meet.
      const double allowed = 4e-15 + rounding_of_uniform(exact);
      ASSERT_LT(error(gaussian_pair(radius_word, angle_word), exact), allowed) << radius_word << " " << angle_word;
    }
  }
}

// The samples of 32-bit uniforms would end at 6.66. A release that never goes beyond that would tell where the noise
// was cut.
TEST(Gaussian, ReachesAsFarAsItsRadiusWordAllows) {
  const auto pair = gaussian_pair(0, 0);
  EXPECT_NEAR(std::hypot(pair.cosine, pair.sine), std::sqrt(2 * 65 * std::numbers::ln2), 1e-12);
  const auto smallest = gaussian_pair(~std::uint64_t{0}, 0);
  EXPECT_TRUE(std::isfinite(smallest.cosine) && std::isfinite(smallest.sine));
}

TEST(Gaussian, IsTheSameToTheBitOnEveryInstructionSet) {
  auto words = random_words(1 << 18, 2);
  const auto edges = edge_words();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = 0; j < edges.size(); ++j) {
      const std::size_t pair = i * edges.size() + j;
      const std::size_t chunk = pair / (gaussian_chunk / 2) * gaussian_chunk;
      if (chunk + gaussian_chunk > words.size()) break;
      words[chunk + pair % (gaussian_chunk / 2)] = edges[i];
      words[chunk + pair % (gaussian_chunk / 2) + gaussian_chunk / 2] = edges[j];
    }
  }
  for (const auto set : available_instruction_sets()) {
    std::vector<double> samples(words.size());
    fill_gaussian(words, samples, set);
    for (std::size_t chunk = 0; chunk < words.size(); chunk += gaussian_chunk) {
      for (std::size_t i = chunk; i < chunk + gaussian_chunk / 2; ++i) {
        const auto pair = gaussian_pair(words[i], words[i + gaussian_chunk / 2]);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(samples[i]), std::bit_cast<std::uint64_t>(pair.cosine));
        ASSERT_EQ(std::bit_cast<std::uint64_t>(samples[i + gaussian_chunk / 2]),
                  std::bit_cast<std::uint64_t>(pair.sine));
      }
    }
  }
}

TEST(GaussianDeathTest, RefusesPartialChunks) {
  std::vector<std::uint64_t> words(gaussian_chunk + 1);
  std::vector<double> samples(gaussian_chunk + 1);
  EXPECT_DEATH(fill_gaussian(words, samples), "contract violated");
}

// These words were computed with Python's cryptography package, from the page on the layout alone.
TEST(Keystream, GivesTheGoldenWords) {
  KeyRing ring(first_checkpoint(testing::example_epoch_key(), testing::example_stage()).segments, 16384,
               std::pmr::get_default_resource());
  Keystream keystream;
  keystream.set_key(ring.cipher_key(0));
  std::vector<std::uint64_t> words(4096);
  keystream.fill(0, words);
  EXPECT_EQ(words[0], 0xc29c8a97b46140d0U);
  EXPECT_EQ(words[1], 0x7c90c200d9f31cc7U);
  EXPECT_EQ(words[2], 0x7a5ed874aab1c263U);
  EXPECT_EQ(words[255], 0x88bc5b0c0c493acU);
  EXPECT_EQ(words[4095], 0x70c386fe6b02a916U);
}

TEST(Keystream, IsAddressable) {
  Keystream whole;
  whole.set_key(testing::example_epoch_key());
  std::vector<std::uint64_t> words(10'000);
  whole.fill(0, words);
  Keystream part;
  part.set_key(testing::example_epoch_key());
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t first = random() % 4500 * 2;
    std::vector<std::uint64_t> some(1 + random() % 1000);
    part.fill(first, some);
    ASSERT_TRUE(std::equal(some.begin(), some.end(), words.begin() + static_cast<std::ptrdiff_t>(first)));
  }
}

TEST(Keystream, GoesOnAfterHalfACipherBlock) {
  Keystream keystream;
  keystream.set_key(testing::example_epoch_key());
  std::vector<std::uint64_t> words(8);
  keystream.fill(0, words);
  std::vector<std::uint64_t> odd(5);
  std::vector<std::uint64_t> after(4);
  keystream.fill(0, odd);
  keystream.fill(4, after);
  EXPECT_TRUE(std::equal(after.begin(), after.end(), words.begin() + 4));
}

// The samples were computed with fifty digits in mpmath, from the golden words.
TEST(SeedNoise, GivesTheGoldenSamples) {
  KeyRing ring(first_checkpoint(testing::example_epoch_key(), testing::example_stage()).segments, 16384,
               std::pmr::get_default_resource());
  KeyedSeedNoise noise(ring, 1);
  std::vector<double> samples(4096);
  noise.fill(StepIndex{0}, samples.size(), samples);
  const std::pair<std::size_t, double> golden[] = {
      {0, 0.082074390902263700693},  {1, -0.74363181689978772863},   {127, 1.0822278014542593605},
      {128, -0.735940392578684753},  {129, -0.94218038826036156307}, {255, -0.70232926295946393311},
      {256, -2.4444012580269753906}, {300, -2.3196638383692861575},  {4095, -0.60949035236718931338}};
  for (const auto& [index, value] : golden) EXPECT_NEAR(samples[index], value, 2e-15) << index;
}

}  // namespace
}  // namespace nustream::noise
