// Asks the kernel for pages of 2 MiB by madvise(). That is advice: where the kernel has no such page, or gives none,
// the memory is the same in ordinary pages.
#include "nustream/users/huge_pages.h"

#include <sys/mman.h>

namespace nustream::users {
namespace {

constexpr std::size_t page_bytes = std::size_t{2} << 20;

/// Memory that is shorter than a page would waste most of one.
std::align_val_t aligned(std::size_t bytes, std::size_t alignment) noexcept {
  return std::align_val_t{bytes >= page_bytes ? page_bytes : alignment};
}

}  // namespace

void* take_pages(std::size_t bytes, std::size_t alignment) {
  void* const memory = ::operator new(bytes, aligned(bytes, alignment));
  // Only whole pages, since what lies behind the memory belongs to somebody else.
  const std::size_t whole = bytes / page_bytes * page_bytes;
  if (whole > 0) static_cast<void>(::madvise(memory, whole, MADV_HUGEPAGE));
  return memory;
}

void give_pages(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  ::operator delete(memory, aligned(bytes, alignment));
}

}  // namespace nustream::users
