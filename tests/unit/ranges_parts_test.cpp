// Which rows a stage takes, how many, and how far one record may move its counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/ranges/histogram.h"
#include "nustream/ranges/sizes.h"
#include "nustream/ranges/stride.h"

namespace nustream::ranges {
namespace {

constexpr auto zero_out = privacy::Adjacency::zero_out;
constexpr auto replace_one = privacy::Adjacency::replace_one;

TEST(Stride, IsAPermutationByAnOddMultiplierThatIsPrimeToTheRecords) {
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const Stride stride(n);
    EXPECT_EQ(stride.multiplier() % 2, 1U);
    EXPECT_EQ(std::gcd(stride.multiplier(), n), 1U);
    std::vector<int> seen(n);
    for (std::uint64_t position = 0; position < n; ++position) {
      const std::uint64_t place = stride.place(position);
      ASSERT_EQ(place, position * stride.multiplier() % n);
      ++seen[place];
      ASSERT_EQ(stride.position(place), position);
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; })) << n;
  }
}

TEST(Stride, HoldsForTablesOfAnySize) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t n = (random() >> (2 + random() % 60)) + 1;
    const Stride stride(n);
    const std::uint64_t position = random() % n;
    ASSERT_EQ(stride.position(stride.place(position)), position) << n;
    if (n < 100'000) continue;
    ASSERT_NEAR(static_cast<double>(stride.multiplier()) / static_cast<double>(n), 0.618, 0.01);
  }
  EXPECT_THROW(Stride{0}, InvalidParameter);
  EXPECT_THROW(Stride{(std::uint64_t{1} << 62) + 1}, InvalidParameter);
}

// A part of 5% takes about a twentieth of every twentieth of the table, so that a drift of the table does no harm.
TEST(Stride, SpreadsAPartOverTheWholeTable) {
  const Stride stride(17'379);
  std::vector<int> counts(20);
  for (std::uint64_t place = 1000; place < 1869; ++place) ++counts[stride.position(place) * 20 / 17'379];
  EXPECT_GE(std::ranges::min(counts), 40);
  EXPECT_LE(std::ranges::max(counts), 47);
}

TEST(Dealer, GivesEveryPlaceOnce) {
  Dealer dealer(100);
  std::uint64_t next = 0;
  for (const std::uint64_t wanted : {30U, 0U, 50U}) {
    const Part part = dealer.deal(wanted);
    EXPECT_EQ(part.first, next);
    EXPECT_EQ(part.count, wanted);
    next += wanted;
  }
  EXPECT_EQ(dealer.rest().first, 80U);
  EXPECT_EQ(dealer.deal(5).count, 0U);
}

/// The largest ‖change‖₂ of the counts over all pairs of rows; under zero-out one row of the pair is null.
double searched(std::size_t histograms, std::size_t bins, privacy::Adjacency adjacency) {
  std::vector<std::vector<std::size_t>> rows{{}};
  for (std::size_t j = 0; j < histograms; ++j) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& row : rows) {
      for (std::size_t bin = 0; bin <= bins; ++bin) {
        longer.push_back(row);
        longer.back().push_back(bin);  // the bin number `bins` stands for no bin
      }
    }
    rows = longer;
  }
  const std::vector<std::size_t> null(histograms, bins);
  double largest = 0;
  for (const auto& one : rows) {
    for (const auto& other : rows) {
      if (adjacency == zero_out && other != null) continue;
      double squares = 0;
      for (std::size_t j = 0; j < histograms; ++j) {
        if (one[j] != other[j]) squares += (one[j] < bins ? 1 : 0) + (other[j] < bins ? 1 : 0);
      }
      largest = std::max(largest, squares);
    }
  }
  return std::sqrt(largest);
}

TEST(Displacement, OfHistogramsIsWhatAnExhaustiveSearchFinds) {
  for (const auto adjacency : {zero_out, replace_one}) {
    for (std::size_t histograms = 1; histograms <= 3; ++histograms) {
      for (std::size_t bins = 2; bins <= 3; ++bins) {
        const double claimed = displacement({histograms, bins, adjacency}).value();
        const double found = searched(histograms, bins, adjacency);
        EXPECT_GE(claimed, found);
        EXPECT_NEAR(claimed, found, 1e-15 * found);
      }
    }
  }
}

TEST(CountNoise, HasTheDeviationThatTheDisplacementAsksFor) {
  EXPECT_NEAR(CountNoise({13, 64, zero_out}, Rho{0.1}).stddev().value(), std::sqrt(13 / 0.2), 1e-12);
  EXPECT_NEAR(CountNoise({13, 64, replace_one}, Rho{0.1}).stddev().value(), std::sqrt(26 / 0.2), 1e-12);
  EXPECT_THROW(CountNoise({1, 1, zero_out}, Rho{0}), InvalidParameter);
  EXPECT_THROW(CountNoise({1, 1, zero_out}, Rho{1e-22}), InvalidParameter);
  EXPECT_THROW(CountNoise({0, 1, zero_out}, Rho{1}), InvalidParameter);
}

