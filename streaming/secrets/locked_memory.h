// What keeps keys to this process: memory that is never swapped, never dumped, and wiped when it is given back, and a
// process that nobody can look into.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <vector>

namespace nustream::secrets {

/// Small allocations share locked pages, 32 to a page, because a process may lock little memory (RLIMIT_MEMLOCK,
/// often 64 KiB to 8 MiB); larger ones have pages of their own. Allocation throws Failure(permission) where the
/// system refuses the lock. Any thread may use it. It has to outlive everything that is allocated from it.
class LockedMemory final : public std::pmr::memory_resource {
 public:
  LockedMemory() = default;
  ~LockedMemory() override;
  LockedMemory(const LockedMemory&) = delete;
  LockedMemory& operator=(const LockedMemory&) = delete;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::mutex mutex_;
  std::vector<void*> pages_;       // pages that hold slots
  std::vector<void*> free_slots_;  // the slot that was given back last is used next
};

/// Turns core dumps off, and forbids other processes of the same user to read this one's memory. It has to run first
/// in main(). Throws Failure(permission) where the system refuses.
void harden_process();

}  // namespace nustream::secrets
