// Memory for keys: never swapped, never dumped, wiped when it is given back.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace nustream::secrets {

namespace detail {
/// Whole pages that are locked and left out of core dumps; upstream of LockedMemory.
class LockedPages final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};
}  // namespace detail

/// Pools small allocations in locked pages: a few dozen keys share one page, since a process may lock little
/// (RLIMIT_MEMLOCK, often 64 KiB to 8 MiB). Allocation throws Failure(permission) where the lock is refused.
/// Any thread. Outlives everything that is allocated from it.
class LockedMemory final : public std::pmr::memory_resource {
 public:
  LockedMemory();

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  detail::LockedPages pages_;
  std::pmr::synchronized_pool_resource pool_;
};

}  // namespace nustream::secrets
