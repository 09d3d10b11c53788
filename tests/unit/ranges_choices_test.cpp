// What is chosen from noisy counts: the answers are known, and nothing but the counts decides.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "nustream/ranges/columns.h"
#include "nustream/ranges/rows.h"

namespace nustream::ranges {
namespace {

constexpr auto zero_out = privacy::Adjacency::zero_out;

/// One histogram of these values, with noise of deviation .01 that happened to be 0.
template <class BinOf>
NoisyCounts counted(const std::vector<double>& values, std::size_t bins, const BinOf& bin_of) {
  const HistogramDesign design{1, bins, zero_out};
  ExactCounts counts(design);
  for (const double value : values) counts.add(std::vector<std::size_t>{bin_of(value)});
  return {counts, CountNoise(design, Rho{5000}), std::vector<std::int64_t>(bins)};
}

NoisyCounts octaves_of(const std::vector<double>& values) {
  return counted(values, octave_bins, octave_bin);
}

NoisyCounts equal_of(const std::vector<double>& values, const Interval& interval) {
  return counted(values, equal_bins, [&](double value) { return equal_bin(interval, value); });
}

std::vector<double> normals(double mean, double stddev, std::size_t count = 10'000) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(mean, stddev);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

TEST(OctaveBin, IsOneASignAndPowerOfTwo) {
  EXPECT_EQ(octave_bin(0), 104U);
  EXPECT_EQ(octave_bin(std::ldexp(0.999, -40)), 104U);
  EXPECT_EQ(octave_bin(std::ldexp(1.0, -40)), 105U);
  EXPECT_EQ(octave_bin(1), 145U);
  EXPECT_EQ(octave_bin(1.999), 145U);
  EXPECT_EQ(octave_bin(2), 146U);
  EXPECT_EQ(octave_bin(-1), 63U);
  // Nanoseconds since 1970 are told from microseconds and milliseconds.
  EXPECT_EQ(octave_bin(1.7e12), 185U);
  EXPECT_EQ(octave_bin(1.7e15), 195U);
  EXPECT_EQ(octave_bin(1.7e18), 205U);
  EXPECT_EQ(octave_bin(1e300), octave_bins - 1);
  EXPECT_EQ(octave_bin(-1e300), 0U);
  EXPECT_EQ(octave_bin(std::numeric_limits<double>::denorm_min()), 104U);
  EXPECT_EQ(octave_bin(std::numeric_limits<double>::quiet_NaN()), no_bin);
  EXPECT_EQ(octave_bin(-std::numeric_limits<double>::infinity()), no_bin);
}

TEST(Octaves, GiveTheOutermostOnesThatAreSeen) {
  const Interval years = intervals_from_octaves(octaves_of({1990, 2011, 2012}))[0];
  EXPECT_EQ(years.low, 1024);
  EXPECT_EQ(years.high, 2048);
  const Interval both = intervals_from_octaves(octaves_of({-3, 0, 0.3, 5}))[0];
  EXPECT_EQ(both.low, -4);
  EXPECT_EQ(both.high, 8);
  EXPECT_TRUE(intervals_from_octaves(octaves_of({0, 0}))[0].is_zero());
  const Interval negative = intervals_from_octaves(octaves_of({-1, -5}))[0];
  EXPECT_EQ(negative.low, -8);
  EXPECT_EQ(negative.high, -1);
}

TEST(TightWidening, LeavesTheNoiseOfAnEntryATenthOfTheResiduals) {
  const double g = tight_widening(Rho{0.02}, 20'000, 2, 12);
  const double deviation = 1 / std::sqrt(2 * 0.02) * std::sqrt(2) * 4 * g * g;  // of √2 (R̃_r R_x)² times the noise
  EXPECT_NEAR(deviation / 20'000, 0.1, 1e-12);
  EXPECT_EQ(tight_widening(Rho{0.02}, 1000, 2, 12), 3);
  EXPECT_EQ(tight_widening(Rho{0.02}, 1000, 2, 2.5), 2.5);
  EXPECT_EQ(tight_widening(Rho{2}, 100'000'000, 2, 12), 12);
}

// A bin below 4.65 deviations of its noise is not seen; where no bin is, the largest one is taken.
TEST(Octaves, AreSeenAboveFourAndAHalfDeviations) {
  const HistogramDesign design{1, octave_bins, zero_out};
  const CountNoise mechanism(design, Rho{0.5});  // a deviation of 1
  ExactCounts counts(design);
  for (int i = 0; i < 5; ++i) counts.add(std::vector<std::size_t>{octave_bin(1)});
  for (int i = 0; i < 4; ++i) counts.add(std::vector<std::size_t>{octave_bin(100)});
  const std::vector<std::int64_t> none(octave_bins);
  const NoisyCounts noisy(counts, mechanism, none);
  EXPECT_EQ(intervals_from_octaves(noisy)[0].high, 2);
  EXPECT_NEAR(usable_shares(noisy)[0], 5.0 / 9, 1e-12);
  ExactCounts few(design);
  for (int i = 0; i < 3; ++i) few.add(std::vector<std::size_t>{octave_bin(100)});
  const NoisyCounts hidden(few, mechanism, none);
  EXPECT_EQ(intervals_from_octaves(hidden)[0].high, 128);
  EXPECT_EQ(usable_shares(hidden)[0], 0);
}

// The outer octaves of a bell hold few values, so that noise hides them; they are next to one that is seen.
TEST(Octaves, BesideOnesThatAreSeenCountAsUsable) {
  const HistogramDesign design{1, octave_bins, zero_out};
  const CountNoise mechanism(design, Rho{0.5});
  ExactCounts counts(design);
  for (const double value : {1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.25, 4.0, 0.1, 32.0})
    counts.add(std::vector<std::size_t>{octave_bin(value)});
  EXPECT_NEAR(usable_shares(NoisyCounts(counts, mechanism, std::vector<std::int64_t>(octave_bins)))[0], 0.8, 1e-12);
}

TEST(Octaves, CountUsableValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(usable_shares(octaves_of({1, 2, nan, 5}))[0], 0.75, 1e-12);
  EXPECT_EQ(usable_shares(octaves_of({nan, nan}))[0], 0);
}

TEST(Columns, OfANormalOneHaveItsMedianAndItsSpread) {
  const std::vector<double> values = normals(1, 2);
  const Interval interval = intervals_from_octaves(octaves_of(values))[0];
  const ColumnChoice choice = choose_columns(equal_of(values, interval), std::vector{interval})[0];
  EXPECT_NEAR(choice.placement.centre, 1, 0.1);
  EXPECT_NEAR(choice.placement.scale, 2, 0.3);
  EXPECT_FALSE(choice.zoom);
}

TEST(Columns, FarFromZeroAreZoomedTo) {
  const std::vector<double> values = normals(1000, 1);
  const Interval interval = intervals_from_octaves(octaves_of(values))[0];  // the interval 512 … 1024
  ColumnChoice choice = choose_columns(equal_of(values, interval), std::vector{interval})[0];
  ASSERT_TRUE(choice.zoom);
  EXPECT_LT(choice.zoom->low, 996);
  EXPECT_GT(choice.zoom->high, 1004);
  EXPECT_LT(choice.zoom->high - choice.zoom->low, 80);
  choice = choose_columns(equal_of(values, *choice.zoom), std::vector{*choice.zoom})[0];
  EXPECT_NEAR(choice.placement.centre, 1000, 0.3);
  EXPECT_NEAR(choice.placement.scale, 1, 0.4);
}

// Half of all rows in two neighbouring bins, and no other bin above 4.65 deviations of the noise (.01 here).
TEST(Columns, OfOneValueAreLookedAtMoreCloselyOnceMore) {
  const Interval interval{1, 65};
  const auto choice = [&](std::size_t ones, std::size_t others, std::size_t unusable, bool is_closer) {
    std::vector<double> values(ones, 10.5);
    values.insert(values.end(), others, 40.5);
    values.insert(values.end(), unusable, std::numeric_limits<double>::quiet_NaN());
    const HistogramDesign design{1, equal_bins, zero_out};
    ExactCounts counts(design);
    for (const double value : values) counts.add(std::vector<std::size_t>{equal_bin(interval, value)});
    const NoisyCounts noisy(counts, CountNoise(design, Rho{0.005}), std::vector<std::int64_t>(equal_bins));  // σ = 10
    return choose_columns(noisy, std::vector{interval}, is_closer)[0];
  };
  EXPECT_TRUE(choice(1000, 40, 0, true).zoom);
  EXPECT_FALSE(choice(1000, 40, 0, false).zoom);
  EXPECT_FALSE(choice(1000, 50, 0, true).zoom);
  EXPECT_FALSE(choice(1000, 40, 1100, true).zoom);
  const ColumnChoice one = choice(1000, 40, 0, true);
  EXPECT_LT(one.zoom->low, 10);
  EXPECT_GT(one.zoom->high, 11);
  EXPECT_LT(one.zoom->high - one.zoom->low, 9);
  EXPECT_EQ(one.placement.scale, 0.5);
}

// The value 1 lies on the edge of its octave. What lies outside the closer look must not fall into its bin.
TEST(Columns, OnTheEdgeOfAnIntervalAreInsideTheNextOne) {
  const Interval interval{1, 2};
  std::vector<double> values(1000, 1.0);
  ColumnChoice choice = choose_columns(equal_of(values, interval), std::vector{interval})[0];
  ASSERT_TRUE(choice.zoom);
  EXPECT_LT(choice.zoom->low, 1);
  EXPECT_GE(choice.zoom->low, 0.5);
  values.insert(values.end(), 30, 0.0);
  choice = choose_columns(equal_of(values, *choice.zoom), std::vector{*choice.zoom}, true)[0];
  EXPECT_NEAR(choice.outermost, 30, 0.1);
}

// A zoom into the zeros of a column of rare events would scale every row that has an event out of the bounds.
TEST(Columns, AroundZeroAreNeverZoomedTo) {
  std::vector<double> values(1000, 0.0);
  for (std::size_t i = 0; i < 10; ++i) values[i] = 60;
  const Interval interval = intervals_from_octaves(octaves_of(values))[0];
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 64);
  const ColumnChoice choice = choose_columns(equal_of(values, interval), std::vector{interval})[0];
  EXPECT_FALSE(choice.zoom);
  EXPECT_EQ(choice.placement.scale, 2);
}

TEST(Columns, OfZerosAloneStayAsTheyAre) {
  const std::vector<double> values(100, 0.0);
  const Interval interval = intervals_from_octaves(octaves_of(values))[0];
  EXPECT_EQ(choose_columns(equal_of(values, interval), std::vector{interval})[0].placement, Placement{});
}

TEST(Quantile, IsLinearWithinABinAndSkipsWhatIsBelowTheThreshold) {
  const std::vector<double> counts{0, 10, 0, 30, 1};
  EXPECT_EQ(quantile(counts, 2, 0.25), 2);
  EXPECT_EQ(quantile(counts, 2, 0.125), 1.5);
  EXPECT_EQ(quantile(counts, 2, 0.625), 3.5);
  EXPECT_EQ(quantile(counts, 2, 1), 4);
  EXPECT_FALSE(quantile(counts, 100, 0.5));
}

TEST(LengthBin, IsHalfAnOctave) {
  EXPECT_EQ(length_bin(0), 0U);
  EXPECT_EQ(length_bin(std::ldexp(1.0, -20)), 1U);
  EXPECT_EQ(length_bin(1), 41U);
  EXPECT_EQ(length_bin(1.415), 42U);
  EXPECT_EQ(length_bin(2), 43U);
  EXPECT_EQ(length_bin(1e300), length_bins - 1);
  EXPECT_EQ(length_bin(std::numeric_limits<double>::quiet_NaN()), no_bin);
}

/// The scales from two histograms, with next to no noise.
std::optional<RowScales> scales_of(const std::vector<double>& lengths, const std::vector<double>& residuals) {
  const HistogramDesign design{2, length_bins, zero_out};
  ExactCounts counts(design);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    counts.add(std::vector<std::size_t>{length_bin(lengths[i]), length_bin(residuals[i])});
  }
  return row_scales({counts, CountNoise(design, Rho{5000}), std::vector<std::int64_t>(design.entries())});
}

TEST(RowScales, OfNormalResidualsAreTheirDeviation) {
  std::vector<double> residuals = normals(0, 3);
  for (double& residual : residuals) residual = std::fabs(residual);
  const auto found = scales_of(std::vector<double>(residuals.size(), 4.0), residuals);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->residuals, 3, 0.5);
  EXPECT_GE(found->inputs, 4 / 1.4);
  EXPECT_LE(found->inputs, 4 * 1.42);
  EXPECT_NEAR(found->counted, 1, 0.01);
}

// A target with one main value: most residuals are nearly 0, and their median says nothing of the others.
TEST(RowScales, OfResidualsThatAreMostlyZeroLookAtTheRest) {
  std::vector<double> residuals(1000, 1e-9);
  for (std::size_t i = 0; i < 200; ++i) residuals[i] = 5;
  const auto found = scales_of(std::vector<double>(1000, 1.0), residuals);
  ASSERT_TRUE(found);
  EXPECT_GT(found->residuals, 2.4);
}

TEST(RowScales, AreNoneWhereNothingIsSeen) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(scales_of({nan, nan}, {nan, nan}));
}

/// `lengths` in both histograms, with noise of deviation 10 that is 0 but in `bin`, where it is `deviations` of that.
std::optional<RowScales> scales_beside(const std::vector<double>& lengths, std::size_t bin, double deviations) {
  const HistogramDesign design{2, length_bins, zero_out};
  const CountNoise mechanism(design, Rho{0.01});
  ExactCounts counts(design);
  for (const double length : lengths) counts.add(std::vector<std::size_t>(2, length_bin(length)));
  std::vector<std::int64_t> noise(design.entries());
  noise[bin] = noise[length_bins + bin] =
      std::llround(deviations * mechanism.stddev().value() / mechanism.grid().spacing());
  return row_scales({counts, mechanism, noise});
}

TEST(RowScales, AreNotMovedByAFarCountThatNoiseMayHaveMade) {
  const std::vector<double> lengths(300, 4.0);
  const auto without = scales_beside(lengths, 0, 0);
  const auto with = scales_beside(lengths, length_bins - 1, 4.55);
  ASSERT_TRUE(without && with);
  EXPECT_EQ(with->inputs, without->inputs);
  EXPECT_EQ(with->residuals, without->residuals);
  EXPECT_EQ(with->counted, without->counted);
  EXPECT_EQ(with->tail, without->tail);
  const auto certain = scales_beside(lengths, length_bins - 1, 4.75);
  EXPECT_GT(certain->residuals, 1e9);
  const auto near = scales_beside(lengths, length_bin(4) + 4, 4.4);
  EXPECT_GT(near->residuals, 1.4 * without->residuals);
  EXPECT_EQ(scales_beside(lengths, length_bin(4) + 4, 3.4)->residuals, without->residuals);
}

TEST(RowScales, AreOfNeighbouringCountsThatShowTogether) {
  std::vector<double> lengths;
  for (std::size_t bin = 40; bin < 46; ++bin) lengths.insert(lengths.end(), 25, bin_length(bin));
  const auto found = scales_beside(lengths, length_bins - 1, 4.55);
  ASSERT_TRUE(found);
  EXPECT_GT(found->inputs, bin_length(40));
  EXPECT_LT(found->inputs, bin_length(46));
  EXPECT_NEAR(found->counted, 1, 1e-9);
  lengths.resize(50);
  EXPECT_FALSE(scales_beside(lengths, length_bins - 1, 4.55)) << "two bins of 25 are 3.5 deviations together";
}

// The share has a deviation of 10·√18/600 = .07; the bound is four of those for the mean of 100 shares.
TEST(RowScales, CountRowsThatNoiseHidesOneByOne) {
  const HistogramDesign design{2, length_bins, zero_out};
  const CountNoise mechanism(design, Rho{0.01});
  ExactCounts counts(design);
  for (std::size_t i = 0; i < 600; ++i) {
    const bool is_usable = i < 400;
    const std::size_t bin = is_usable ? (i < 250 ? 45 : 41 + i % 10) : no_bin;
    counts.add(std::vector<std::size_t>(2, bin));
  }
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, mechanism.stddev().value() / mechanism.grid().spacing());
  double mean = 0;
  double stddev = 0;
  for (int draw = 0; draw < 100; ++draw) {
    std::vector<std::int64_t> noise(design.entries());
    for (std::int64_t& one : noise) one = std::llround(normal(random));
    const auto found = row_scales({counts, mechanism, noise});
    ASSERT_TRUE(found);
    mean += found->counted / 100;
    stddev = found->counted_stddev;
  }
  EXPECT_NEAR(mean, 2.0 / 3, 4 * 0.007);
  EXPECT_NEAR(stddev, 0.065, 0.02);
}

