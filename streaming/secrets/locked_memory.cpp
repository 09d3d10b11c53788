#include "secrets/locked_memory.h"

#include <sodium.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "error.h"
#include "nustream/base/error.h"

namespace nustream::secrets {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Keys are tens of bytes; larger blocks go to pages of their own.
constexpr std::pmr::pool_options key_pools{.max_blocks_per_chunk = 32, .largest_required_pool_block = 256};

}  // namespace

namespace detail {

void* LockedPages::do_allocate(std::size_t bytes, std::size_t alignment) {
  NUSTREAM_REQUIRE(alignment <= static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), "alignment within a page");
  const std::size_t size = whole_pages(bytes);
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (::mlock(memory, size) != 0 || ::madvise(memory, size, MADV_DONTDUMP) != 0) {
    const int error = errno;
    ::munmap(memory, size);
    throw system_failure(Exit::permission, "lock", std::to_string(size) + " bytes of memory for keys", error,
                         "raise RLIMIT_MEMLOCK (ulimit -l)");
  }
  return memory;
}

void LockedPages::do_deallocate(void* memory, std::size_t bytes, std::size_t /*alignment*/) {
  const std::size_t size = whole_pages(bytes);
  sodium_memzero(memory, size);
  ::munmap(memory, size);  // unlocks
}

}  // namespace detail

LockedMemory::LockedMemory() : pool_(key_pools, &pages_) {}

void* LockedMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  return pool_.allocate(bytes, alignment);
}

void LockedMemory::do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
  sodium_memzero(memory, bytes);
  pool_.deallocate(memory, bytes, alignment);
}

}  // namespace nustream::secrets
