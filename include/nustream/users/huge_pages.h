// Memory for large tables that are looked up in no order.
#pragma once

#include <cstddef>
#include <limits>
#include <new>

namespace nustream::users {

/// Memory of at least `bytes`, in pages of 2 MiB where that is no less than one such page and the kernel gives them.
/// A look-up in a table of ordinary pages of 4 KiB mostly has to find the page first, which takes as long as the
/// look-up itself. Throws std::bad_alloc.
[[nodiscard]] void* take_pages(std::size_t bytes, std::size_t alignment);
/// Gives such memory back. The numbers are those that it was taken with.
void give_pages(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

/// An allocator over take_pages(), for std::vector.
template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class Other>
  explicit HugePages(const HugePages<Other>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(take_pages(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept { give_pages(memory, count * sizeof(T), alignof(T)); }

  friend bool operator==(const HugePages&, const HugePages&) = default;
};

}  // namespace nustream::users
