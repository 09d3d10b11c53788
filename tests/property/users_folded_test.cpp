// Users who move to other lanes take along all that they spent, folded into one epoch. The folded epoch is compared
// with every way in which a user of any of the lanes can have used up its limits, there and in the epochs that
// follow.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "nustream/users/charge.h"

namespace nustream::users {
namespace {

constexpr double mass_step = .5;

struct Use {
  std::size_t count;
  double mass;
  double cost;
};

/// What a user may still do in an epoch that it enters with `count` and `mass`.
std::vector<Use> uses(const Epoch& epoch, std::size_t count, double mass) {
  std::vector<Use> by_count{{0, 0, 0}};
  if (epoch.by_count.empty()) by_count.push_back({0, 0, std::numeric_limits<double>::infinity()});
  // Where k is too large to be spread, only the cost of the whole is known.
  if (epoch.by_count.size() == 1) by_count.push_back({0, 0, epoch.by_count[0].value()});
  for (std::size_t j = 1; count + j < epoch.by_count.size(); ++j)
    by_count.push_back({j, 0, epoch.by_count[j].value()});
  if (!epoch.mass) return by_count;
  std::vector<Use> all{{0, 0, 0}};
  for (const Use& use : by_count) {
    for (double m = mass_step; mass + m <= epoch.mass->value(); m += mass_step) {
      const double share = m / epoch.mass->value();
      all.push_back({use.count, m, std::min(use.cost, share * share * epoch.of_mass.value())});
    }
  }
  return all;
}

double worst_user(const std::vector<Epoch>& epochs) {
  double most = 0;
  const std::function<void(std::size_t, std::size_t, double, double)> go = [&](std::size_t e, std::size_t count,
                                                                               double mass, double cost) {
    most = std::max(most, cost);
    if (e == epochs.size()) return;
    if (!epochs[e].carries_over) count = 0, mass = 0;
    for (const Use& use : uses(epochs[e], count, mass))
      go(e + 1, count + use.count, mass + use.mass, cost + use.cost);
  };
  go(0, 0, 0, 0);
  return most;
}

struct Kind {
  bool counts;
  bool masses;
  bool same_limits;
};

Epoch some_epoch(std::mt19937_64& random, const Kind& kind) {
  Epoch epoch{random() % 3 != 0};
  if (kind.counts) {
    epoch.by_count.push_back(Rho{0});
    const std::size_t times = kind.same_limits ? 3 : 1 + random() % 3;
    for (std::size_t j = 0; j < times; ++j) {
      epoch.by_count.push_back(Rho{epoch.by_count.back().value() + static_cast<double>(random() % 100) / 100});
    }
    if (!kind.same_limits && random() % 8 == 0) epoch.by_count = {Rho{static_cast<double>(random() % 100) / 50}};
  }
  if (kind.masses) {
    epoch.mass = Mass{kind.same_limits ? 1.5 : mass_step * static_cast<double>(1 + random() % 3)};
    epoch.of_mass = Rho{static_cast<double>(random() % 100) / 100};
  }
  return epoch;
}

std::vector<Epoch> some_epochs(std::mt19937_64& random, const Kind& kind, std::size_t most) {
  std::vector<Epoch> epochs;
  const std::size_t size = 1 + random() % most;
  while (epochs.size() < size) epochs.push_back(some_epoch(random, kind));
  return epochs;
}

std::vector<Epoch> joined(std::vector<Epoch> first, const std::vector<Epoch>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

constexpr Kind kinds[]{{true, false, true},  {true, false, false}, {false, true, true},
                       {false, true, false}, {true, true, true},   {true, true, false}};

TEST(FoldedEpochs, CostNoUserOfAnyLaneLessThanItSpends) {
  std::mt19937_64 random(21);
  for (const Kind& kind : kinds) {
    for (int trial = 0; trial < 300; ++trial) {
      const std::vector<Epoch> lanes[]{some_epochs(random, kind, 3), some_epochs(random, kind, 3)};
      const std::vector<Epoch> later = some_epochs(random, kind, kind.counts && kind.masses ? 1 : 2);
      const Epoch moved = dearest(folded(lanes[0]), folded(lanes[1]));
      const double with_counts = charged(joined({moved}, later)).value();
      const double without = charged(joined({without_counts(moved)}, later)).value();
      for (const std::vector<Epoch>& lane : lanes) {
        const double spent = worst_user(joined(lane, later)) * (1 - 1e-12);
        ASSERT_GE(with_counts, spent) << kind.counts << kind.masses << kind.same_limits << " trial " << trial;
        std::vector<Epoch> anew = later;
        anew[0].carries_over = false;
        ASSERT_GE(without, worst_user(joined(lane, anew)) * (1 - 1e-12)) << "trial " << trial;
      }
    }
  }
}

// A lane may fold what it was itself given as a folded epoch, as a second change of the lanes does.
TEST(FoldedEpochs, CostNoLessOnceTheyAreFoldedAgain) {
  std::mt19937_64 random(22);
  for (const Kind& kind : kinds) {
    for (int trial = 0; trial < 300; ++trial) {
      const std::vector<Epoch> first = some_epochs(random, kind, 2);
      const std::vector<Epoch> then = some_epochs(random, kind, kind.counts && kind.masses ? 1 : 2);
      const std::vector<Epoch> later = some_epochs(random, kind, 1);
      const Epoch again = folded(joined({folded(first)}, then));
      ASSERT_GE(charged(joined({again}, later)).value(), worst_user(joined(joined(first, then), later)) * (1 - 1e-12))
          << "trial " << trial;
    }
  }
}

// With limits that stay the same nothing is charged twice.
TEST(FoldedEpochs, OfEqualLimitsCostWhatTheyCostOneByOne) {
  std::mt19937_64 random(23);
  for (const Kind& kind : {Kind{true, false, true}, Kind{false, true, true}}) {
    for (int trial = 0; trial < 300; ++trial) {
      const std::vector<Epoch> before = some_epochs(random, kind, 4);
      const std::vector<Epoch> later = some_epochs(random, kind, 3);
      const double one_by_one = charged(joined(before, later)).value();
      EXPECT_LE(charged(joined({folded(before)}, later)).value(), one_by_one * (1 + 1e-12) + 1e-300);
    }
  }
}

// A store was lost before: what was spent until then stays spent, whatever the user's count is now.
TEST(FoldedEpochs, KeepApartWhatWasSpentBeforeCountsWereLost) {
  const Epoch dear{false, {Rho{0}, Rho{.5}}};
  const Epoch cheap{false, {Rho{0}, Rho{.01}}};
  const Epoch next{true, {Rho{0}, Rho{.5}}};
  EXPECT_NEAR(charged(std::vector{folded(std::vector{dear, cheap}), next}).value(), 1, 1e-12);
}

}  // namespace
}  // namespace nustream::users
