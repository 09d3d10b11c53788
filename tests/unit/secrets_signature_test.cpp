// Ed25519 against RFC 8032's own vectors, and against OpenSSL.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <memory>
#include <numeric>
#include <string>

#include "secrets/hex.h"
#include "secrets/keyring.h"
#include "secrets/signature.h"

namespace nustream::tests {
namespace {

struct Vector {
  std::string seed;
  std::string public_key;
  std::string text;
  std::string signature;
};

// RFC 8032, section 7.1, tests 1 and 2.
const Vector vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe2"
     "465"
     "5141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "r",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302ae"
     "eb0"
     "0d291612bb0c00"},
};

TEST(Signature, HasTheBytesOfTheRfc) {
  for (const Vector& each : vectors) {
    noise::KeyBytes seed{};
    ASSERT_TRUE(secrets::from_hex(each.seed, seed));
    secrets::SigningKey secret{};
    secrets::derive_signing_key(seed, secret);
    EXPECT_EQ(secrets::to_hex(secrets::public_key_of(secret)), each.public_key);
    const secrets::Signature signature = secrets::sign(each.text, secret);
    EXPECT_EQ(secrets::to_hex(signature), each.signature);
    EXPECT_TRUE(secrets::is_signed(each.text, signature, secrets::public_key_of(secret)));
  }
}

bool openssl_verifies(const std::string& text, const secrets::Signature& signature, const secrets::PublicKey& key) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> openssl_key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EXPECT_EQ(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, openssl_key.get()), 1);
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

TEST(Signature, OfAKeyFileIsCheckedByAnotherLibrary) {
  noise::KeyBytes master{};
  std::iota(master.begin(), master.end(), std::uint8_t{1});
  const auto keys = secrets::Keyring::from_master(master);
  const std::string text = R"({"format":1,"stream":"a")";
  const secrets::Signature signature = keys.sign(secrets::Signing::release, text);
  const std::string as_release = "nustream release\n" + text;
  EXPECT_TRUE(openssl_verifies(as_release, signature, keys.public_key()));
  EXPECT_FALSE(openssl_verifies(as_release + ' ', signature, keys.public_key()));
  EXPECT_TRUE(secrets::is_signed(as_release, signature, keys.public_key()));
  // A killed run and an unbroken one have to release the same bytes, so a signature has to be repeatable.
  EXPECT_EQ(signature, keys.sign(secrets::Signing::release, text));
  // A signature that was made for another purpose is not accepted.
  EXPECT_FALSE(secrets::is_signed(text, signature, keys.public_key()));
  for (const auto other : {secrets::Signing::ledger_line, secrets::Signing::hand_over})
    EXPECT_FALSE(secrets::is_signed(secrets::to_sign(other, text), signature, keys.public_key()));
}

TEST(Signature, IsOfOneTextAndOneKey) {
  const auto keys = secrets::Keyring::insecure(1);
  const std::string text = secrets::to_sign(secrets::Signing::release, "a text that is signed");
  const secrets::Signature signature = keys.sign(secrets::Signing::release, "a text that is signed");
  ASSERT_TRUE(secrets::is_signed(text, signature, keys.public_key()));
  EXPECT_FALSE(secrets::is_signed(text, signature, secrets::Keyring::insecure(2).public_key()));
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(secrets::is_signed(changed, signature, keys.public_key())) << at;
  }
  for (std::size_t at = 0; at < signature.size(); ++at) {
    secrets::Signature changed = signature;
    changed[at] = static_cast<std::uint8_t>(changed[at] ^ 1U);
    EXPECT_FALSE(secrets::is_signed(text, changed, keys.public_key())) << at;
  }
}

}  // namespace
}  // namespace nustream::tests
