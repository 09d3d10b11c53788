// What rows contribute to the sums, against a twin in long double, and how long their contributions are.
#include "nustream/moments/batch_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "support/lane_world.h"

namespace nustream::moments {
namespace {

using Numbers = std::vector<long double>;

Numbers outer(const Numbers& u) {
  Numbers triangle;
  for (std::size_t i = 0; i < u.size(); ++i) {
    for (std::size_t j = i; j < u.size(); ++j) triangle.push_back(u[i] * u[j] * (i == j ? 1 : sqrtl(2)));
  }
  return triangle;
}

long double length(const Numbers& v) {
  long double squares = 0;
  for (const long double entry : v) squares += entry * entry;
  return sqrtl(squares);
}

/// Every block's contribution of one row, in units of the block's radius, as the formulas read.
std::vector<Numbers> twin(const Design& design, const Radii& radii, const std::vector<double>& centre,
                          const std::vector<double>& row, double target) {
  const std::size_t d = design.shape.inputs;
  Numbers x(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(d));
  const long double scale = length(x) > radii.inputs ? radii.inputs / length(x) : 1;
  for (long double& entry : x) entry *= scale;
  const auto residual = [&](std::size_t response, long double value) {
    long double left = scale * value;
    for (std::size_t j = 0; j < d; ++j) left -= x[j] * centre[response * d + j];
    return left;
  };
  Numbers w;
  for (std::size_t k = 0; k < design.shape.endogenous; ++k) w.push_back(residual(k, row[d + k]));
  const long double longer = std::max(length(w) / radii.regressors, 1.0L) * radii.regressors;
  for (long double& entry : w) entry /= longer;
  const long double r = std::clamp(residual(design.shape.endogenous, target) / radii.target, -1.0L, 1.0L);
  for (long double& entry : x) entry /= radii.inputs;
  std::vector<Numbers> all{outer(x)};
  Numbers regressors;
  for (const long double entry : w) {
    for (const long double input : x) regressors.push_back(entry * input);
  }
  if (!w.empty()) all.push_back(regressors);
  Numbers of_target;
  for (const long double input : x) of_target.push_back(r * input);
  all.push_back(of_target);
  if (design.spread == Spread::sandwich) {
    all.push_back(outer(x));
    for (long double& entry : all.back()) entry *= r * r;
  }
  if (design.spread == Spread::tight_sandwich) {
    const long double tight = std::clamp(r * radii.target / radii.tight_target, -1.0L, 1.0L);
    all.push_back(outer(x));
    for (long double& entry : all.back()) entry *= tight * tight;
    all.back().push_back(r * r);
    for (long double& entry : all.back()) entry /= sqrtl(2);
  }
  if (design.spread == Spread::residuals) {
    w.push_back(r);
    all.push_back(outer(w));
    for (long double& entry : all.back()) entry /= w.size() > 1 ? 2 : 1;
  }
  return all;
}

std::vector<Numbers> sums_of(BatchSums& sums, const Design& design, const Spacings& spacings) {
  std::vector<Numbers> all;
  const std::vector<Block> of = blocks(design);
  for (std::size_t b = 0; b < of.size(); ++b) {
    all.emplace_back();
    for (const Wide units : sums.sums(of[b])) all.back().push_back(static_cast<long double>(units) * spacings[b]);
  }
  return all;
}

std::vector<Numbers> contribution(const Design& design, const Spacings& spacings, const Radii& radii,
                                  const std::vector<double>& centre, const std::vector<double>& row, double target) {
  BatchSums sums(design, spacings);
  sums.aim(radii, centre);
  sums.add(slice(tests::rows_of(row.size(), row, {target}), 0, 1));
  EXPECT_EQ(sums.records(), 1U);
  return sums_of(sums, design, spacings);
}

struct Setting {
  Design design;
  Spacings spacings;
  Radii radii;
  std::vector<double> centre;
};

class RandomCases {
 public:
  explicit RandomCases(std::uint64_t seed) : random_(seed) {}
  double normal() { return normal_(random_); }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  Setting setting() {
    Setting setting;
    setting.design.shape = {1 + below(6), below(3)};
    const bool is_linear = setting.design.shape.endogenous == 0;
    setting.design.spread = is_linear ? static_cast<Spread>(below(4)) : Spread::residuals;
    for (const Block block : blocks(setting.design)) {
      static_cast<void>(block);
      setting.spacings.push_back(std::ldexp(1.0, -20 - static_cast<int>(below(32))));
    }
    const auto radius = [&] { return 0.5 + std::fabs(normal()); };
    setting.radii = {radius(), radius(), radius(), radius()};
    for (std::size_t j = 0; j < setting.design.shape.coefficients(); ++j) setting.centre.push_back(normal());
    return setting;
  }
  std::vector<double> row(const Setting& setting, double length) {
    std::vector<double> row;
    for (std::size_t j = 0; j < setting.design.shape.row(); ++j) row.push_back(length * normal());
    return row;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

TEST(BatchSums, AreTheFormulasTruncatedToTheGrid) {
  RandomCases random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Setting s = random.setting();
    const std::vector<double> row = random.row(s, trial % 3 == 0 ? 10 : 0.7);
    const double target = 3 * random.normal();
    const auto found = contribution(s.design, s.spacings, s.radii, s.centre, row, target);
    const auto expected = twin(s.design, s.radii, s.centre, row, target);
    const double factor = clip_factor(s.design, s.spacings);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t b = 0; b < found.size(); ++b) {
      ASSERT_EQ(found[b].size(), expected[b].size());
      for (std::size_t j = 0; j < found[b].size(); ++j) {
        EXPECT_NEAR(static_cast<double>(found[b][j]), static_cast<double>(factor * expected[b][j]),
                    s.spacings[b] + 1e-13);
        EXPECT_LE(std::fabs(found[b][j]), std::fabs(expected[b][j]) + 1e-15L);
      }
    }
  }
}

// A row of weight w is the row times √w, before its length is limited: no weight makes a contribution longer than its
// radius.
TEST(BatchSums, TakeWeightedRowsTimesTheRootOfTheirWeight) {
  RandomCases random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Setting s = random.setting();
    const std::vector<double> row = random.row(s, 0.7);
    const double target = 3 * random.normal();
    const double weight = trial % 5 == 0 ? 0 : std::ldexp(1 + std::fabs(random.normal()), trial % 40 - 20);
    record::RowBatch rows = tests::rows_of(row.size(), row, {target});
    rows.weights = {weight};
    BatchSums sums(s.design, s.spacings);
    sums.aim(s.radii, s.centre);
    sums.add(slice(rows, 0, 1));
    std::vector<double> times_root = row;
    for (double& entry : times_root) entry *= std::sqrt(weight);
    const auto expected = twin(s.design, s.radii, s.centre, times_root, std::sqrt(weight) * target);
    const auto found = sums_of(sums, s.design, s.spacings);
    const double factor = clip_factor(s.design, s.spacings);
    for (std::size_t b = 0; b < found.size(); ++b) {
      long double squares = 0;
      for (std::size_t j = 0; j < found[b].size(); ++j) {
        squares += found[b][j] * found[b][j];
        EXPECT_NEAR(static_cast<double>(found[b][j]), static_cast<double>(factor * expected[b][j]),
                    s.spacings[b] + 1e-13);
      }
      EXPECT_LE(squares, 1);
    }
  }
}

TEST(BatchSums, NoRowMovesABlockByMoreThanItsRadius) {
  RandomCases random(2);
  constexpr double extremes[] = {1e-308, 1e-160, 1e-3, 1, 1e3, 1e160, 1.7e308};
  for (int trial = 0; trial < 3000; ++trial) {
    const Setting s = random.setting();
    std::vector<double> row = random.row(s, 1);
    for (double& entry : row) entry *= extremes[random.below(7)];
    const double target = random.normal() * extremes[random.below(7)];
    for (const Numbers& block : contribution(s.design, s.spacings, s.radii, s.centre, row, target)) {
      EXPECT_LE(length(block), 1.0L);
    }
  }
}

// One row reaches the radii of all blocks at once, so the sum of the blocks' ρ is not too much to claim; and a longer
// row only loses its length.
TEST(BatchSums, OneRowReachesAllRadiiAtOnce) {
  const Design design{{2, 1}, Spread::residuals, {}};
  const Spacings spacings(4, 0x1p-40);
  const std::vector<double> centre(4);
  for (const double far : {5.0, 1e200, 1.7e308}) {
    const auto found = contribution(design, spacings, {2, 1, 1.5}, centre, {0.6 * far, 0.8 * far, far}, -far);
    for (const Numbers& block : found) EXPECT_NEAR(static_cast<double>(length(block)), 1, 1e-10) << far;
  }
}

// The two parts of a tight sandwich are no further apart than √2, whatever two records stand in each other's place.
TEST(BatchSums, TightSandwichesAreNoFurtherApartThanTheSquareRootOfTwo) {
  RandomCases random(5);
  double furthest = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Setting s = random.setting();
    s.design = {{s.design.shape.inputs, 0}, Spread::tight_sandwich, {}};
    s.spacings.assign(3, 0x1p-40);
    s.centre.resize(s.design.shape.coefficients());
    const auto of = [&](double target) {
      std::vector<double> row(s.design.shape.inputs);
      row[random.below(row.size())] = 9;
      return contribution(s.design, s.spacings, s.radii, s.centre, trial % 2 == 0 ? row : random.row(s, 3), target)
          .back();
    };
    const Numbers one = of(1e9);
    Numbers difference = of(trial % 3 == 0 ? -1e9 : random.normal());
    for (std::size_t j = 0; j < one.size(); ++j) difference[j] -= one[j];
    furthest = std::max(furthest, static_cast<double>(length(difference)));
  }
  EXPECT_LE(furthest, std::numbers::sqrt2);
  EXPECT_GT(furthest, 1);
}

