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

// Bytes computed with Python's hashlib.blake2b and the openssl command over the fields of docs/formats/releases.md.
TEST(ReleaseChain, WritesTheBytesOfItsPage) {
  journal::ReleaseChain chain{10};
  const std::string releases =
      release(10, "cadence") + release(30, "cadence") + release(33, "end") + release(40, "cadence");
  EXPECT_EQ(journal::chained(releases, chain, keys_from(1)),
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":10,"position":10,"tag":"cadence","private":)"
            R"(true,"previous":"0000000000000000000000000000000000000000000000000000000000000000","signature":"8501)"
            R"(ab43241cdc8aa8a8a683e4cf6498798a9cf15afbc66cd2998c2c3b8f24bfad4a7f28a54c6f484421ad5bd161fa0cce78b31c)"
            R"(36657889fd9a15ef27e52106"})"
            "\n"
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":30,"position":30,"tag":"cadence","private":)"
            R"(true,"previous":"b2d94d39e7fe6cb0569b52186df9b9343eb946767a06db043d6eae62baf2c3f8"})"
            "\n"
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":33,"position":33,"tag":"end","private":true)"
            R"(,"previous":"a2fed75d94d550bd08c2b539468904263fdad58bf945b6aa9ee3e379f0ff2cc1","signature":"eb765860)"
            R"(83d765e987429d1823e40ec1beba6c7315c8c27dd2ce2b7648778181ae5d50e410d934c6e5c5854d06f2dadc196c605a3631)"
            R"(bc8944f539c8b1523a0a"})"
            "\n"
            R"({"format":1,"stream":"a \"b\"","lane":2,"epoch":3,"step":40,"position":40,"tag":"cadence","private":)"
            R"(true,"previous":"a2fed75d94d550bd08c2b539468904263fdad58bf945b6aa9ee3e379f0ff2cc1","signature":"86e0)"
            R"(8ccd2231c7cb9eefc0d4cf7272d31ac0a3c1d05403cf4a927e9e25bf3f0e45afe86988019fc3f61ce80241d11146312a2516)"
            R"(fd89d2840c8dbd8093d3bb0f"})"
            "\n");
  EXPECT_EQ(secrets::to_hex(chain.head), "f938c932251fe65d5a2a463a2997fefec929f3ad7486982cd5a9bd3dc6126967");
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
  // What a signal brought is nobody's predecessor, but where it is of a version that chained nothing.
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
