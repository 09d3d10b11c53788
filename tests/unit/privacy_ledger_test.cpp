// The total charged: the maximum over disjoint ranges, and the sum where ranges overlap or are unknown.
#include "nustream/privacy/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "nustream/privacy/participation.h"

namespace nustream::privacy {
namespace {

EpochSpend entry(std::uint32_t lane, std::uint32_t epoch, std::uint64_t first, std::uint64_t end, double rho,
                 Disjointness disjointness = Disjointness::disjoint) {
  return {LaneId{lane},           EpochId{epoch}, Position{first}, Position{end},
          StepCount{end - first}, Rho{rho},       "digest",        disjointness};
}

// Replacing a record is a zero-out either way, so the two Gaussians are 2Δ apart: (2Δ)²/(2σ²) = 4 Δ²/(2σ²).
TEST(Ledger, ASpendIsRestatedOverOtherNeighbours) {
  const Neighbours zero_out{Adjacency::zero_out, false};
  const Neighbours replaced{Adjacency::replace_one, false};
  const Neighbours target{Adjacency::zero_out, true};
  const Neighbours replaced_target{Adjacency::replace_one, true};
  const auto over = [](Neighbours told, Neighbours asked) {
    const auto rho = restated(Rho{0.3}, told, asked);
    return rho ? rho->value() : -1;
  };
  for (const Neighbours& same : {zero_out, replaced, target, replaced_target}) EXPECT_EQ(over(same, same), 0.3);
  EXPECT_EQ(over(zero_out, replaced), 1.2);
  EXPECT_EQ(over(zero_out, replaced_target), 1.2);
  EXPECT_EQ(over(target, replaced_target), 1.2);
  EXPECT_EQ(over(replaced, zero_out), 0.3);
  EXPECT_EQ(over(zero_out, target), 0.3);
  EXPECT_EQ(over(replaced, target), 0.3);
  for (const Neighbours& whole : {zero_out, replaced}) {
    EXPECT_EQ(over(target, whole), -1) << "nothing follows for whole records";
    EXPECT_EQ(over(replaced_target, whole), -1);
  }
}

TEST(Ledger, OfNothingIsNothing) {
  EXPECT_EQ(total({}).value(), 0);
}

TEST(Ledger, RunningSpendSupersedesWithinAnEpoch) {
  const std::vector<EpochSpend> entries = {entry(0, 0, 0, 10, 0.1), entry(0, 0, 0, 20, 0.15),
                                           entry(0, 0, 0, 30, 0.18)};
  EXPECT_EQ(total(entries).value(), 0.18);
}

TEST(Ledger, NothingThatWasRecordedIsTakenBack) {
  const std::vector<EpochSpend> lower = {entry(0, 0, 0, 30, 0.2), entry(0, 0, 20, 25, 0.1), entry(0, 1, 10, 20, 0.5)};
  EXPECT_NEAR(total(lower).value(), 0.7, 1e-15);
  const std::vector<EpochSpend> milder = {entry(0, 0, 0, 30, 0.2), entry(0, 1, 30, 40, 0.5, Disjointness::unknown),
                                          entry(0, 1, 30, 50, 0.5, Disjointness::disjoint)};
  EXPECT_NEAR(total(milder).value(), 0.7, 1e-15);
}

TEST(Ledger, LanesAndSuccessiveEpochsCostTheMaximum) {
  const std::vector<EpochSpend> entries = {entry(0, 0, 0, 100, 0.5), entry(0, 1, 100, 200, 0.3),
                                           entry(1, 0, 0, 100, 0.4)};
  EXPECT_EQ(total(entries).value(), 0.5);
}

TEST(Ledger, ReadAgainCostsTheSum) {
  const std::vector<EpochSpend> same = {entry(0, 0, 0, 100, 0.5), entry(0, 1, 50, 200, 0.3)};
  EXPECT_NEAR(total(same).value(), 0.8, 1e-15) << "ranges that overlap are summed, whatever was recorded";
  // The recorded end of epoch 0 is 100, but a later release says that the epoch had come to 180.
  const std::vector<EpochSpend> rolled_back = {entry(0, 0, 0, 100, 0.5),
                                               entry(0, 1, 150, 200, 0.3, Disjointness::overlapping)};
  EXPECT_NEAR(total(rolled_back).value(), 0.8, 1e-15);
}

TEST(Ledger, OverlapStaysInItsLaneAndUnknownDoesNot) {
  const std::vector<EpochSpend> overlapping = {entry(0, 0, 0, 100, 0.1), entry(1, 0, 0, 100, 0.5),
                                               entry(0, 1, 0, 100, 0.3, Disjointness::overlapping)};
  EXPECT_EQ(total(overlapping).value(), 0.5);
  const std::vector<EpochSpend> unknown = {entry(0, 0, 0, 100, 0.1), entry(1, 0, 0, 100, 0.5),
                                           entry(0, 1, 0, 100, 0.3, Disjointness::unknown)};
  EXPECT_NEAR(total(unknown).value(), 0.8, 1e-15);
}

TEST(Ledger, AnEpochWithoutPositionsIsStillCharged) {
  EXPECT_EQ(total(std::vector{entry(0, 0, 5, 5, 0.25)}).value(), 0.25);
}

/// Goes through the records one by one and adds up the epochs that are charged to each.
double charged_by_brute_force(const std::vector<EpochSpend>& entries, std::uint32_t lanes, std::uint64_t positions) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, EpochSpend> last;
  for (const EpochSpend& e : entries) last.insert_or_assign({e.lane.value(), e.epoch.value()}, e);
  double largest = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (std::uint64_t position = 0; position < positions; ++position) {
      double sum = 0;
      for (const auto& [key, e] : last) {
        const bool same_lane = key.first == lane;
        const bool inside = e.first.value() <= position && position < e.end.value();
        if (e.disjointness == Disjointness::unknown ||
            (same_lane && (e.disjointness == Disjointness::overlapping || inside))) {
          sum += e.rho.value();
        }
      }
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

TEST(Ledger, ChargesEveryRecordWhatTheDefinitionSays) {
  std::mt19937_64 engine(37);
  const auto integer = [&](std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(engine);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<EpochSpend> entries;
    const std::uint64_t epochs = integer(0, 6);
    for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
      const auto lane = static_cast<std::uint32_t>(integer(0, 2));
      const std::uint64_t first = integer(0, 20);
      const auto disjointness =
          static_cast<Disjointness>(std::max<std::int64_t>(0, static_cast<std::int64_t>(integer(0, 6)) - 4));
      double rho = 0;
      std::uint64_t end = first;
      for (std::uint64_t batch = integer(1, 3); batch > 0; --batch) {
        end += integer(1, 5);
        rho += static_cast<double>(integer(0, 8)) / 16;  // multiples of 1/16, whose sums are exact
        entries.push_back(entry(lane, epoch, first, end, rho, disjointness));
      }
    }
    const double expected = charged_by_brute_force(entries, 3, 40);
    EXPECT_GE(total(entries).value(), expected);
    EXPECT_NEAR(total(entries).value(), expected, 1e-14 * expected);
  }
}

}  // namespace
}  // namespace nustream::privacy