// Replacing a record never moves the sums by more than the geometry of the joint bound allows, truncation included.
TEST(BatchSums, TwoRowsAreNoFurtherApartThanTheirOuterProductsMayBe) {
  RandomCases random(4);
  for (int trial = 0; trial < 2000; ++trial) {
    Setting s = random.setting();
    const std::size_t d = s.design.shape.inputs;
    std::vector<double> row(s.design.shape.row());
    std::vector<double> other(s.design.shape.row());
    row[random.below(d)] = 7;
    other[random.below(d)] = -9;
    if (trial % 2 == 0) row = random.row(s, 10), other = random.row(s, 10);
    const Numbers one = contribution(s.design, s.spacings, s.radii, s.centre, row, 1e9).front();
    const Numbers two = contribution(s.design, s.spacings, s.radii, s.centre, other, -1e9).front();
    Numbers difference = one;
    for (std::size_t j = 0; j < one.size(); ++j) difference[j] -= two[j];
    EXPECT_LE(length(difference), sqrtl(2));
  }
}

TEST(BatchSums, BadRowsAreZeros) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Design design{{2, 1}, Spread::residuals, {}};
  const Spacings spacings(4, 0x1p-40);
  const std::vector<double> centre{1, 1, 1, 1};
  const std::vector<std::pair<std::vector<double>, double>> bad{
      {{nan, 1, 1}, 1}, {{1, infinity, 1}, 1}, {{1, 1, -infinity}, 1}, {{1, 1, nan}, 1},
      {{1, 1, 1}, nan}, {{1, 1, 1}, infinity}, {{0, 0, 0}, 0}};
  for (const auto& [row, target] : bad) {
    for (const Numbers& block : contribution(design, spacings, {}, centre, row, target)) EXPECT_EQ(length(block), 0);
  }
}