TEST(Widening, IsTheFormulaWithinItsBounds) {
  // By hand: sqrt(13/10000 · .12)·10000/(√13·3.6) = 9.62…
  EXPECT_NEAR(widening(Rho{0.06}, 10'000, 13, 3.6), std::sqrt(std::sqrt(0.0013 * 0.12) * 1e4 / (std::sqrt(13) * 3.6)),
              1e-12);
  EXPECT_EQ(widening(Rho{1e-6}, 1000, 13, 3.6), 2);
  EXPECT_EQ(widening(Rho{1}, 100'000'000, 2, 1.4), 12);
}

/// Counts of `values` with exactly the noise that turns them into the counts of `others`: other rows then give the
/// same release.
TEST(Choices, DependOnTheNoisyCountsAlone) {
  const HistogramDesign design{1, octave_bins, zero_out};
  const CountNoise mechanism(design, Rho{0.5});
  const auto units = static_cast<std::int64_t>(1 / mechanism.grid().spacing());
  const std::vector<double> values = normals(0, 3, 500);
  const std::vector<double> others = normals(1000, 100, 500);
  ExactCounts one(design);
  ExactCounts other(design);
  std::vector<std::int64_t> noise(octave_bins);
  std::mt19937_64 random(5);
  for (std::int64_t& unit : noise) unit = static_cast<std::int64_t>(random() % 1000) * (units / 1000);
  std::vector<std::int64_t> moved = noise;
  for (std::size_t i = 0; i < values.size(); ++i) {
    one.add(std::vector<std::size_t>{octave_bin(values[i])});
    other.add(std::vector<std::size_t>{octave_bin(others[i])});
    moved[octave_bin(values[i])] += units;
    moved[octave_bin(others[i])] -= units;
  }
  const NoisyCounts released(one, mechanism, noise);
  const NoisyCounts same(other, mechanism, moved);
  for (std::size_t bin = 0; bin < octave_bins; ++bin) ASSERT_EQ(released.histogram(0)[bin], same.histogram(0)[bin]);
  EXPECT_EQ(intervals_from_octaves(released)[0].low, intervals_from_octaves(same)[0].low);
  EXPECT_EQ(intervals_from_octaves(released)[0].high, intervals_from_octaves(same)[0].high);
  EXPECT_EQ(usable_shares(released), usable_shares(same));
}

}  // namespace
}  // namespace nustream::ranges
