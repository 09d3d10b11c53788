// A step may not ask for memory: these tests count every allocation of the process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <random>

#include "lane_stages.h"
#include "nustream/lane/lane.h"
#include "nustream/users/changes.h"
#include "nustream/users/table.h"

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> fails_at{0};  // the number of the allocation that fails; 0 for none

void* counted(std::size_t bytes, std::size_t alignment) {
  if (++allocations == fails_at) throw std::bad_alloc();
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes == 0 ? 1 : bytes) != 0)
    throw std::bad_alloc();
  return memory;
}

}  // namespace

// The compiler sees free() behind this operator new, and not the posix_memalign() within it, and would warn of a
// mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace nustream::tests {
namespace {

/// The number of allocations in one advance() over `steps` records, after a first advance() that may make room.
std::uint64_t allocations_of(const lane::Settings& settings, std::size_t steps) {
  std::mt19937_64 bits(4);
  std::normal_distribution<double> normal;
  const std::vector<noise::Grid> grids = grids_for(settings);
  const std::vector<lane::Stage> stages = lane::stages(settings);
  const std::size_t columns = settings.dimension;
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  std::vector<double> x(steps * settings.minibatch * columns);
  std::vector<double> y(steps * settings.minibatch, 1.0);
  for (double& entry : x) entry = normal(bits);
  std::uint64_t found = 0;
  for (std::size_t round = 0; round < 2; ++round) {
    std::vector<std::vector<std::int64_t>> units;
    std::vector<noise::GridNoise> noise;
    for (const lane::Stage& stage : stages) units.emplace_back(steps * stage.dimension, 1);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      noise.push_back({StepIndex{round * steps}, stages[i].dimension, units[i]});
    }
    releases.clear();
    const std::uint64_t before = allocations;
    lane.advance({columns, y.size(), x.data(), y.data(), nullptr}, noise, releases);
    found = allocations - before;
  }
  return found;
}

TEST(LaneAllocation, AStepTakesNoMemory) {
  const std::uint64_t before = allocations;
  const auto some = std::make_unique<lane::Settings>(settings_for(5, {}));
  ASSERT_GT(allocations, before) << "nothing is counted";
  for (const std::size_t minibatch : {1U, 4U}) {
    lane::Settings settings = settings_for(5, {});
    settings.minibatch = minibatch;
    settings.release_every = 1'000'000;
    EXPECT_EQ(allocations_of(settings, 100), allocations_of(settings, 6400)) << minibatch;
    EXPECT_LE(allocations_of(settings, 6400), 2U) << minibatch;
  }
}

// Each allocation of a change fails once. What was there stays, and whoever comes next gets an entry of their own.
TEST(ChangesWithoutMemory, HoldNothingOfTheUserWhoFoundNone) {
  const auto entry_of = [](std::uint64_t user) {
    users::Entry entry;
    entry.user = {user * 0x9e3779b97f4a7c15, user};
    entry.standing.count = static_cast<std::uint32_t>(user);
    return entry;
  };
  bool failed = false;
  std::uint64_t number = 0;
  do {
    const users::Table table;
    users::Changes changes(table);
    for (std::uint64_t user = 1; user <= 32; ++user) changes.put(entry_of(user));  // then both parts of it are full
    fails_at = allocations + ++number;
    failed = false;
    try {
      changes.put(entry_of(33));
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    fails_at = 0;
    ASSERT_EQ(changes.all().size(), failed ? 32U : 33U) << number;
    changes.put(entry_of(34));
    EXPECT_EQ(changes.find(entry_of(33).user).count, failed ? 0U : 33U) << number;
    EXPECT_EQ(changes.find(entry_of(34).user).count, 34U) << number;
  } while (failed);
  EXPECT_GE(number, 3U) << "the changes and their index ask for memory";
}

}  // namespace
}  // namespace nustream::tests