TEST(BatchSums, OfPublicRowsKeepThoseWithoutATarget) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Design design{{2, 1}, Spread::none, {privacy::Adjacency::zero_out, true}};
  const Spacings spacings{exact_spacing, exact_spacing, 0x1p-40};
  const std::vector<double> centre(4);
  const auto without = contribution(design, spacings, {}, centre, {.5, .25, .125}, nan);
  const auto with = contribution(design, spacings, {}, centre, {.5, .25, .125}, .5);
  EXPECT_EQ(without[0], with[0]);
  EXPECT_EQ(without[1], with[1]);
  EXPECT_EQ(length(without[2]), 0);
  EXPECT_GT(length(with[2]), 0);
  for (const Numbers& block : contribution(design, spacings, {}, centre, {nan, .25, .125}, .5))
    EXPECT_EQ(length(block), 0);
}

// The sums are wider than 64 bits, which would hold only 2^11 rows on the finest grid.
TEST(BatchSums, DoNotWrapWhere64BitsWould) {
  const Design design{{1, 0}, Spread::none, {}};
  const Spacings spacings(2, 0x1p-51);
  BatchSums sums(design, spacings);
  sums.aim({}, std::vector<double>{0});
  constexpr std::size_t count = 20000;
  sums.add(slice(tests::rows_of(1, std::vector<double>(count, 1), std::vector<double>(count, -1)), 0, count));
  const auto found = sums_of(sums, design, spacings);
  EXPECT_NEAR(static_cast<double>(found[0][0]), count, 1e-6);
  EXPECT_NEAR(static_cast<double>(found[1][0]), -20000.0, 1e-6);
  EXPECT_GT(found[0][0], std::ldexp(1.0L, 12));
  sums.clear();
  EXPECT_EQ(sums.records(), 0U);
  EXPECT_EQ(sums_of(sums, design, spacings)[0][0], 0);
}

TEST(BatchSums, CountWhatWasScaledAndClipped) {
  BatchSums sums(Design{{1, 0}, Spread::none, {}}, Spacings(2, 0x1p-30));
  sums.aim({2, 1, 1}, std::vector<double>{0});
  sums.add(slice(tests::rows_of(1, {1, 3, 1, 2}, {0.5, 0.5, 4, 1}), 0, 4));
  EXPECT_EQ(sums.scaled(), 1U);
  EXPECT_EQ(sums.clipped(), 1U);
}

TEST(BatchSums, RefuseGridsAndRadiiOutOfRange) {
  const Design design{{1, 0}, Spread::none, {}};
  EXPECT_THROW(BatchSums(design, {0x1p-30}), InvalidParameter);
  EXPECT_THROW(BatchSums(design, {0x1p-30, 0x1p-52}), InvalidParameter);
  EXPECT_THROW(BatchSums(design, {0x1p-30, NAN}), InvalidParameter);
  EXPECT_THROW(BatchSums(design, {0x1p-1, 0x1p-1}), InvalidParameter);
  EXPECT_THROW(check(Radii{0, 1, 1}), InvalidParameter);
  EXPECT_THROW(check(Radii{1, 1, NAN}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::moments
