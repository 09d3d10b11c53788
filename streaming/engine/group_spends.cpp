#include "engine/group_spends.h"

#include "nustream/privacy/group.h"

namespace nustream::engine {

std::vector<publish::GroupSpend> group_spends(const config::Config& config, const config::Mechanism& mechanism) {
  if (config.descent.users) return {};  // the promise is about all of a person's records already
  // Several records of a person in one step move its sum together. Only where a step takes one record are they in
  // different steps, which the tighter bound needs.
  if (config.descent.minibatch > 1) return group_bounds(mechanism.spend.limit(), config.privacy.delta);
  std::vector<publish::GroupSpend> groups;
  for (const std::uint64_t records : publish::group_sizes) {
    groups.push_back(
        publish::group_spend(records, privacy::group_limit(mechanism.spend, records), config.privacy.delta));
  }
  return groups;
}

std::vector<publish::GroupSpend> group_bounds(Rho rho, Delta delta) {
  std::vector<publish::GroupSpend> groups;
  for (const std::uint64_t records : publish::group_sizes) {
    groups.push_back(publish::group_spend(records, privacy::group_bound(rho, records), delta));
  }
  return groups;
}

}  // namespace nustream::engine
