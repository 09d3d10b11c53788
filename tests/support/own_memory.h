// Finds keys that stand in the memory of this very process: heap, stacks, locked pages, whatever can be written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nustream/noise/source.h"

namespace nustream::tests {

/// The keys to look for. They are kept masked, so that a search does not find them here.
class KeysInMemory {
 public:
  void add(std::string name, const noise::KeyBytes& key) {
    Masked masked{std::move(name), key};
    mask(masked.bytes);
    keys_.push_back(std::move(masked));
  }

  /// The names of the keys that stand anywhere, each with the kind of place, in the order in which they were added.
  /// To be used by one thread at a time, while nobody maps or unmaps memory.
  [[nodiscard]] std::vector<std::string> found() const {
    const std::vector<Region> regions = writable_regions();
    std::vector<std::string> names;
    for (const Masked& key : keys_) {
      if (const Region* const region = where(regions, key.bytes)) names.push_back(key.name + " in " + region->name);
    }
    return names;
  }

 private:
  struct Masked {
    std::string name;
    noise::KeyBytes bytes;
  };
  struct Region {
    const std::uint8_t* begin;
    std::size_t size;
    /// The system's name, such as "[heap]" or "[stack]"; or that there is none, as for threads' stacks.
    std::string name;
  };
  static constexpr std::uint8_t pattern = 0xa5;
  static constexpr std::size_t largest_region = std::size_t{1}
                                                << 30;  // a sanitizer's shadow is none of the program's

  static void mask(noise::KeyBytes& key) {
    for (volatile std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(byte ^ pattern);
  }

  static std::vector<Region> writable_regions() {
    std::ifstream maps("/proc/self/maps");
    if (!maps) throw std::runtime_error("/proc/self/maps cannot be read");
    std::vector<Region> regions;
    for (std::string line; std::getline(maps, line);) {
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
      char dash = 0;
      std::string rights;
      std::istringstream(line) >> std::hex >> begin >> dash >> end >> rights;
      if (!rights.starts_with("rw") || line.ends_with("[vvar]") || end - begin > largest_region) continue;
      const std::size_t name = line.find_first_of("/[");
      regions.push_back({reinterpret_cast<const std::uint8_t*>(begin), end - begin,
                         name == std::string::npos ? "some memory" : line.substr(name)});
    }
    return regions;
  }

  /// Compares masked bytes with masked bytes: the key itself is never put together.
  [[gnu::no_sanitize("address", "thread")]] static const Region* where(const std::vector<Region>& regions,
                                                                       const noise::KeyBytes& masked) {
    const auto first = static_cast<int>(masked[0] ^ pattern);
    for (const Region& region : regions) {
      const std::uint8_t* at = region.begin;
      const std::uint8_t* const end = region.begin + region.size;
      while (static_cast<std::size_t>(end - at) >= masked.size()) {
        const auto* const hit =
            static_cast<const std::uint8_t*>(std::memchr(at, first, static_cast<std::size_t>(end - at)));
        if (hit == nullptr || static_cast<std::size_t>(end - hit) < masked.size()) break;
        std::size_t same = 1;
        while (same < masked.size() && (hit[same] ^ pattern) == masked[same]) ++same;
        if (same == masked.size()) return &region;
        at = hit + 1;
      }
    }
    return nullptr;
  }

  std::vector<Masked> keys_;
};

}  // namespace nustream::tests
