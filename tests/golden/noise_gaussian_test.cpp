// Long runs of the noise are hashed, so that one changed bit anywhere shows. The hashes stand in
// docs/formats/noise.md; a change of any of them is a change of format. Every instruction set gives these hashes, by
// gcc and clang, and so does aarch64.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "noise/generator.h"
#include "noise/seed_noise.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256() { EVP_MD_CTX_free(context_); }

  void update(const std::vector<double>& values) {
    EVP_DigestUpdate(context_, values.data(), values.size() * sizeof(double));
  }
  [[nodiscard]] std::string hex() {
    std::array<std::uint8_t, 32> digest{};
    EVP_DigestFinal_ex(context_, digest.data(), nullptr);
    return testing::to_hex(digest);
  }

 private:
  EVP_MD_CTX* context_;
};

constexpr std::uint64_t golden_blocks = 64;

// Weights and rates that are exact in binary, so that the hash does not depend on how poles are found.
const std::vector<double> golden_p{0.5, 0.75, 0.875, 0.9375, 0.96875, 0.984375};
const std::vector<double> golden_a{0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};

std::string hash_of_seed(std::size_t dimension, InstructionSet set) {
  const std::size_t steps = steps_per_block(dimension);
  KeyRing keys(first_checkpoint(testing::example_epoch_key(), testing::example_stage()).segments, steps,
               std::pmr::get_default_resource());
  KeyedSeedNoise seed(keys, dimension, set);
  Sha256 hash;
  std::vector<double> w(steps * dimension);
  for (std::uint64_t block = 0; block < golden_blocks; ++block) {
    seed.fill(StepIndex{block * steps}, steps, w);
    hash.update(w);
  }
  return hash.hex();
}

std::string hash_of_recurrent(std::size_t dimension, InstructionSet set) {
  const std::size_t steps = steps_per_block(dimension);
  KeyRing keys(first_checkpoint(testing::example_epoch_key(), testing::example_stage()).segments, steps,
               std::pmr::get_default_resource());
  KeyedSeedNoise seed(keys, dimension, set);
  const auto generator = make_recurrent(golden_p, golden_a, dimension, set);
  Sha256 hash;
  std::vector<double> z(steps * dimension);
  for (std::uint64_t block = 0; block < golden_blocks; ++block) {
    generator->generate(StepIndex{block * steps}, steps, seed, z);
    hash.update(z);
  }
  return hash.hex();
}

struct Golden {
  std::size_t dimension;
  std::string seed;
  std::string recurrent;
};

// The hashes are from noise_gaussian_twin.py, which shares no code with the library.
const std::vector<Golden> goldens{
    {1, "461c656760a5eb442f64c85802fba193201f001c9da72019ad8ced35867ce0b1",
     "27ea17a7b9e1d9f934104123c7bba570cef6a7d747357c2744b770550c4c5f38"},
    {10, "6f86d236ff14f53696bc2a688ec9a93fb25cdbb308f6fb7f7aab06a4ee21cb45",
     "13aa1c90714c9a65053cd954d321fd2c3fc8bf7cc74076319e083682d3690381"},
    {1000, "7762276c34c182924be84faedb08760255f122643f4cb41d8f8cc27147ce2a7f",
     "98116d22724813ebac9c5f9aec6b4e9d43bc42bdb7486ea176cd2819b3bbfb1a"},
};

TEST(NoiseGolden, SeedNoiseOnEveryInstructionSet) {
  for (const auto& golden : goldens) {
    for (const auto set : available_instruction_sets()) {
      EXPECT_EQ(hash_of_seed(golden.dimension, set), golden.seed) << "dimension " << golden.dimension;
    }
  }
}

TEST(NoiseGolden, RecurrentNoiseOnEveryInstructionSet) {
  for (const auto& golden : goldens) {
    for (const auto set : available_instruction_sets()) {
      EXPECT_EQ(hash_of_recurrent(golden.dimension, set), golden.recurrent) << "dimension " << golden.dimension;
    }
  }
}

TEST(NoiseGolden, StandsInTheFormatPage) {
  std::ifstream file(NUSTREAM_ROOT_DIR "/docs/formats/noise.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& golden : goldens) {
    EXPECT_NE(text.str().find(golden.seed), std::string::npos);
    EXPECT_NE(text.str().find(golden.recurrent), std::string::npos);
  }
}

}  // namespace
}  // namespace nustream::noise
