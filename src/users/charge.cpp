// What a user is charged over several epochs. Epochs fall into groups whose counts carry over; within a group two
// dynamic programmes find the worst way to spread a count or a mass over the epochs; among groups the charges add up.
#include "nustream/users/charge.h"

#include <algorithm>

#include "nustream/base/error.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/users/sensitivity.h"
#include "privacy/rounding.h"

namespace nustream::users {
namespace {

/// The ρ of a user under `limits`: Σ over mechanisms of sens²/(2σ²).
Rho rho_of(std::span<const Mechanism> mechanisms, const Limits& limits, std::optional<StepCount> steps) {
  std::vector<Rho> parts;
  parts.reserve(mechanisms.size());
  for (const Mechanism& mechanism : mechanisms) {
    const Sensitivity moved =
        steps ? sensitivity(mechanism.correlation, *steps, limits) : sensitivity_limit(mechanism.correlation, limits);
    parts.push_back(privacy::rho(moved, mechanism.sigma));
  }
  return privacy::compose(parts);
}

/// Every sum is rounded up, so that a charge is never too small, whatever the number of epochs.
double sum_up(double a, double b) {
  return privacy::rounded_up(a + b, 0);
}

/// k of the epoch; by_count has an entry for 0 as well.
std::size_t times_of(const Epoch& epoch) {
  return epoch.by_count.size() - 1;
}

/// What the epoch costs by itself.
double alone(const Epoch& epoch) {
  if (epoch.by_count.empty()) return epoch.of_mass.value();
  const double by_count = epoch.by_count.back().value();
  return epoch.mass ? std::min(by_count, epoch.of_mass.value()) : by_count;
}

/// best[n] is the most that users have spent who have contributed n times so far; it is negative where no user has.
///
/// For example, with k = 3 in a first epoch and k = 5 in a second one, a user may contribute 3 and 2 times, or 0 and
/// 5 times. In the other order it may contribute 2 and 1 times, or 5 and 0 times, but not 3 and 1 times.
std::vector<double> best_by_count(std::span<const Epoch> epochs) {
  std::vector<double> best{0};
  for (const Epoch& epoch : epochs) {
    // `next` begins as `best`: a user need not take part in this epoch.
    std::vector<double> next = best;
    // A count that an earlier, larger k allowed stays, though this epoch lets nobody add to it beyond its own k.
    next.resize(std::max(best.size(), times_of(epoch) + 1), -1);
    for (std::size_t before = 0; before < std::min(best.size(), times_of(epoch)); ++before) {
      if (best[before] < 0) continue;
      for (std::size_t j = 1; before + j <= times_of(epoch); ++j) {
        next[before + j] = std::max(next[before + j], sum_up(best[before], epoch.by_count[j].value()));
      }
    }
    best = std::move(next);
  }
  return best;
}

/// The most that any user can have spent by (k, b), whatever its final count.
double spread_counts(std::span<const Epoch> epochs) {
  return std::ranges::max(best_by_count(epochs));
}

/// The worst spread of mass, by a dynamic programme. best[i] is the most that users have spent who have used
/// levels[i] so far; a level is 0 or the W of an epoch, as the maximum lies where some W is filled up.
double spread_mass(std::span<const Epoch> epochs) {
  std::vector<double> levels{0};
  for (const Epoch& epoch : epochs) levels.push_back(epoch.mass->value());
  std::ranges::sort(levels);
  std::vector<double> best(levels.size(), -1);
  best[0] = 0;
  for (const Epoch& epoch : epochs) {
    std::vector<double> next = best;
    for (std::size_t to = 1; to < levels.size() && levels[to] <= epoch.mass->value(); ++to) {
      for (std::size_t from = 0; from < to; ++from) {
        if (best[from] < 0) continue;
        // A part m of W costs (m/W)² of what all of W costs, as the sensitivity is proportional to the mass.
        const double share = (levels[to] - levels[from]) / epoch.mass->value();
        const double rho = privacy::rounded_up(share * share * epoch.of_mass.value(), 0);
        next[to] = std::max(next[to], sum_up(best[from], rho));
      }
    }
    best = std::move(next);
  }
  return *std::ranges::max_element(best);
}

/// Whether ρ is known for every count. An epoch with a large k has a single entry, and cannot be spread.
bool can_be_spread(const Epoch& epoch) {
  return epoch.by_count.size() > 1;
}

double of_group(std::span<const Epoch> group) {
  // Each of the following bounds holds by itself, so the least of them is charged. A single epoch needs no sum, whose
  // rounding would make it dearer.
  double least = 0;
  for (const Epoch& epoch : group) least = sum_up(least, alone(epoch));
  if (group.size() == 1) return alone(group[0]);
  if (std::ranges::all_of(group, can_be_spread)) least = std::min(least, spread_counts(group));
  const bool massed = std::ranges::all_of(group, [](const Epoch& epoch) { return epoch.mass.has_value(); });
  if (massed) least = std::min(least, spread_mass(group));
  return least;
}

/// Where the epochs of the last group begin.
std::size_t last_group(std::span<const Epoch> epochs) {
  std::size_t first = epochs.size() - 1;
  while (first > 0 && epochs[first].carries_over) --first;
  return first;
}

/// Whether a user's present count and mass, as the last epoch has them, determine what it may have spent in the whole
/// group.
bool depend_on_counts(std::span<const Epoch> group) {
  const Epoch& last = group.back();
  return std::ranges::all_of(group, [&](const Epoch& epoch) {
    return epoch.by_count.empty() == last.by_count.empty() && epoch.mass == last.mass;
  });
}

/// Makes the charge monotone: a user with more contributions is charged no less.
void never_fall(std::vector<Rho>& by_count) {
  for (std::size_t i = 1; i < by_count.size(); ++i) by_count[i] = std::max(by_count[i], by_count[i - 1]);
}

/// What the group costs by the user's final count. Where an epoch has no ρ for each count, a single entry holds the
/// sum of what the epochs cost at their full k.
std::vector<Rho> folded_counts(std::span<const Epoch> group) {
  std::vector<Rho> by_count;
  if (std::ranges::all_of(group, can_be_spread)) {
    for (const double best : best_by_count(group)) by_count.push_back(Rho{std::max(best, 0.0)});
    never_fall(by_count);
  } else if (!group.back().by_count.empty()) {
    double sum = 0;
    for (const Epoch& epoch : group) sum = sum_up(sum, epoch.by_count.back().value());
    by_count.push_back(Rho{sum});
  }
  return by_count;
}

}  // namespace

Epoch epoch_of(std::span<const Mechanism> mechanisms, const Limits& limits, std::optional<StepCount> steps,
               bool carries_over) {
  Epoch epoch{carries_over};
  if (const auto& participation = limits.participation()) {
    const std::uint64_t times = participation->times();
    const auto of = [&](std::uint64_t count) {
      // The count alone is limited here; the mass has its own figure below, and the lesser of the two is charged.
      return rho_of(mechanisms, Limits({{count, participation->separation()}}, {}), steps);
    };
    if (times <= spread_times_max) {
      epoch.by_count.push_back(Rho{0});
      for (std::uint64_t count = 1; count <= times; ++count) epoch.by_count.push_back(of(count));
    } else {
      epoch.by_count.push_back(of(times));
    }
  }
  if (limits.mass()) {
    epoch.mass = limits.mass();
    epoch.of_mass = rho_of(mechanisms, Limits({}, limits.mass()), steps);
  }
  return epoch;
}

Rho charged(std::span<const Epoch> epochs) {
  double sum = 0;
  for (std::size_t first = 0; first < epochs.size();) {
    std::size_t end = first + 1;
    while (end < epochs.size() && epochs[end].carries_over) ++end;
    for (const Epoch& epoch : epochs.subspan(first, end - first)) {
      NUSTREAM_REQUIRE(!epoch.by_count.empty() || epoch.mass, "every epoch of users has a limit");
    }
    const double group = of_group(epochs.subspan(first, end - first));
    // A first group by itself keeps its bits: adding it to 0 would round it up once more.
    sum = first == 0 ? group : sum_up(sum, group);
    first = end;
  }
  // What was spent before does not depend on the present counts, so it is added whatever the groups say.
  for (const Epoch& epoch : epochs) {
    if (epoch.before > Rho{0}) sum = sum_up(sum, epoch.before.value());
  }
  return Rho{sum};
}

Epoch folded(std::span<const Epoch> epochs) {
  NUSTREAM_REQUIRE(!epochs.empty(), "there is an epoch to fold");
  const std::size_t first = last_group(epochs);
  const std::span<const Epoch> group = epochs.subspan(first);
  Epoch one = epochs.back();
  one.carries_over = false;
  if (!depend_on_counts(group)) {
    // The counts say too little, so all of the charge is moved to `before`, where no later epoch can lower it.
    one = without_counts(one);
    one.before = charged(epochs);
    return one;
  }
  // Where counts and mass decide, all epochs of the group have one W. ρ is quadratic in the mass, so the worst user
  // spends all of it in the dearest epoch.
  double before = charged(epochs.first(first)).value();
  for (const Epoch& epoch : group) {
    if (epoch.before > Rho{0}) before = sum_up(before, epoch.before.value());
    one.of_mass = std::max(one.of_mass, epoch.of_mass);
  }
  one.by_count = folded_counts(group);
  one.before = Rho{before};
  return one;
}

Epoch dearest(const Epoch& one, const Epoch& other) {
  const bool are_alike = one.by_count.empty() == other.by_count.empty() &&
                         can_be_spread(one) == can_be_spread(other) && one.mass == other.mass;
  // The counts of the two cannot be compared. Both charges go into `before`, and the larger of them stays.
  if (!are_alike) {
    Epoch most = without_counts(one);
    most.before = std::max(most.before, without_counts(other).before);
    return most;
  }
  Epoch most = one;
  most.carries_over = false;
  if (most.by_count.size() < other.by_count.size()) most.by_count.resize(other.by_count.size(), Rho{0});
  for (std::size_t i = 0; i < other.by_count.size(); ++i) {
    most.by_count[i] = std::max(most.by_count[i], other.by_count[i]);
  }
  never_fall(most.by_count);
  most.of_mass = std::max(one.of_mass, other.of_mass);
  most.before = std::max(one.before, other.before);
  return most;
}

Epoch without_counts(const Epoch& epoch) {
  Epoch none{false, {}, epoch.mass, Rho{0}, charged({&epoch, 1})};
  // The single entry of 0 keeps the kind of the limits: an epoch without any limit is not allowed.
  if (!epoch.by_count.empty()) none.by_count.push_back(Rho{0});
  return none;
}

}  // namespace nustream::users
