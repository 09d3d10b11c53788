// What the process does to keep its secrets: locked memory, no dumps, random bits from the kernel alone. The tests
// provoke the system's refusals in a child process.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "error.h"
#include "refused_calls.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"
#include "secrets/random.h"

namespace nustream::tests {
namespace {

/// The kilobytes that this process holds locked.
long locked_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmLck:")) return std::stol(line.substr(6));
  }
  return -1;
}

/// False where the system does not say what is locked, or where a sanitizer makes mlock() do nothing.
bool locking_shows() {
  const long before = locked_kilobytes();
  const std::vector<std::byte> block(2 * 4096);
  const bool locked = ::mlock(block.data(), block.size()) == 0;
  const bool shows = locked_kilobytes() > before;
  return locked && ::munlock(block.data(), block.size()) == 0 && shows;
}

TEST(LockedMemory, LocksAFewPagesForManyKeys) {
  if (!locking_shows()) GTEST_SKIP() << "nothing to see here of what is locked";
  const long before = locked_kilobytes();
  {
    secrets::LockedMemory memory;
    std::vector<void*> keys;
    for (int i = 0; i < 100; ++i) keys.push_back(memory.allocate(32, 1));
    EXPECT_GT(locked_kilobytes(), before);
    EXPECT_LE(locked_kilobytes(), before + 16);
    EXPECT_EQ(std::set<void*>(keys.begin(), keys.end()).size(), keys.size());
    for (void* const key : keys) memory.deallocate(key, 32, 1);
  }
  EXPECT_EQ(locked_kilobytes(), before);
}

TEST(LockedMemory, WipesWhatIsGivenBack) {
  secrets::LockedMemory memory;
  void* const neighbour = memory.allocate(32, 1);  // keeps the page in use
  void* const key = memory.allocate(32, 1);
  std::memset(key, 0xa5, 32);
  memory.deallocate(key, 32, 1);
  const volatile auto* const bytes = static_cast<const volatile unsigned char*>(key);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(bytes[i], 0) << i;
  memory.deallocate(neighbour, 32, 1);
}

TEST(LockedMemory, GivesLargeBlocksPagesOfTheirOwn) {
  secrets::LockedMemory memory;
  if (!locking_shows()) GTEST_SKIP() << "nothing to see here of what is locked";
  const long before = locked_kilobytes();
  void* const block = memory.allocate(10'000, 64);
  std::memset(block, 1, 10'000);
  EXPECT_EQ(locked_kilobytes(), before + 12);
  memory.deallocate(block, 10'000, 64);
  EXPECT_EQ(locked_kilobytes(), before);
}

TEST(LockedMemoryDeathTest, SaysThatTheLimitIsTooLow) {
  if (!locking_shows()) GTEST_SKIP() << "nothing to see here of what is locked";
  EXPECT_EXIT(exit_with_code_of([] {
                const rlimit none{0, 0};
                ::setrlimit(RLIMIT_MEMLOCK, &none);
                // The limit does not bind root.
                if (::geteuid() == 0) static_cast<void>(::setresuid(65534, 65534, 65534));
                secrets::LockedMemory memory;
                static_cast<void>(memory.allocate(32, 1));
              }),
              ::testing::ExitedWithCode(77), "");
}

TEST(HardenDeathTest, TurnsOffDumps) {
  EXPECT_EXIT(exit_with_code_of([] {
                secrets::harden_process();
                rlimit core{1, 1};
                ::getrlimit(RLIMIT_CORE, &core);
                const bool off = core.rlim_cur == 0 && core.rlim_max == 0 && ::prctl(PR_GET_DUMPABLE) == 0;
                if (!off) throw Failure(Exit::internal, "dumps are on");
              }),
              ::testing::ExitedWithCode(0), "");
}

TEST(Random, DiffersEveryTimeAndFillsEverything) {
  std::set<noise::KeyBytes> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(secrets::random_key());
  EXPECT_EQ(keys.size(), 1000U);
  std::vector<std::uint8_t> large(1 << 20);  // large enough that getrandom() gives it in parts
  secrets::fill_random(large);
  const std::vector<std::uint8_t> zeros(64);
  EXPECT_EQ(std::search(large.begin(), large.end(), zeros.begin(), zeros.end()), large.end());
}

TEST(RandomDeathTest, HasNoOtherSource) {
  EXPECT_EXIT(exit_with_code_of([] {
                forbid_getrandom();
                static_cast<void>(secrets::random_key());
              }),
              ::testing::ExitedWithCode(77), "");
}

// A segment that began with bytes of any other source, such as the clock, would heal nothing.
TEST(RandomDeathTest, IsTheOnlySourceOfFreshBytesForNoise) {
  for (const bool resumed : {false, true}) {
    EXPECT_EXIT(exit_with_code_of([resumed] {
                  const noise::Healing healing = secrets::Keyring::from_master(noise::KeyBytes{1}).healing(resumed);
                  forbid_getrandom();
                  noise::KeyBytes fresh{};
                  healing.fresh(fresh);
                }),
                ::testing::ExitedWithCode(77), "");
  }
}

}  // namespace
}  // namespace nustream::tests
