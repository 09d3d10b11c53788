// The segments of a key ring: their keys, how long they are, and how many there may be.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "noise/key_ring.h"
#include "nustream/noise/source.h"
#include "support/noise_fresh_bytes.h"
#include "support/noise_key_example.h"

namespace nustream::noise {
namespace {

using testing::example_epoch_key;
using testing::example_stage;
using testing::Script;

KeyRing::Cuts cuts(Healing healing, std::uint64_t next_step, std::uint64_t length_min = 1) {
  return {std::move(healing), next_step, length_min};
}

Healing bytes_from_0x80(bool resumed) {
  return {[](std::span<std::uint8_t> bytes) {
            for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(0x80 + i);
          },
          resumed};
}

// These values were computed with Python's hmac from docs/formats/noise.md; the fresh bytes are 80 81 … 9f.
TEST(Healing, GivesTheGoldenVectors) {
  const Checkpoint start = first_checkpoint(example_epoch_key(), example_stage());
  KeyRing bordered(start.segments, 16, std::pmr::get_default_resource(), cuts(bytes_from_0x80(false), 0));
  using testing::to_hex;
  EXPECT_EQ(to_hex(bordered.cipher_key(15)), "b580d4175631597fa1777c7aaeee025e4522e7cacee224714b5784ec258d9dc4");
  EXPECT_EQ(to_hex(bordered.cipher_key(16)), "fd9a5737722a506396b5e1ad70a9c384b9bbb0d1ce0a165814705d4731e720aa");
  EXPECT_EQ(to_hex(bordered.chain_key(16)), "ae4df6b3df5dd8d9bfe25852a4b5dfec55629998901820f639195cb91a2d07f3");
  EXPECT_EQ(to_hex(bordered.chain_key(32)), "1a54324d2a3fb7b2d663c2ecb2f797b2ba5b1c60528caf72a4323e64b2acadcf");
  KeyRing resumed(start.segments, 16, std::pmr::get_default_resource(), cuts(bytes_from_0x80(true), 5));
  EXPECT_EQ(to_hex(resumed.cipher_key(4)), "b580d4175631597fa1777c7aaeee025e4522e7cacee224714b5784ec258d9dc4");
  EXPECT_EQ(to_hex(resumed.chain_key(5)), "1970ddb8fa42d0092ed31d54bdbd80a537fb797352c5db6661564e2a6239d00d");
  EXPECT_EQ(to_hex(resumed.cipher_key(5)), "926e69c60d248826db6be6297ff08636bd8ed29a4ac15b2df76fa1fee9ae056d");
  EXPECT_EQ(to_hex(resumed.chain_key(5)), "ae4df6b3df5dd8d9bfe25852a4b5dfec55629998901820f639195cb91a2d07f3");
  EXPECT_EQ(resumed.segments(0, 5).size(), 2U);
}

TEST(Healing, LengthensSegmentsWhereTheyAreToBeLonger) {
  Script script(74);
  const Checkpoint start = first_checkpoint(example_epoch_key(), example_stage());
  KeyRing keys(start.segments, 4, std::pmr::get_default_resource(), cuts(script.healing(false), 0, 7));
  static_cast<void>(keys.cipher_key(99));
  std::vector<std::uint64_t> firsts;
  for (const Segment& segment : keys.segments(0, 99)) firsts.push_back(segment.first.value());
  EXPECT_EQ(firsts, (std::vector<std::uint64_t>{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96}));
}

TEST(Healing, BeginsNoMoreSegmentsThanAStateHolds) {
  Script script(75);
  const Checkpoint start = first_checkpoint(example_epoch_key(), example_stage());
  KeyRing keys(start.segments, 1, std::pmr::get_default_resource(), cuts(script.healing(false), 0));
  static_cast<void>(keys.cipher_key(4999));
  EXPECT_EQ(keys.segments(0, 4999).size(), segments_max);
  keys.forget_before(1000);  // a thousand segments left the window
  static_cast<void>(keys.cipher_key(6999));
  EXPECT_EQ(keys.segments(1000, 6999).size(), segments_max);
  EXPECT_EQ(keys.segments(1000, 6999).back().first, StepIndex{5999});
}

}  // namespace
}  // namespace nustream::noise
