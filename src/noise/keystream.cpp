// Words of a block by AES-256-CTR (NIST SP 800-38A, section 6.5; docs/formats/noise.md, Words). OpenSSL keeps the
// counter, so reading on from the last position takes no set-up.
#include "keystream.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

static_assert(std::endian::native == std::endian::little, "keystream words are copied as they lie in memory");

/// The zeros that are encrypted at a time, 32 KiB.
constexpr std::size_t words_per_call = 4096;
constexpr std::array<std::uint64_t, words_per_call> zeros{};

/// The counter as AES takes it: 128 bits, big-endian, of which the upper half stays 0.
/// Two words make a cipher block: word 5, for example, is the second half of cipher block 2.
std::array<std::uint8_t, 16> counter_block(std::uint64_t counter) {
  std::array<std::uint8_t, 16> block{};
  for (std::size_t byte = 0; byte < 8; ++byte) block[15 - byte] = static_cast<std::uint8_t>(counter >> (8 * byte));
  return block;
}

}  // namespace

void Keystream::FreeContext::operator()(EVP_CIPHER_CTX* context) const noexcept {
  EVP_CIPHER_CTX_free(context);
}

Keystream::Keystream() : context_(EVP_CIPHER_CTX_new()) {
  NUSTREAM_REQUIRE(context_ && EVP_EncryptInit_ex(context_.get(), EVP_aes_256_ctr(), nullptr, nullptr, nullptr) == 1,
                   "OpenSSL provides AES-256-CTR");
}

// The key schedule is computed here. seek() changes the counter alone.
void Keystream::set_key(const KeyBytes& cipher_key) {
  const auto start = counter_block(0);
  NUSTREAM_REQUIRE(EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, cipher_key.data(), start.data()) == 1,
                   "AES takes its key");
  position_ = 0;
}

void Keystream::seek(std::uint64_t word) {
  NUSTREAM_REQUIRE(word % 2 == 0, "the keystream is read from a whole cipher block on");
  const auto counter = counter_block(word / 2);
  NUSTREAM_REQUIRE(EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, counter.data()) == 1,
                   "AES takes its counter");
  position_ = word;
}

// Encrypting zeros gives the keystream itself.
void Keystream::fill(std::uint64_t first, std::span<std::uint64_t> words) {
  if (first != position_) seek(first);
  for (std::size_t done = 0; done < words.size();) {
    const std::size_t count = std::min(words_per_call, words.size() - done);
    int written = 0;
    const int size = static_cast<int>(count * sizeof(std::uint64_t));
    NUSTREAM_REQUIRE(EVP_EncryptUpdate(context_.get(), reinterpret_cast<unsigned char*>(words.data() + done),
                                       &written, reinterpret_cast<const unsigned char*>(zeros.data()), size) == 1 &&
                         written == size,
                     "AES gives its keystream");
    done += count;
  }
  position_ += words.size();
}

}  // namespace nustream::noise
