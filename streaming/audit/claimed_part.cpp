#include "audit/claimed_part.h"

#include <vector>

#include "config/moments.h"
#include "nustream/moments/budget.h"

namespace nustream::audit {

double part_of_displacement(const config::Config& config, const config::CalibratedStage& stage, Absent absent) {
  if (config.privacy.adjacency != privacy::Adjacency::replace_one || absent != Absent::nothing) return 1;
  if (stage.is_one_sided) return 1;
  // The displacement is 2G in a descent, of which one record's gradient is half. In running sums it is that of two
  // records in units of the radius, and one record adds 1.
  return config.moments ? 1 / stage.displacement.value() : 0.5;
}

double part_of_rho(const config::Config& config, const config::Mechanism& mechanism, Absent absent) {
  const bool parts_differ = config.moments || config.descent.counts_clipped;
  if (!parts_differ || config.privacy.adjacency != privacy::Adjacency::replace_one || absent != Absent::nothing) {
    const double part = part_of_displacement(config, mechanism.main(), absent);
    return part * part;
  }
  std::vector<Rho> alone;
  double together = 0;
  double all = 0;
  for (const config::CalibratedStage& stage : mechanism.stages) {
    const double part = part_of_displacement(config, stage, absent);
    alone.push_back(stage.rho);
    together += part * part * stage.rho.value();
    all += stage.rho.value();
  }
  if (!config.moments) return together / all;
  return together / moments::joint(config::moments_settings(config, mechanism).mechanism.design, alone).value();
}

}  // namespace nustream::audit
