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
#include <string_view>
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
  [[nodiscard]] std::vector<std::string> found() const { return found_in(writable_regions("/proc/self/maps")); }

  /// The same for those keys that stand anywhere outside of locked memory that core dumps leave out.
  [[nodiscard]] std::vector<std::string> found_unlocked() const {
    std::vector<Region> regions = writable_regions("/proc/self/smaps");
    std::erase_if(regions, [](const Region& region) { return region.is_locked && region.is_not_dumped; });
    return found_in(regions);
  }

  /// False where the system does not say which memory is locked.
  [[nodiscard]] static bool tells_what_is_locked() {
    std::ifstream regions("/proc/self/smaps");
    for (std::string line; std::getline(regions, line);) {
      if (line.starts_with(flags_mark)) return true;
    }
    return false;
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
    bool is_locked = false;
    bool is_not_dumped = false;
  };
  static constexpr std::string_view flags_mark = "VmFlags:";
  static constexpr std::uint8_t pattern = 0xa5;
  static constexpr std::size_t largest_region = std::size_t{1}
                                                << 30;  // a sanitizer's shadow is none of the program's

  static void mask(noise::KeyBytes& key) {
    for (volatile std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(byte ^ pattern);
  }

  /// The regions that `file`, one of the system's lists, tells of. Only the longer list has lines with flags.
  static std::vector<Region> writable_regions(const char* file) {
    std::ifstream maps(file);
    if (!maps) throw std::runtime_error(std::string(file) + " cannot be read");
    std::vector<Region> regions;
    bool is_kept = false;  // whether the lines that follow tell of the last of `regions`
    for (std::string line; std::getline(maps, line);) {
      if (line.starts_with(flags_mark)) {
        if (is_kept) note_flags(line.substr(flags_mark.size()), regions.back());
        continue;
      }
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
      char dash = 0;
      std::string rights;
      // Other lines about a region, such as its size, have no dash behind a hexadecimal number.
      if (!(std::istringstream(line) >> std::hex >> begin >> dash >> end >> rights) || dash != '-') continue;
      is_kept = rights.starts_with("rw") && !line.ends_with("[vvar]") && end - begin <= largest_region;
      if (!is_kept) continue;
      const std::size_t name = line.find_first_of("/[");
      regions.push_back({reinterpret_cast<const std::uint8_t*>(begin), end - begin,
                         name == std::string::npos ? "some memory" : line.substr(name)});
    }
    return regions;
  }

  static void note_flags(const std::string& flags, Region& region) {
    std::istringstream words(flags);
    for (std::string word; words >> word;) {
      region.is_locked = region.is_locked || word == "lo";
      region.is_not_dumped = region.is_not_dumped || word == "dd";
    }
  }

  [[nodiscard]] std::vector<std::string> found_in(const std::vector<Region>& regions) const {
    std::vector<std::string> names;
    for (const Masked& key : keys_) {
      if (const Region* const region = where(regions, key.bytes)) names.push_back(key.name + " in " + region->name);
    }
    return names;
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
