// The switch of planted bugs. Sources that tests/planted/*.patch change are compiled once more with all patches, and
// with this header before each of them:
//
//     NUSTREAM_PLANTED("name") ? wrong : right
//
// is true where the environment says NUSTREAM_PLANT=name. What is shipped is compiled from the sources without
// patches.
#pragma once

#include <cstddef>
#include <string_view>

#include "planted_names.h"  // made of the patches' names by tests/rooms/planted.cmake

namespace nustream::planted {

consteval std::size_t index_of(std::string_view name) {
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return index;
  }
  throw "no such bug: the switch has the name of its patch";
}

/// Whether NUSTREAM_PLANT names the bug; the process ends where it names none.
[[nodiscard]] bool is_planted(std::size_t index) noexcept;

}  // namespace nustream::planted

#define NUSTREAM_PLANTED(name) ::nustream::planted::is_planted(::nustream::planted::index_of(name))
