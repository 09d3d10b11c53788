// The kernels of every instruction set against the formulas, to the last integer.
#include "moments/sum_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "moments/open_sums.h"
#include "nustream/descent/packed.h"
#include "nustream/descent/second_moments.h"

namespace nustream::moments {
namespace {

constexpr std::size_t dimensions[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 50};
constexpr std::size_t row_counts[] = {0, 1, 2, 7, 16};

/// Rows u_k of at most length 1, packed one behind the other, and a factor for each.
struct Rows {
  std::size_t d;
  std::size_t count;
  descent::Packed<double> u;
  std::vector<double> units;

  Rows(std::size_t dimension, std::size_t rows, std::mt19937_64& bits)
      : d(dimension), count(rows), u(rows * descent::packed_size(dimension)) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> exponent(-10, 50.9);
    for (std::size_t k = 0; k < count; ++k) {
      double squares = 0;
      for (std::size_t j = 0; j < d; ++j) squares += std::pow(of(k)[j] = normal(bits), 2);
      for (std::size_t j = 0; j < d; ++j) of(k)[j] /= std::sqrt(squares) * (1 + 0x1p-50);
      units.push_back((k % 2 == 0 ? 1 : -1) * std::exp2(exponent(bits)));
    }
  }
  [[nodiscard]] double* of(std::size_t k) { return u.data() + k * descent::packed_size(d); }
};

std::int64_t truncated(double value) {
  return static_cast<std::int64_t>(value);
}

std::vector<Wide> outers_by_formula(Rows& rows) {
  std::vector<Wide> sums(descent::triangle_size(rows.d));
  for (std::size_t k = 0; k < rows.count; ++k) {
    const double* const u = rows.of(k);
    std::size_t at = 0;
    for (std::size_t i = 0; i < rows.d; ++i) {
      const double scaled = u[i] * rows.units[k];
      sums[at++] += truncated(scaled * u[i]);
      for (std::size_t j = i + 1; j < rows.d; ++j) sums[at++] += truncated(scaled * std::numbers::sqrt2 * u[j]);
    }
  }
  return sums;
}

std::vector<Wide> vectors_by_formula(Rows& rows) {
  std::vector<Wide> sums(rows.d);
  for (std::size_t k = 0; k < rows.count; ++k) {
    for (std::size_t j = 0; j < rows.d; ++j) sums[j] += truncated(rows.units[k] * rows.of(k)[j]);
  }
  return sums;
}

/// Calls check(variant, rows) for every variant that this machine can run and every size.
template <class Check>
void each_case(const Check& check) {
  std::mt19937_64 bits(5);
  for (const std::size_t d : dimensions) {
    for (const std::size_t count : row_counts) {
      Rows rows(d, count, bits);
      for (const kernel::Variant& variant : kernel::variants()) {
        SCOPED_TRACE(testing::Message() << variant.lanes << " lanes, d = " << d << ", rows " << count);
        check(variant, rows);
      }
    }
  }
}

TEST(SumKernel, OutersAreTheFormulasIntegers) {
  each_case([](const kernel::Variant& variant, Rows& rows) {
    const OpenLayout layout{variant.lanes, rows.d, 0, 0};
    descent::Packed<std::int64_t> open(layout.size());
    descent::Packed<double> scratch(rows.u.size());
    variant.add_outers(rows.u.data(), rows.count, rows.d, rows.units.data(), scratch.data(), open.data());
    std::vector<Wide> sums(descent::triangle_size(rows.d));
    move(layout, open, sums);
    EXPECT_TRUE(sums == outers_by_formula(rows));
    EXPECT_EQ(open, descent::Packed<std::int64_t>(layout.size()));
  });
}

TEST(SumKernel, VectorsAreTheFormulasIntegers) {
  each_case([](const kernel::Variant& variant, Rows& rows) {
    const OpenLayout layout{variant.lanes, 0, 1, rows.d};
    descent::Packed<std::int64_t> open(layout.size());
    variant.add_vectors(rows.u.data(), rows.count, rows.d, rows.units.data(), open.data());
    std::vector<Wide> sums(rows.d);
    move(layout, open, sums);
    EXPECT_TRUE(sums == vectors_by_formula(rows));
  });
}

// The bits must not depend on the machine: a step that is computed again after a crash has to be the same.
TEST(SumKernel, SquaresAndProductsHaveTheSameBitsOnEveryMachine) {
  std::mt19937_64 bits(6);
  const kernel::Variant& baseline = kernel::variants().back();
  ASSERT_EQ(baseline.lanes, 1U);
  for (const std::size_t d : dimensions) {
    Rows rows(d, 2, bits);
    const double* const v = rows.of(0);
    const double* const theta = rows.of(1);
    long double squares = 0;
    long double product = 0;
    for (std::size_t j = 0; j < d; ++j) {
      squares += static_cast<long double>(v[j]) * v[j];
      product += static_cast<long double>(v[j]) * theta[j] / 3;
    }
    descent::Packed<double> expected(descent::packed_size(d));
    const double expected_product = baseline.scaled_product(v, d, 1.0 / 3, theta, expected.data());
    EXPECT_NEAR(expected_product, static_cast<double>(product), 1e-15);
    EXPECT_NEAR(baseline.squares(v, d), static_cast<double>(squares), 1e-15);
    for (const kernel::Variant& variant : kernel::variants()) {
      SCOPED_TRACE(testing::Message() << variant.lanes << " lanes, d = " << d);
      descent::Packed<double> u(descent::packed_size(d), 7);
      EXPECT_EQ(variant.scaled_product(v, d, 1.0 / 3, theta, u.data()), expected_product);
      EXPECT_EQ(u, expected);  // with zeros behind its entries
      EXPECT_EQ(variant.squares(v, d), baseline.squares(v, d));
    }
  }
}

}  // namespace
}  // namespace nustream::moments
