// Deals a unit's records out into layers, of which no step holds two records, and adds up the layers' sensitivities.
// The sensitivity of one layer over steps is that of privacy/sensitivity.h.
#include "nustream/moments/participation.h"

#include <algorithm>

#include "nustream/base/error.h"
#include "nustream/privacy/sensitivity.h"
#include "privacy/rounding.h"

namespace nustream::moments {
namespace {

void check_positive(const char* name, std::uint64_t value) {
  if (value == 0) throw InvalidParameter(name, "0", "an integer >= 1");
}

/// (q − r)·sens(fewer) + r·sens(more), where `of` gives the sensitivity of one layer. A single layer's value is
/// passed through.
template <class Of>
Sensitivity added_up(const Layers& layers, const Of& of) {
  double sum = static_cast<double>(layers.fewer) * of(layers.of_fewer).value();
  if (layers.more > 0) sum += static_cast<double>(layers.more) * of(layers.of_more).value();
  return Sensitivity{layers.fewer == 1 && layers.more == 0 ? sum : privacy::rounded_up(sum, 0)};
}

}  // namespace

void check(const BatchParticipation& participation) {
  check_positive("participation times", participation.times);
  check_positive("participation separation", participation.separation);
  check_positive("records of a step", participation.batch);
}

Layers layers(const BatchParticipation& participation) {
  check(participation);
  const auto [times, separation, batch] = participation;
  const std::uint64_t in_a_step = separation >= batch ? 1 : (batch - 1) / separation + 1;
  const std::uint64_t count = std::min(times, in_a_step);
  // The next record of a layer is count·b records later. That is ⌊b/m⌋ steps for one layer, and at least one but less
  // than two for several.
  const std::uint64_t apart = std::max<std::uint64_t>(1, separation / batch);
  const std::uint64_t more = times % count;
  return {count - more, more, privacy::Participation{times / count, apart},
          privacy::Participation{times / count + 1, apart}};
}

Sensitivity sensitivity(const noise::Correlation& correlation, StepCount steps,
                        const BatchParticipation& participation) {
  return added_up(layers(participation), [&](const privacy::Participation& layer) {
    return privacy::sensitivity(correlation, steps, layer);
  });
}

Sensitivity sensitivity_limit(const noise::Correlation& correlation, const BatchParticipation& participation) {
  return added_up(layers(participation), [&](const privacy::Participation& layer) {
    return privacy::sensitivity_limit(correlation, layer);
  });
}

}  // namespace nustream::moments
