#include "planted.h"

#include <algorithm>
#include <cstdlib>

#include "nustream/base/error.h"

namespace nustream::planted {
namespace {

/// The index of the bug that NUSTREAM_PLANT names; names.size() where the variable is not set.
std::size_t asked_for() {
  const char* const name = std::getenv("NUSTREAM_PLANT");
  if (name == nullptr || *name == '\0') return names.size();
  const auto found = std::ranges::find(names, std::string_view(name));
  // A test that names a bug which does not exist must end here: otherwise its pass or its failure would be taken for
  // a result.
  NUSTREAM_REQUIRE(found != names.end(), "NUSTREAM_PLANT names a patch of tests/planted");
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

bool is_planted(std::size_t index) noexcept {
  static const std::size_t asked = asked_for();
  return asked == index;
}

}  // namespace nustream::planted
