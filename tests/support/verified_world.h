// Releases and a ledger of two epochs, as a stream publishes them, and what a third party makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expect_failure.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "secrets/hex.h"
#include "temporary_folder.h"
#include "verify/verify.h"

namespace nustream::tests {

inline const std::string digest(64, 'a');

/// The ρ that the epoch has spent after `steps` steps, a thousandth for each.
inline double spent(std::uint64_t steps) {
  return static_cast<double>(steps) / 1000;
}

inline journal::LedgerEntry entry(std::uint32_t epoch, std::uint64_t steps) {
  return {"sales",
          LaneId{0},
          EpochId{epoch},
          Position{0},
          Position{steps},
          StepCount{steps},
          Rho{spent(steps)},
          Rho{1},
          digest,
          {privacy::Adjacency::zero_out, false},
          true,
          epoch == 0 ? journal::Overlap::disjoint : journal::Overlap::overlapping};
}

/// A line that pays for the steps up to `steps`, behind a state that had taken `taken` of them.
inline journal::LedgerEntry reserving(std::uint32_t epoch, std::uint64_t taken, std::uint64_t steps) {
  journal::LedgerEntry line = entry(epoch, steps);
  line.to = Position{taken + 1};
  line.taken = StepCount{taken};
  return line;
}

inline std::string release(std::uint32_t epoch, std::uint64_t step, double before = 0, std::uint32_t lane = 0) {
  return R"({"format":1,"stream":"sales","lane":)" + std::to_string(lane) + R"(,"epoch":)" + std::to_string(epoch) +
         R"(,"step":)" + std::to_string(step) + R"(,"position":)" + std::to_string(step) +
         R"(,"tag":"cadence","estimate":{"x":1.5},"average":null,"rho":)" + std::to_string(spent(step)) +
         R"(,"rho_limit":1,"rho_ledger":)" + std::to_string(before + spent(step)) +
         R"(,"epsilon":1,"epsilon_ledger":1,"delta":1e-6,"conversion":"gaussian","digest":")" + digest +
         R"(","adjacency":"zero-out","private":true})" + "\n";
}

/// Two epochs of one lane: their lines as they were published.
struct World {
  std::vector<std::string> releases;
  std::vector<std::string> ledger;
  journal::ReleaseChain chain{10};
  journal::Hash head = journal::empty_ledger_head;

  void publish(const std::string& line, const secrets::Keyring& keys) {
    releases.push_back(journal::chained(line, chain, keys));
  }
  void enter(const std::string& line) {
    head = journal::hash_of(line);
    ledger.push_back(line);
  }
  /// Enters a ledger line that names the releases up to here.
  void enter(const journal::LedgerEntry& spend, const secrets::Keyring& keys) {
    enter(journal::ledger_line(spend, head, keys, chain.head));
  }
};

inline World two_epochs(const secrets::Keyring& keys) {
  World world;
  for (std::uint64_t step = 10; step <= 30; step += 10) {
    world.publish(release(0, step), keys);
    world.enter(entry(0, step), keys);
  }
  for (std::uint64_t step = 10; step <= 20; step += 10) {
    world.publish(release(1, step, spent(30)), keys);
    world.enter(entry(1, step), keys);
  }
  return world;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

inline verify::Verified check(const World& world, const secrets::PublicKey& key) {
  const TemporaryFolder folder;
  return verify::check({folder.write("releases.jsonl", joined(world.releases)),
                        folder.write("ledger", joined(world.ledger)), secrets::to_hex(key)});
}

inline void expect_refused(const World& world, const secrets::PublicKey& key, const std::string& part) {
  expect_failure(
      Exit::data, [&] { static_cast<void>(check(world, key)); }, part);
}

/// How `nustream verify --complete` ends: "" where it ends well, else what it says.
inline std::string incomplete(const World& world, const secrets::Keyring& keys) {
  const TemporaryFolder folder;
  ::testing::internal::CaptureStdout();
  std::string said;
  try {
    verify::Options options{folder.write("releases.jsonl", joined(world.releases)),
                            folder.write("ledger", joined(world.ledger)), secrets::to_hex(keys.public_key())};
    options.complete = true;
    EXPECT_EQ(verify::run(options), Exit::done);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::data);
    said = failure.what();
  }
  EXPECT_NE(::testing::internal::GetCapturedStdout(), "") << "the result is printed whatever the end is";
  return said;
}

}  // namespace nustream::tests
