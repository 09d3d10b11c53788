// Keys: HKDF against RFC 5869, the chain against values computed with Python's hmac, and what is left in memory.
#include <gtest/gtest.h>

#include <memory>
#include <memory_resource>
#include <set>
#include <string>
#include <vector>

#include "noise/hkdf.h"
#include "noise/key_ring.h"
#include "support/noise_glass.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

using testing::example_epoch_key;
using testing::example_stage;
using testing::Glass;
using testing::to_hex;

std::vector<std::uint8_t> repeated(std::uint8_t first, std::size_t count, std::uint8_t step = 1) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(first + i * step);
  return bytes;
}

const KeyBytes& key_of(const Checkpoint& checkpoint) {
  return checkpoint.segments.front().chain_key;
}

// Blocks have one step, so that the number of a block is that of its step.
std::vector<Segment> segment(std::uint64_t first, const KeyBytes& key) {
  return {{StepIndex{first}, key}};
}

struct Rfc5869Case {
  std::vector<std::uint8_t> input, salt, info;
  std::string extracted, expanded;
};

// The vectors are those of RFC 5869, appendices A.1, A.2 and A.3.
TEST(Hkdf, GivesTheVectorsOfTheRfc) {
  const std::vector<Rfc5869Case> cases{
      {repeated(0x0b, 22, 0), repeated(0x00, 13), repeated(0xf0, 10),
       "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
       "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
      {repeated(0x00, 80), repeated(0x60, 80), repeated(0xb0, 80),
       "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
       "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f"
       "09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"},
      {repeated(0x0b, 22, 0),
       {},
       {},
       "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
       "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"}};
  Hkdf hkdf;
  for (const auto& vector : cases) {
    KeyBytes key{};
    hkdf.extract(vector.salt, vector.input, key);
    EXPECT_EQ(to_hex(key), vector.extracted);
    std::vector<std::uint8_t> output(vector.expanded.size() / 2);
    hkdf.expand(key, vector.info, output);
    EXPECT_EQ(to_hex(output), vector.expanded);
  }
}

// The values were computed with Python 3.11's hmac and hashlib, from the page on the layout alone.
TEST(KeyChain, GivesTheGoldenVectors) {
  const Checkpoint start = first_checkpoint(example_epoch_key(), example_stage());
  ASSERT_EQ(start.segments.size(), 1U);
  EXPECT_EQ(start.segments.front().first, StepIndex{0});
  EXPECT_TRUE(start.memory.empty());
  EXPECT_EQ(to_hex(start.segments.front().chain_key),
            "1012ca8d724f5876cd3c9072a864974e81b3f5d1d54a63eb87148b2d3f4c2879");
  KeyRing ring(start.segments, 1, std::pmr::get_default_resource());
  EXPECT_EQ(to_hex(ring.cipher_key(0)), "b580d4175631597fa1777c7aaeee025e4522e7cacee224714b5784ec258d9dc4");
  EXPECT_EQ(to_hex(ring.chain_key(1)), "1970ddb8fa42d0092ed31d54bdbd80a537fb797352c5db6661564e2a6239d00d");
  EXPECT_EQ(to_hex(ring.cipher_key(1)), "1dc05f8174eab092bb9ecd35eb862dcb4b46a12cfd95d29e66514d2a997b2669");
  EXPECT_EQ(to_hex(ring.cipher_key(2)), "047aef37f9db42f2bc64d84fdbdec7c948ac84dfab7b7799285dd862129683d0");
  EXPECT_EQ(to_hex(ring.chain_key(3)), "8c94df215329bd5f1c3dac1739171171d04fc87e4a1479386710cb4d11c777f3");
}

// Each (lane, epoch, stage) has a key of its own: the difference of two that shared a key could be read without
// noise.
TEST(KeyChain, DiffersByLaneEpochStageAndEpochKey) {
  std::set<std::string> keys;
  for (std::uint32_t lane : {0U, 1U, 256U}) {
    for (std::uint32_t epoch : {0U, 1U, 256U}) {
      for (std::uint32_t stage : {0U, 1U, 256U}) {
        keys.insert(to_hex(key_of(first_checkpoint(example_epoch_key(), {LaneId{lane}, EpochId{epoch}, stage}))));
      }
    }
  }
  KeyBytes other = example_epoch_key();
  other[31] ^= 1;
  keys.insert(to_hex(key_of(first_checkpoint(other, {LaneId{0}, EpochId{0}, 0}))));
  EXPECT_EQ(keys.size(), 28U);
}

// The number of a block is part of its key's derivation: a checkpoint with a wrong block number gives other noise,
// and not the same noise at another step.
TEST(KeyChain, BindsTheBlockNumber) {
  const KeyBytes chain = key_of(first_checkpoint(example_epoch_key(), example_stage()));
  KeyRing zero(segment(0, chain), 1, std::pmr::get_default_resource());
  KeyRing one(segment(1, chain), 1, std::pmr::get_default_resource());
  EXPECT_NE(zero.cipher_key(0), one.cipher_key(1));
  EXPECT_NE(zero.chain_key(1), one.chain_key(2));
}

TEST(KeyRing, HoldsAWindowOfManyBlocks) {
  const KeyBytes chain = key_of(first_checkpoint(example_epoch_key(), example_stage()));
  KeyRing walked(segment(0, chain), 1, std::pmr::get_default_resource());
  std::vector<KeyBytes> ciphers;
  for (std::uint64_t block = 0; block < 100; ++block) ciphers.push_back(walked.cipher_key(block));
  for (std::uint64_t block = 0; block < 100; ++block) EXPECT_EQ(walked.cipher_key(block), ciphers[block]) << block;
  KeyRing leaped(segment(0, chain), 1, std::pmr::get_default_resource());
  EXPECT_EQ(leaped.cipher_key(99), ciphers[99]);
  leaped.forget_before(98);
  KeyRing continued(segment(98, leaped.chain_key(98)), 1, std::pmr::get_default_resource());
  EXPECT_EQ(continued.cipher_key(99), ciphers[99]);
}

TEST(KeyRingDeathTest, RefusesAForgottenBlock) {
  KeyRing ring(segment(0, example_epoch_key()), 1, std::pmr::get_default_resource());
  static_cast<void>(ring.cipher_key(5));
  ring.forget_before(3);
  EXPECT_EQ(ring.oldest(), 3U);
  EXPECT_DEATH(static_cast<void>(ring.cipher_key(2)), "contract violated: the noise of a block whose key was wiped");
  EXPECT_DEATH(static_cast<void>(ring.chain_key(2)), "contract violated");
  EXPECT_DEATH(static_cast<void>(ring.chain_key(7)), "contract violated");
  EXPECT_DEATH(ring.forget_before(7), "contract violated");
}

TEST(KeyRing, LeavesNoForgottenKeyInMemory) {
  Glass glass;
  const KeyBytes start = key_of(first_checkpoint(example_epoch_key(), example_stage()));
  std::vector<KeyBytes> keys;
  auto ring = std::make_unique<KeyRing>(segment(0, start), 1, &glass);
  for (std::uint64_t block = 0; block < 20; ++block) {
    keys.push_back(ring->cipher_key(block));
    keys.push_back(ring->chain_key(block));
  }
  for (const auto& key : keys) EXPECT_TRUE(glass.shows(key));
  ring->forget_before(10);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(glass.shows(keys[i]), i >= 20) << i;
  EXPECT_FALSE(glass.shows(start));
  ring.reset();
  for (const auto& key : keys) EXPECT_FALSE(glass.shows(key));
}

TEST(Wipe, Overwrites) {
  KeyBytes key = example_epoch_key();
  wipe(key);
  EXPECT_EQ(key, KeyBytes{});
}

}  // namespace
}  // namespace nustream::noise
