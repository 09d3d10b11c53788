// The chain of a lane's releases: its bytes, which of them are signed, and that it does not matter where batches end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expect_failure.h"
#include "journal/outbox_folder.h"
#include "journal/release_chain.h"
#include "keys_from.h"
#include "secrets/hex.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

std::string release(std::uint64_t step, const std::string& tag) {
  const std::string number = std::to_string(step);
  return R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":)" + number + R"(,"position":)" + number +
         R"(,"tag":")" + tag + R"(","private":true})" + "\n";
}

// The bytes were computed with Python's hashlib.blake2b and the openssl command, over the fields of
// docs/formats/releases.md.
TEST(ReleaseChain, WritesTheBytesOfItsPage) {
  journal::ReleaseChain chain{10};
  const std::string releases =
      release(10, "cadence") + release(30, "cadence") + release(33, "end") + release(40, "cadence");
  EXPECT_EQ(journal::chained(releases, chain, keys_from(1)),
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":10,"position":10,"tag":"cadence","private":)"
            R"(true,"previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"c83b)"
            R"(a1ef31d1ad752d052c125074d1a47ca0d433b1359946582ae8934abfad5e068482c515eddd23841a6dd65d9d29794714e400)"
            R"(1c7ccedf92a5d37d4c3c190d"})"
            "\n"
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":30,"position":30,"tag":"cadence","private":)"
            R"(true,"previous":"45c3d698052501b68ddb3d96874233fd08849b979830bd39a119cec4093c3a7d"})"
            "\n"
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":33,"position":33,"tag":"end","private":true)"
            R"(,"previous":"42416e54ea5be39e16817b59483d43bd6cff04bef7fdc3d1a0094ca7b90afa2d","signature":"6f49d1c8)"
            R"(2a9e7745268f81311a0aa2fbc7933e3bb7d7038b2500073df4fb1f81c8045a4b4fb01aaf56a8e3856cc5cab7c0456a1d076e)"
            R"(fdb111079726ebdb2503"})"
            "\n"
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":40,"position":40,"tag":"cadence","private":)"
            R"(true,"previous":"42416e54ea5be39e16817b59483d43bd6cff04bef7fdc3d1a0094ca7b90afa2d","signature":"4200)"
            R"(ffb0d2e06b548c43f9aa2fcc9c8e57a3fc48e2a4be764a4f385434c4f2585a9ace9c18c74752fc4a6d2132cedf7dac9068a7)"
            R"(b8ab65d9eb481c1275188a01"})"
            "\n");
  EXPECT_EQ(secrets::to_hex(chain.head), "fbc8c8c0d7605ffce3df77fa00f1dd1bea03d226a639170f969f90422f9f260f");
}

TEST(ReleaseChain, IsTheSameWhereverBatchesEnd) {
  std::vector<std::string> releases;
  for (std::uint64_t step = 1; step <= 40; ++step) releases.push_back(release(step, "cadence"));
  std::string all;
  for (const std::string& each : releases) all += each;
  journal::ReleaseChain whole{1};
  const std::string expected = journal::chained(all, whole, keys_from(1));
  for (std::size_t batch = 1; batch < 7; ++batch) {
    journal::ReleaseChain chain{1};
    std::string got;
    for (std::size_t begin = 0; begin < releases.size(); begin += batch) {
      std::string outbox;
      for (std::size_t i = begin; i < std::min(begin + batch, releases.size()); ++i) outbox += releases[i];
      got += journal::chained(outbox, chain, keys_from(1));
    }
    EXPECT_EQ(got, expected) << batch;
    EXPECT_EQ(chain.head, whole.head);
  }
}

TEST(ReleaseChain, SignsByStepsAlone) {
  std::vector<std::uint64_t> signed_counts;
  for (std::uint64_t count = 1; count <= 64; ++count) {
    if (journal::is_signed_release(StepCount{50 * count}, 50, "cadence")) signed_counts.push_back(count);
    EXPECT_TRUE(journal::is_signed_release(StepCount{50 * count}, 50, "end"));
    EXPECT_TRUE(journal::is_signed_release(StepCount{50 * count + 1}, 50, "shutdown"));
  }
  EXPECT_EQ(signed_counts, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 48, 64}));
}

TEST(ReleaseChain, LengthensALineByNoMoreThanIsReserved) {
  journal::ReleaseChain chain{1};
  const std::string line = release(1, "end");
  const std::string longer = journal::chained(line, chain, keys_from(1));
  EXPECT_NE(longer.find("signature"), std::string::npos);
  EXPECT_LE(longer.size(), line.size() + journal::chain_bytes_max);
  EXPECT_GE(longer.size() + 4, line.size() + journal::chain_bytes_max);
}

TEST(ReleaseChain, GoesOnFromTheLastWholeLineOfAFolder) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  EXPECT_EQ(journal::last_release_head(*disk, folder.path()), journal::empty_release_head);
  journal::ReleaseChain chain{1};
  const std::string lines = journal::chained(release(1, "cadence") + release(2, "cadence"), chain, keys_from(1));
  folder.write(std::string(journal::folder_files::releases), lines);
  EXPECT_EQ(journal::last_release_head(*disk, folder.path()), chain.head);
  EXPECT_EQ(journal::release_head(lines), chain.head);
  EXPECT_EQ(journal::release_head(""), journal::empty_release_head);
  // No release is chained to one that a signal brought, except where that comes from a version that chained nothing.
  const journal::Hash head = chain.head;
  EXPECT_EQ(journal::release_head(lines + journal::chained(release(3, "shutdown"), chain, keys_from(1))), head);
  EXPECT_EQ(chain.head, head);
  EXPECT_EQ(journal::release_head(release(3, "shutdown")), journal::hash_of(release(3, "shutdown")));
}

TEST(ReleaseChain, RefusesWhatIsNoRelease) {
  for (const std::string& text : {std::string("{}\n"), release(1, "end").substr(0, 20), std::string("\n")}) {
    journal::ReleaseChain chain{1};
    expect_failure(
        Exit::internal, [&] { static_cast<void>(journal::chained(text, chain, keys_from(1))); }, "release");
  }
}

}  // namespace
}  // namespace nustream::tests
