// Memory that a test can look through for keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <vector>

#include "nustream/noise/source.h"

namespace nustream::testing {

/// Keeps memory that was given back, so that whatever was not wiped before shows.
class Glass final : public std::pmr::memory_resource {
 public:
  [[nodiscard]] bool shows(const noise::KeyBytes& key) const {
    return std::any_of(buffers_.begin(), buffers_.end(), [&](const auto& buffer) {
      return std::search(buffer.second.begin(), buffer.second.end(), key.begin(), key.end()) != buffer.second.end();
    });
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t /*alignment*/) override {
    auto buffer = std::vector<std::uint8_t>(bytes);
    void* const memory = buffer.data();
    buffers_.emplace(memory, std::move(buffer));
    return memory;
  }
  void do_deallocate(void* /*memory*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {}
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::map<void*, std::vector<std::uint8_t>> buffers_;
};

}  // namespace nustream::testing
