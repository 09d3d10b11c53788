// The users' key under a key file: the same key for all lanes, epochs and key files of a stream.
#include <gtest/gtest.h>

#include <string>

#include "expect_failure.h"
#include "secrets/keyring.h"
#include "users/sealed_key.h"

namespace nustream::users {
namespace {

using secrets::Keyring;
using tests::expect_failure;

Keyring key_file(std::uint8_t first) {
  return Keyring::from_master(noise::KeyBytes{first, 1, 2});
}

TEST(SealedUserKey, OpensUnderItsKeyFile) {
  const Keyring keys = key_file(1);
  const UserKey key = new_user_key(keys, "mine");
  const UserKey opened = open_user_key(keys, "mine", seal_user_key(keys, "mine", key));
  EXPECT_EQ(opened.hash("alice"), key.hash("alice"));
  EXPECT_EQ(opened.fingerprint(), key.fingerprint());
  EXPECT_NE(seal_user_key(keys, "mine", key), seal_user_key(keys, "mine", key));  // fresh nonces
  EXPECT_EQ(seal_user_key(keys, "mine", key).find(std::string(key.bytes().begin(), key.bytes().end())),
            std::string::npos);
}

// Under another key everybody would count again.
TEST(SealedUserKey, OutlivesTheKeyFile) {
  const Keyring before = key_file(1);
  const Keyring after = key_file(2);
  const UserKey key = new_user_key(before, "mine");
  const UserKey opened = open_user_key(before, "mine", seal_user_key(before, "mine", key));
  const std::string rotated = seal_user_key(after, "mine", opened);
  EXPECT_EQ(open_user_key(after, "mine", rotated).hash("alice"), key.hash("alice"));
  expect_failure(
      Exit::permission, [&] { static_cast<void>(open_user_key(before, "mine", rotated)); }, "state.key_file");
}

TEST(SealedUserKey, IsDrawnAnewForEachStreamAndFollowsFromAnInsecureSeed) {
  const Keyring keys = key_file(1);
  EXPECT_NE(new_user_key(keys, "mine").fingerprint(), new_user_key(keys, "mine").fingerprint());
  const Keyring seed = Keyring::insecure(4);
  EXPECT_EQ(new_user_key(seed, "mine").fingerprint(), new_user_key(seed, "mine").fingerprint());
  EXPECT_NE(new_user_key(seed, "mine").fingerprint(), new_user_key(seed, "other").fingerprint());
}

TEST(SealedUserKey, RefusesWhatIsNotItsOwn) {
  const Keyring keys = key_file(1);
  const std::string sealed = seal_user_key(keys, "mine", new_user_key(keys, "mine"));
  const auto refused = [&](const std::string& bytes, const std::string& part) {
    expect_failure(
        Exit::data, [&] { static_cast<void>(open_user_key(keys, "mine", bytes)); }, part);
  };
  expect_failure(
      Exit::data, [&] { static_cast<void>(open_user_key(keys, "other", sealed)); }, "another stream");
  expect_failure(
      Exit::data, [&] { static_cast<void>(open_user_key(keys.beside_nonprivate(), "mine", sealed)); }, "is private");
  for (std::size_t kept = 0; kept < sealed.size(); ++kept) refused(sealed.substr(0, kept), "the key of the users");
  refused(sealed + "x", "damaged");
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    EXPECT_THROW(static_cast<void>(open_user_key(keys, "mine", changed)), Failure) << at;
  }
}

}  // namespace
}  // namespace nustream::users
