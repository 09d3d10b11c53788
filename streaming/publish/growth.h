// What a release says about columns whose scales have grown: a function of noisy sums, as the release itself is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/moments/growth.h"
#include "publish/json_writer.h"

namespace simdjson::dom {
class element;
}  // namespace simdjson::dom

namespace nustream::publish {

/// A column whose scale has grown.
struct ShownGrowth {
  std::string column{};
  double factor = 1;        ///< by which its scale grew in all
  std::uint64_t times = 0;  ///< at how many stages it grew
};

/// Writes "grown":{"x":{"factor":32,"times":2}}; an empty object where no scale has grown. `names` are those of the
/// inputs.
void append_growth(const std::vector<moments::GrownInput>& grown, const std::vector<std::string>& names,
                   JsonWriter& json);
/// The same of what a reader sees; nothing where no scale has grown.
void append_growth(const std::vector<ShownGrowth>& grown, JsonWriter& json);
/// The scales that have grown, from the "moments" of a release; empty where it tells none.
[[nodiscard]] std::vector<ShownGrowth> growth_in(const simdjson::dom::element& moments);
/// "x (32 times, at 2 stages), …" for a sentence about scales that grew.
[[nodiscard]] std::string in_words(const std::vector<ShownGrowth>& grown);

}  // namespace nustream::publish
