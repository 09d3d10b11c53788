// A sealed state opens under its own key, whole, and as what it was sealed; it opens in no other way.
#include <gtest/gtest.h>
#include <sodium.h>

#include <string>
#include <vector>

#include "expect_failure.h"
#include "keys_from.h"
#include "secrets/seal.h"

namespace nustream::tests {
namespace {

const std::string digest = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

secrets::StateIdentity identity() {
  return {"retail", LaneId{0x01020304}, EpochId{5}, StepCount{0x0102030405060708}, digest, true};
}
secrets::ExpectedIdentity expected() {
  return {"retail", LaneId{0x01020304}, EpochId{5}, digest, true};
}

std::string seal(std::string plain) {
  return secrets::seal(keys_from(1), identity(), std::move(plain));
}

TEST(Seal, OpensToWhatWasSealed) {
  const auto opened = secrets::open(keys_from(1), seal("the record"), expected());
  EXPECT_EQ(opened.plain, "the record");
  EXPECT_EQ(opened.identity.stream, "retail");
  EXPECT_EQ(opened.identity.lane, identity().lane);
  EXPECT_EQ(opened.identity.epoch, identity().epoch);
  EXPECT_EQ(opened.identity.steps, identity().steps);
  EXPECT_EQ(opened.identity.settings_digest, digest);
  EXPECT_TRUE(opened.identity.is_private);
  EXPECT_EQ(secrets::open(keys_from(1), seal("")).plain, "");
}

// The offsets are those of docs/formats/state.md; key and fingerprint are from Python's hashlib.blake2b (key=1…32,
// message=label).
TEST(Seal, HasTheBytesOfItsPage) {
  const std::string sealed = seal("the record");
  ASSERT_EQ(sealed.size(), 8U + 4 + 4 + 4 + 4 + 8 + 32 + 16 + 24 + 4 + 6 + 10 + 16);
  EXPECT_EQ(sealed.substr(0, 32), std::string("NUSTATE\0\1\0\0\0\1\0\0\0\4\3\2\1\5\0\0\0\x08\7\6\5\4\3\2\1", 32));
  EXPECT_EQ(sealed.substr(32, 3), std::string("\0\x11\x22", 3));
  EXPECT_EQ(sealed.substr(64, 4), "\xa0\xe8\x2e\x8b");
  EXPECT_EQ(sealed.substr(104, 10), std::string("\6\0\0\0retail", 10));
  std::vector<unsigned char> key(32);
  const std::string key_digits = "c620ea013fb40152b623e132c235cd42a8b22fe227c67ceaf2661cd1f46c67f1";
  for (std::size_t i = 0; i < 32; ++i) {
    key[i] = static_cast<unsigned char>(std::stoi(key_digits.substr(2 * i, 2), nullptr, 16));
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(sealed.data());
  std::vector<unsigned char> plain(10);
  ASSERT_EQ(crypto_aead_xchacha20poly1305_ietf_decrypt(plain.data(), nullptr, nullptr, bytes + 114, 26, bytes, 114,
                                                       bytes + 80, key.data()),
            0);
  EXPECT_EQ(std::string(plain.begin(), plain.end()), "the record");
}

TEST(Seal, DrawsAFreshNonceEveryTime) {
  EXPECT_NE(seal("the record").substr(80, 24), seal("the record").substr(80, 24));
}

TEST(Seal, EncryptsInPlace) {
  std::string plain = "a key that must not be left in memory";
  static_cast<void>(secrets::seal(keys_from(1), identity(), std::move(plain)));
  // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what is left in it is what is tested
  EXPECT_EQ(plain.find("key"), std::string::npos);
}

TEST(Seal, SeesEveryChangedBitAndEveryCut) {
  const std::string sealed = seal("the record");
  for (std::size_t at = 0; at < 8 * sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at / 8] = static_cast<char>(changed[at / 8] ^ (1 << (at % 8)));
    const bool of_fingerprint = at / 8 >= 64 && at / 8 < 80;
    expect_failure(of_fingerprint ? Exit::permission : Exit::data,
                   [&] { static_cast<void>(secrets::open(keys_from(1), changed)); });
  }
  for (std::size_t length = 0; length < sealed.size(); ++length) {
    expect_failure(Exit::data, [&] { static_cast<void>(secrets::open(keys_from(1), sealed.substr(0, length))); });
  }
  expect_failure(Exit::data, [&] { static_cast<void>(secrets::open(keys_from(1), sealed + "x")); });
}

TEST(Seal, SaysThatTheKeyIsAnother) {
  expect_failure(
      Exit::permission, [] { static_cast<void>(secrets::open(keys_from(2), seal("x"))); }, "key");
  const auto seed = secrets::Keyring::insecure(1);
  expect_failure(
      Exit::permission, [&] { static_cast<void>(secrets::open(seed, seal("x"))); }, "key");
}

TEST(Seal, SaysWhichStateItIsInstead) {
  const auto refused = [](const char* part, auto change) {
    auto other = expected();
    change(other);
    expect_failure(
        Exit::data, [&] { static_cast<void>(secrets::open(keys_from(1), seal("x"), other)); }, part);
  };
  refused("stream", [](auto& other) { other.stream = "wholesale"; });
  refused("lane", [](auto& other) { other.lane = LaneId{7}; });
  refused("epoch", [](auto& other) { other.epoch = EpochId{6}; });
  refused("digest", [](auto& other) { other.settings_digest = std::string(64, 'f'); });
  refused("private", [](auto& other) { other.is_private = false; });
  auto any = expected();
  any.epoch.reset();
  any.settings_digest.reset();
  any.is_private.reset();
  EXPECT_NO_THROW(static_cast<void>(secrets::open(keys_from(1), seal("x"), any)));
}

// A state that was ever insecure does not become private, whatever key seals it later.
TEST(Seal, NeverResumesAnInsecureStateAsPrivate) {
  auto insecure = identity();
  insecure.is_private = false;
  const std::string sealed = secrets::seal(keys_from(1), insecure, "x");
  expect_failure(
      Exit::data, [&] { static_cast<void>(secrets::open(keys_from(1), sealed, expected())); }, "insecure seed");
}

TEST(Seal, ReadsTheHeaderWithoutAKey) {
  EXPECT_EQ(secrets::read_identity(seal("x")).steps, identity().steps);
  expect_failure(Exit::data, [] { static_cast<void>(secrets::read_identity("no state")); });
}

TEST(Seal, TellsAnotherStatesHeaderFromADamagedOne) {
  const std::string sealed = seal("x");
  EXPECT_FALSE(secrets::is_foreign(sealed, expected()));
  EXPECT_FALSE(secrets::is_foreign(sealed.substr(0, 10), expected()));
  auto other_stream = expected();
  other_stream.stream += "-other";
  auto other_lane = expected();
  other_lane.lane = LaneId{expected().lane.value() + 1};
  auto other_kind = expected();
  other_kind.is_private = false;
  for (const auto& other : {other_stream, other_lane, other_kind}) EXPECT_TRUE(secrets::is_foreign(sealed, other));
  auto any_kind = expected();
  any_kind.is_private.reset();
  any_kind.settings_digest.reset();
  EXPECT_FALSE(secrets::is_foreign(sealed, any_kind));
}

TEST(Seal, RefusesADigestThatIsNone) {
  auto wrong = identity();
  wrong.settings_digest = "00";
  EXPECT_THROW(static_cast<void>(secrets::seal(keys_from(1), wrong, "x")), InvalidParameter);
}

}  // namespace
}  // namespace nustream::tests
