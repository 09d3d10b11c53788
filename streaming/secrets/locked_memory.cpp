// Locked memory by mmap, mlock and MADV_DONTDUMP, a page at a time, with slots of 128 bytes inside shared pages; and
// the settings of the process that keep others from reading it.
#include "secrets/locked_memory.h"

#include <sodium.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

#include "error.h"
#include "nustream/base/error.h"

namespace nustream::secrets {
namespace {

// A slot holds one key and what its owner keeps beside it. A keyring is larger and has a page of its own.
constexpr std::size_t slot_bytes = 128;

std::size_t page_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// `bytes` rounded up to whole pages, which are the smallest pieces that the system locks.
std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

bool fits_slot(std::size_t bytes, std::size_t alignment) {
  return bytes <= slot_bytes && alignment <= slot_bytes;
}

/// Fresh pages, all zero, that are neither swapped nor written to a core dump. They are mapped and not taken from the
/// heap: unlocking a page of the heap would also unlock a key of somebody else in it.
void* lock_pages(std::size_t size) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // mlock keeps the pages out of swap, MADV_DONTDUMP out of core dumps. A page with only one of them is given back.
  if (::mlock(memory, size) != 0 || ::madvise(memory, size, MADV_DONTDUMP) != 0) {
    const int error = errno;
    ::munmap(memory, size);
    throw system_failure(Exit::permission, "lock", std::to_string(size) + " bytes of memory for keys", error,
                         "raise RLIMIT_MEMLOCK (ulimit -l)");
  }
  return memory;
}

/// Gives pages back. They are wiped first: once they are unmapped nobody can reach them, and the kernel unlocks them.
void wipe_and_unlock(void* memory, std::size_t size) {
  sodium_memzero(memory, size);
  ::munmap(memory, size);
}

}  // namespace

LockedMemory::~LockedMemory() {
  for (void* const page : pages_) wipe_and_unlock(page, page_bytes());
}

// For example a key of 32 bytes gets a slot, of which a page of 4,096 bytes has 32; a kilobyte of keys gets a page of
// its own.
void* LockedMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
  NUSTREAM_REQUIRE(alignment <= page_bytes(), "alignment within a page");
  if (!fits_slot(bytes, alignment)) return lock_pages(whole_pages(bytes));
  const std::lock_guard hold(mutex_);
  // A page that holds slots is given back only at the end, since another key may still lie in it.
  if (free_slots_.empty()) {
    const std::size_t slots = page_bytes() / slot_bytes;
    free_slots_.reserve((pages_.size() + 1) * slots);  // so that giving a slot back never allocates
    pages_.reserve(pages_.size() + 1);
    auto* const page = static_cast<std::byte*>(lock_pages(page_bytes()));
    pages_.push_back(page);
    for (std::size_t slot = slots; slot-- > 0;) free_slots_.push_back(page + slot * slot_bytes);
  }
  void* const slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void LockedMemory::do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
  if (!fits_slot(bytes, alignment)) {
    wipe_and_unlock(memory, whole_pages(bytes));
    return;
  }
  // Wiped before it goes on the list, since from then on another thread may take the slot. The whole slot is wiped,
  // also what the owner did not ask for.
  sodium_memzero(memory, slot_bytes);
  const std::lock_guard hold(mutex_);
  free_slots_.push_back(memory);
}

void harden_process() {
  const rlimit none{0, 0};
  // The limit alone would not stop a core_pattern that pipes to a program; the dumpable flag does.
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    throw system_failure(Exit::permission, "turn off", "core dumps", errno, "allow setrlimit and prctl");
  }
}

}  // namespace nustream::secrets
