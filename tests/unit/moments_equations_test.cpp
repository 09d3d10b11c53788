// Linear systems that are made of sums.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/descent/second_moments.h"
#include "nustream/inference/least_squares.h"
#include "nustream/moments/normal_equations.h"

namespace nustream::moments {
namespace {

struct Table {
  std::size_t dimension = 4;
  std::vector<double> x, y;
};

Table random_table() {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Table table;
  for (int i = 0; i < 200; ++i) {
    double y = normal(random);
    for (std::size_t j = 0; j < table.dimension; ++j) {
      table.x.push_back(j == 0 ? 1 : normal(random) + 0.3 * table.x.back());
      y += 0.5 * static_cast<double>(j) * table.x.back();
    }
    table.y.push_back(y);
  }
  return table;
}

/// The normal equations of the table, about `centre`.
NormalEquations equations_of(const Table& table, std::vector<double> centre) {
  const std::size_t d = table.dimension;
  NormalEquations equations{d, std::vector<double>(descent::triangle_size(d)), std::vector<double>(d),
                            std::move(centre)};
  std::vector<double> triangle(equations.second.size());
  for (std::size_t i = 0; i < table.y.size(); ++i) {
    const std::span<const double> x{table.x.data() + i * d, d};
    descent::isometric_triangle(x, triangle);
    for (std::size_t k = 0; k < triangle.size(); ++k) equations.second[k] += triangle[k];
    double residual = table.y[i];
    for (std::size_t j = 0; j < d; ++j) residual -= x[j] * equations.centre[j];
    for (std::size_t j = 0; j < d; ++j) equations.gap[j] += residual * x[j];
  }
  return equations;
}

/// The least squares fit on chosen columns of the table.
std::vector<double> fitted(const Table& table, const std::vector<std::size_t>& columns,
                           const std::vector<double>& y) {
  std::vector<double> x;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (const std::size_t column : columns) x.push_back(table.x[i * table.dimension + column]);
  }
  return inference::ordinary_least_squares({columns.size(), x, y}).theta;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], 1e-11) << j;
}

TEST(NormalEquations, AreLeastSquaresAboutAnyCentre) {
  const Table table = random_table();
  const std::vector<double> expected = fitted(table, {0, 1, 2, 3}, table.y);
  for (const double centre : {0.0, 1.0, -30.0}) {
    const FlooredSolution found = solve(equations_of(table, std::vector<double>(4, centre)), 1e-3);
    expect_near(found.theta, expected);
    EXPECT_EQ(found.floored, 0U);
  }
}

TEST(NormalEquations, OfASubsetAreTheRegressionOnItAlone) {
  const Table table = random_table();
  const NormalEquations equations = equations_of(table, {3, -1, 2, 0.5});
  const std::vector<std::size_t> columns{0, 2};
  expect_near(solve(subset(equations, columns), 0).theta, fitted(table, columns, table.y));
  EXPECT_THROW(static_cast<void>(subset(equations, std::vector<std::size_t>{2, 0})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(subset(equations, std::vector<std::size_t>{4})), InvalidParameter);
  EXPECT_THROW(static_cast<void>(subset(equations, {})), InvalidParameter);
}

TEST(NormalEquations, HaveEveryFeatureAsATarget) {
  const Table table = random_table();
  std::vector<double> third;
  for (std::size_t i = 0; i < table.y.size(); ++i) third.push_back(table.x[i * 4 + 2]);
  const std::vector<std::size_t> columns{0, 1, 3};
  const NormalEquations equations = equations_of(table, {1, 1, 1, 1});
  expect_near(solve(for_feature(equations, 2, columns), 0).theta, fitted(table, columns, third));
  EXPECT_THROW(static_cast<void>(for_feature(equations, 1, columns)), InvalidParameter);
}

// A ridge is least squares over a longer table: it has one more row for every feature, with √κ in its column.
TEST(NormalEquations, OfRidgeAreThoseOfTheLongerTable) {
  Table table = random_table();
  const double penalty = 25;
  const NormalEquations ridge = with_ridge(equations_of(table, {2, 2, -2, 1}), penalty);
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t k = 0; k < 4; ++k) table.x.push_back(j == k ? std::sqrt(penalty) : 0);
    table.y.push_back(0);
  }
  expect_near(solve(ridge, 0).theta, fitted(table, {0, 1, 2, 3}, table.y));
}

TEST(Floor, KeepsHiddenDirectionsNearTheCentre) {
  // The eigenvalues are 4, and −1 from noise. The floor of 2 takes the place of the second one: θ = (1 + 8/4, 1 +
  // 3/2).
  const NormalEquations equations{2, {4, 0, -1}, {8, 3}, {1, 1}};
  const FlooredSolution found = solve(equations, 2);
  EXPECT_EQ(found.floored, 1U);
  EXPECT_NEAR(found.theta[0], 3, 1e-15);
  EXPECT_NEAR(found.theta[1], 2.5, 1e-15);
  EXPECT_EQ(solve(equations, 5).floored, 2U);
}

// Exact sums of collinear features have no noise that could hide a direction, and nothing can be known of the
// difference of their coefficients: it stays that of the centre.
TEST(Floor, OfExactSumsLeavesCollinearDirectionsAtTheCentre) {
  const NormalEquations equations{2, {1, std::sqrt(2), 1}, {2, 2}, {1, 0}};
  const FlooredSolution found = solve(equations, 0);
  EXPECT_EQ(found.floored, 1U);
  EXPECT_NEAR(found.theta[0] - found.theta[1], 1, 1e-15);
  EXPECT_NEAR(found.theta[0] + found.theta[1], 3, 1e-15);
}

TEST(Floor, RefusesWhatIsNotANumber) {
  const NormalEquations equations{1, {1}, {1}, {0}};
  EXPECT_THROW(static_cast<void>(solve(equations, NAN)), InvalidParameter);
  EXPECT_THROW(static_cast<void>(solve(equations, -1)), InvalidParameter);
  EXPECT_THROW(static_cast<void>(solve({1, {NAN}, {1}, {0}}, 1)), InvalidParameter);
  EXPECT_THROW(static_cast<void>(with_ridge(equations, -1)), InvalidParameter);
}

}  // namespace
}  // namespace nustream::moments
