// The switch of planted bugs. The sources that tests/planted/*.patch change are compiled once more, with all patches
// applied and with this header before each of them. There
//
//     NUSTREAM_PLANTED("name") ? wrong : right
//
// takes the wrong branch where the environment says NUSTREAM_PLANT=name. The program that is shipped is compiled from
// the sources without patches.
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

/// Whether NUSTREAM_PLANT names the bug with this index. The process ends where NUSTREAM_PLANT names something that
/// is no bug.
[[nodiscard]] bool is_planted(std::size_t index) noexcept;

}  // namespace nustream::planted

#define NUSTREAM_PLANTED(name) ::nustream::planted::is_planted(::nustream::planted::index_of(name))