TEST(NoisyCounts, AreCountsAndNoiseAddedAsIntegers) {
  const HistogramDesign design{2, 2, zero_out};
  const CountNoise mechanism(design, Rho{1});
  ExactCounts counts(design);
  counts.add(std::vector<std::size_t>{0, 1});
  counts.add(std::vector<std::size_t>{0, no_bin});
  const std::vector<std::int64_t> noise{3, -5, 0, 1};
  const NoisyCounts noisy(counts, mechanism, noise);
  const double s = mechanism.grid().spacing();
  EXPECT_EQ(noisy.histogram(0)[0], 2 + 3 * s);
  EXPECT_EQ(noisy.histogram(0)[1], -5 * s);
  EXPECT_EQ(noisy.histogram(1)[0], 0);
  EXPECT_EQ(noisy.histogram(1)[1], 1 + s);
  EXPECT_EQ(noisy.rows(), 2U);
  EXPECT_EQ(noisy.stddev(), mechanism.stddev().value());
}

TEST(NoisyCounts, RefuseCountsOfAnotherDesign) {
  const CountNoise mechanism({2, 2, zero_out}, Rho{1});
  const std::vector<std::int64_t> noise(4);
  EXPECT_DEATH(NoisyCounts(ExactCounts({2, 2, replace_one}), mechanism, noise), "contract violated");
  EXPECT_DEATH(NoisyCounts(ExactCounts({2, 2, zero_out}), mechanism, std::vector<std::int64_t>(3)),
               "contract violated");
  ExactCounts counts({2, 2, zero_out});
  EXPECT_DEATH(counts.add(std::vector<std::size_t>{0, 2}), "contract violated");
}

TEST(Sizes, AreThoseOfTheRule) {
  const Sizes retail = sizes({397'884, 2, Rho{0.1}, zero_out});
  EXPECT_EQ(retail.columns, 3979U);
  EXPECT_EQ(retail.rows, 1990U);
  EXPECT_EQ(retail.pilot, 59'683U);
  const Sizes bike = sizes({17'379, 13, Rho{0.01}, zero_out});
  EXPECT_EQ(bike.columns, 1391U);  // 8% of the rows; the noise asks for 1,530
  EXPECT_EQ(bike.rows, 696U);      // 4% of the rows; the noise asks for 1,415
  EXPECT_EQ(sizes({17'379, 13, Rho{0.1}, zero_out}).columns, 500U);
  EXPECT_EQ(sizes({17'379, 13, Rho{0.1}, replace_one}).columns, 685U);
  EXPECT_EQ(sizes({17'379, 13, Rho{0.1}, replace_one}).rows, 633U);
}

// All parts of the ranges and of the pilot together leave at least 45% of the rows to the answer, whatever the
// settings.
TEST(Sizes, LeaveAlmostHalfOfTheRowsToTheAnswerOrRefuse) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(0, 1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    MeasuredTable design{1 + static_cast<std::uint64_t>(std::pow(10, 1 + 6 * exponent(random))), 1 + random() % 100,
                         Rho{std::pow(10, -4 + 6 * exponent(random))}, random() % 2 == 0 ? zero_out : replace_one};
    try {
      const Sizes found = sizes(design);
      const auto n = static_cast<double>(design.records);
      EXPECT_LE(static_cast<double>(4 * found.columns + 2 * found.rows + found.pilot), 0.55 * n + 7);
      EXPECT_GE(design.records, least_records(design));
      EXPECT_GE(design.rho.value(), least_rho(design) * (1 - 1e-12));
    } catch (const InvalidParameter&) {
      ++refused;
      EXPECT_LT(design.records, least_records(design));
      const double enough = least_rho(design);
      if (design.records >= 500) {
        EXPECT_GT(enough, design.rho.value());
      }
      design.records = least_records(design);
      EXPECT_NO_THROW(static_cast<void>(sizes(design)));
    }
  }
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 18'000);
}

TEST(Sizes, SayWhichRhoOrHowManyRecordsWouldDo) {
  const MeasuredTable design{1000, 13, Rho{0.1}, zero_out};
  try {
    static_cast<void>(sizes(design));
    FAIL();
  } catch (const InvalidParameter& refusal) {
    EXPECT_EQ(refusal.name(), "rho");
    EXPECT_NE(std::string(refusal.what()).find("at least 2.35 to see 13 columns"), std::string::npos)
        << refusal.what();
    EXPECT_NE(std::string(refusal.what()).find("; 4838 records would do"), std::string::npos) << refusal.what();
  }
  EXPECT_THROW(static_cast<void>(sizes({499, 1, Rho{1000}, zero_out})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(sizes({10'000, 1, Rho{2e6}, zero_out})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(sizes({10'000, 1, Rho{0}, zero_out})), InvalidParameter);
  MeasuredTable enough = design;
  enough.rho = Rho{2.3400001};
  EXPECT_NO_THROW(static_cast<void>(sizes(enough)));
  enough.rho = Rho{2.339};
  EXPECT_THROW(static_cast<void>(sizes(enough)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::ranges
