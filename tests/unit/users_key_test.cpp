// The users' key of a stream: drawn once, and the same for all lanes.
#include <gtest/gtest.h>

#include "secrets/keyring.h"
#include "users/user_key.h"

namespace nustream::users {
namespace {

using secrets::Keyring;

TEST(StreamKey, IsDrawnAnewForEachStreamAndFollowsFromAnInsecureSeed) {
  const Keyring keys = Keyring::from_master(noise::KeyBytes{1, 1, 2});
  EXPECT_NE(new_user_key(keys, "mine").fingerprint(), new_user_key(keys, "mine").fingerprint());
  const Keyring seed = Keyring::insecure(4);
  EXPECT_EQ(new_user_key(seed, "mine").fingerprint(), new_user_key(seed, "mine").fingerprint());
  EXPECT_NE(new_user_key(seed, "mine").fingerprint(), new_user_key(seed, "other").fingerprint());
}

}  // namespace
}  // namespace nustream::users
