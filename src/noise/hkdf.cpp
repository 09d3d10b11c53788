// HKDF-SHA256 over OpenSSL's HMAC: RFC 5869, section 2.2 (extract) and section 2.3 (expand).
#include "hkdf.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>

#include "nustream/base/error.h"

namespace nustream::noise {

void Hkdf::FreeContext::operator()(EVP_MAC_CTX* context) const noexcept {
  EVP_MAC_CTX_free(context);
}

Hkdf::Hkdf() {
  // All allocations are made here, so that a derivation makes none.
  EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  NUSTREAM_REQUIRE(hmac != nullptr, "OpenSSL provides HMAC");
  context_.reset(EVP_MAC_CTX_new(hmac));
  EVP_MAC_free(hmac);  // the context holds its own reference
  char digest[] = "SHA256";
  const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                              OSSL_PARAM_construct_end()};
  NUSTREAM_REQUIRE(context_ && EVP_MAC_CTX_set_params(context_.get(), parameters.data()) == 1,
                   "OpenSSL provides HMAC-SHA256");
}

void Hkdf::begin(std::span<const std::uint8_t> key) {
  NUSTREAM_REQUIRE(EVP_MAC_init(context_.get(), key.data(), key.size(), nullptr) == 1, "HMAC takes its key");
}

void Hkdf::append(std::span<const std::uint8_t> bytes) {
  NUSTREAM_REQUIRE(EVP_MAC_update(context_.get(), bytes.data(), bytes.size()) == 1, "HMAC takes its input");
}

void Hkdf::finish(KeyBytes& digest) {
  std::size_t size = 0;
  NUSTREAM_REQUIRE(EVP_MAC_final(context_.get(), digest.data(), &size, digest.size()) == 1 && size == digest.size(),
                   "HMAC gives its digest");
}

// `input` has been read when `key` is written, so both may be the same memory. The key ring mixes fresh bytes
// into a key that way.
void Hkdf::extract(std::span<const std::uint8_t> salt, std::span<const std::uint8_t> input, KeyBytes& key) {
  // Without a salt the RFC takes as many zero bytes as a digest has.
  static constexpr KeyBytes no_salt{};
  begin(salt.empty() ? std::span<const std::uint8_t>(no_salt) : salt);
  append(input);
  finish(key);
}

void Hkdf::expand(const KeyBytes& key, std::span<const std::uint8_t> info, std::span<std::uint8_t> output) {
  NUSTREAM_REQUIRE(output.size() <= 255 * key.size(), "HKDF gives at most 255 digests");
  KeyBytes digest{};
  std::uint8_t counter = 0;
  for (std::size_t done = 0; done < output.size(); done += digest.size()) {
    begin(key);
    if (done > 0) append(digest);
    append(info);
    // The counter of T(i) is one byte that starts at 1, as RFC 5869 has it; no more than 255 digests can be asked
    // for.
    append({&++counter, 1});
    finish(digest);
    std::copy_n(digest.begin(), std::min(digest.size(), output.size() - done),
                output.begin() + static_cast<std::ptrdiff_t>(done));
  }
  // The last digest is a part of the derived keys.
  wipe(digest);
}

}  // namespace nustream::noise
