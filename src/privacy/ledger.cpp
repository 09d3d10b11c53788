// Rule 7 of the privacy statement, in two stages: the entries are merged into one for each epoch, and the epochs are
// charged. Within a lane, disjoint epochs count by their worst position and overlapping ones by their sum. Among
// lanes the dearest one counts. Epochs of which nothing is known are added on top.
#include "nustream/privacy/ledger.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "nustream/privacy/zcdp.h"

namespace nustream::privacy {
namespace {

struct Epoch {
  std::uint64_t first, end;
  Rho rho;
  Disjointness disjointness;
};

/// One lane's epochs: those whose ranges count, and those that are charged to every record of the lane.
struct Lane {
  std::vector<Epoch> disjoint;
  std::vector<Rho> everywhere;
};

/// One entry for each epoch: the worst of everything that its entries say. It does not rely on the entries' order,
/// so that a later entry cannot take back what an earlier one said.
std::map<std::pair<LaneId, EpochId>, Epoch> latest(std::span<const EpochSpend> entries) {
  std::map<std::pair<LaneId, EpochId>, Epoch> epochs;
  for (const EpochSpend& entry : entries) {
    const Epoch said{entry.first.value(), entry.end.value(), entry.rho, entry.disjointness};
    const auto [place, is_new] = epochs.try_emplace({entry.lane, entry.epoch}, said);
    if (is_new) continue;
    Epoch& known = place->second;
    known.first = std::min(known.first, said.first);
    known.end = std::max(known.end, said.end);
    known.rho = std::max(known.rho, said.rho);
    known.disjointness = std::max(known.disjointness, said.disjointness);
  }
  return epochs;
}

/// The largest sum of ρ over the epochs that hold one position. The sum can only rise where an epoch begins, so it
/// is enough to look at those positions.
///
/// The epochs are those of one lane that were recorded as disjoint. They may overlap all the same, and are charged by
/// their sum where they do.
Rho largest_overlap(const std::vector<Epoch>& epochs) {
  Rho largest{0};
  for (const Epoch& beginning : epochs) {
    std::vector<Rho> covering;
    for (const Epoch& epoch : epochs) {
      // The first position counts even if the range is empty: an epoch that took steps but recorded no range still
      // costs.
      const bool holds =
          epoch.first == beginning.first || (epoch.first < beginning.first && beginning.first < epoch.end);
      if (holds) covering.push_back(epoch.rho);
    }
    largest = std::max(largest, compose(covering));
  }
  return largest;
}

}  // namespace

Rho total(std::span<const EpochSpend> entries) {
  std::map<LaneId, Lane> lanes;
  std::vector<Rho> of_every_record;
  for (const auto& [key, epoch] : latest(entries)) {
    Lane& lane = lanes[key.first];
    if (epoch.disjointness == Disjointness::unknown) {
      of_every_record.push_back(epoch.rho);
    } else if (epoch.disjointness == Disjointness::overlapping) {
      lane.everywhere.push_back(epoch.rho);
    } else {
      lane.disjoint.push_back(epoch);
    }
  }
  Rho worst_lane{0};
  // Every record of a lane may have been in all overlapping epochs, and the worst one also bears the largest overlap
  // of the others. A record is in one lane, so lanes are compared and not added.
  for (auto& [id, lane] : lanes) {
    lane.everywhere.push_back(largest_overlap(lane.disjoint));
    worst_lane = std::max(worst_lane, compose(lane.everywhere));
  }
  of_every_record.push_back(worst_lane);
  return compose(of_every_record);
}

}  // namespace nustream::privacy
