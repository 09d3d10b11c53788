#include "key_ring.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "nustream/base/error.h"
#include "planted.h"

namespace nustream::noise {
namespace {

constexpr std::string_view block_label = "nustream noise block v1";
constexpr std::string_view chain_label = "nustream noise chain v1";
constexpr std::size_t slots_at_first = 4;

/// label ‖ numbers, each little-endian.
template <std::size_t LabelSize, class... Numbers>
auto key_info(std::string_view label, Numbers... numbers) {
  std::array<std::uint8_t, LabelSize + (sizeof(Numbers) + ...)> info{};
  auto next = std::copy(label.begin(), label.end(), info.begin());
  const auto append = [&next](auto number) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte) {
      *next++ = static_cast<std::uint8_t>(number >> (8 * byte));
    }
  };
  (append(numbers), ...);
  return info;
}

}  // namespace

void wipe(std::span<std::uint8_t> memory) noexcept {
  OPENSSL_cleanse(memory.data(), memory.size());
}

Checkpoint first_checkpoint(const KeyBytes& epoch_key, const Stage& stage) {
  Hkdf hkdf;
  KeyBytes extracted{};
  hkdf.extract({}, epoch_key, extracted);
  Checkpoint checkpoint{0, {}, {}};
  const std::uint32_t lane = NUSTREAM_PLANTED("lanes-share-a-key") ? 0 : stage.lane.value();
  const std::uint32_t number = NUSTREAM_PLANTED("stages-share-a-key") ? 0 : stage.stage;
  hkdf.expand(extracted, key_info<chain_label.size()>(chain_label, lane, stage.epoch.value(), number),
              checkpoint.chain_key);
  wipe(extracted);
  return checkpoint;
}

KeyRing::KeyRing(std::uint64_t first_block, const KeyBytes& chain_key, std::pmr::memory_resource* secrets)
    : slots_(slots_at_first, Keys{}, secrets), oldest_(first_block), newest_(first_block) {
  slot(first_block).chain = chain_key;
}

KeyRing::~KeyRing() {
  for (auto& keys : slots_) {
    wipe(keys.chain);
    wipe(keys.cipher);
  }
}

const KeyBytes& KeyRing::chain_key(std::uint64_t block) const {
  NUSTREAM_REQUIRE(oldest_ <= block && block <= newest_, "the chain key of a block that is held");
  return slots_[block % slots_.size()].chain;
}

const KeyBytes& KeyRing::cipher_key(std::uint64_t block) {
  NUSTREAM_REQUIRE(oldest_ <= block, "the noise of a block whose key was wiped is never drawn again");
  while (newest_ <= block) ratchet();
  return slot(block).cipher;
}

void KeyRing::forget_before(std::uint64_t block) {
  NUSTREAM_REQUIRE(block <= newest_, "the chain goes on from a key that is held");
  for (; oldest_ < block; ++oldest_) {
    if (NUSTREAM_PLANTED("old-keys-are-kept")) continue;
    wipe(slot(oldest_).chain);
    wipe(slot(oldest_).cipher);
  }
}

void KeyRing::ratchet() {
  if (newest_ - oldest_ + 2 > slots_.size()) grow();
  std::array<std::uint8_t, 2 * sizeof(KeyBytes)> derived{};
  const std::uint64_t number = NUSTREAM_PLANTED("blocks-share-a-key") ? 0 : newest_;
  hkdf_.expand(slot(newest_).chain, key_info<block_label.size()>(block_label, number), derived);
  const auto middle = derived.begin() + sizeof(KeyBytes);
  std::copy(derived.begin(), middle, slot(newest_ + 1).chain.begin());
  if (NUSTREAM_PLANTED("blocks-share-a-key")) slot(newest_ + 1).chain = slot(newest_).chain;
  std::copy(middle, derived.end(), slot(newest_).cipher.begin());
  wipe(derived);
  ++newest_;
}

void KeyRing::grow() {
  std::pmr::vector<Keys> larger(2 * slots_.size(), Keys{}, slots_.get_allocator());
  for (std::uint64_t block = oldest_; block <= newest_; ++block) larger[block % larger.size()] = slot(block);
  slots_.swap(larger);
  for (auto& keys : larger) {
    wipe(keys.chain);
    wipe(keys.cipher);
  }
}

}  // namespace nustream::noise
