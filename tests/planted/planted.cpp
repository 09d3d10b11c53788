#include "planted.h"

#include <algorithm>
#include <cstdlib>

#include "nustream/base/error.h"

namespace nustream::planted {
namespace {

/// names.size() where none is asked for.
std::size_t asked_for() {
  const char* const name = std::getenv("NUSTREAM_PLANT");
  if (name == nullptr || *name == '\0') return names.size();
  const auto found = std::ranges::find(names, std::string_view(name));
  // A test that names a bug that is not there must not take a pass for a catch, nor a failure.
  NUSTREAM_REQUIRE(found != names.end(), "NUSTREAM_PLANT names a patch of tests/planted");
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

bool is_planted(std::size_t index) noexcept {
  static const std::size_t asked = asked_for();
  return asked == index;
}

}  // namespace nustream::planted
