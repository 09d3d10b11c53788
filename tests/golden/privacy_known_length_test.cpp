// Encoders that look at the whole stream, against their published form written out, and losses that numpy computed
// from that form.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"
#include "nustream/privacy/known_length.h"
#include "nustream/privacy/optimised.h"
#include "nustream/privacy/sensitivity.h"

namespace nustream::privacy {
namespace {

using Matrix = Eigen::MatrixXd;
using noise::Correlation;

/// C of the correlation, whose scale is its own.
Matrix encoder(const Correlation& correlation) {
  const auto steps = static_cast<Eigen::Index>(correlation.horizon()->value());
  const std::vector<double> b = noise::dense_noise_matrix(correlation, static_cast<std::size_t>(steps));
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(b.data(), steps,
                                                                                                  steps)
      .inverse();
}

/// CᵀC with the scale at which its first entry is that of `gram`.
void expect_gram(const Correlation& correlation, const Matrix& gram) {
  const Matrix c = encoder(correlation);
  const Matrix found = c.transpose() * c;
  const double scale = gram(0, 0) / found(0, 0);
  EXPECT_LT((scale * found - gram).cwiseAbs().maxCoeff(), 1e-10 * gram(0, 0));
  const Matrix above = c.triangularView<Eigen::StrictlyUpper>();
  EXPECT_EQ(above.cwiseAbs().maxCoeff(), 0);
}

/// One row for each node of the tree, with a one for each of its leaves.
Matrix nodes(unsigned height) {
  const Eigen::Index leaves = Eigen::Index{1} << height;
  Matrix c = Matrix::Zero(2 * leaves - 1, leaves);
  Eigen::Index row = 0;
  for (Eigen::Index width = 1; width <= leaves; width *= 2) {
    for (Eigen::Index first = 0; first < leaves; first += width) c.row(row++).segment(first, width).setOnes();
  }
  return c;
}

/// The first T columns of the root of the circulant matrix, by the discrete Fourier transform as a sum.
Matrix root_of_circulant(Eigen::Index steps) {
  using Complex = std::complex<double>;
  const Eigen::Index size = 2 * steps;
  const auto turn = [&](Eigen::Index times) {
    return std::polar(1.0, 2 * M_PI * static_cast<double>(times) / static_cast<double>(size));
  };
  std::vector<double> first(static_cast<std::size_t>(size));
  for (Eigen::Index k = 0; k < size; ++k) {
    Complex eigenvalue = 0;
    for (Eigen::Index j = 0; j < steps; ++j) eigenvalue += turn(-(k * j % size));
    const Complex root = std::abs(eigenvalue) < 1e-9 ? Complex(0) : std::sqrt(eigenvalue);
    for (Eigen::Index j = 0; j < size; ++j) {
      first[static_cast<std::size_t>(j)] += (root * turn(k * j % size)).real() / static_cast<double>(size);
    }
  }
  Matrix c(size, steps);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < steps; ++j) c(i, j) = first[static_cast<std::size_t>((i - j + size) % size)];
  }
  return c;
}

double loss(const Correlation& correlation, PrefixError error) {
  return prefix_sum_loss(correlation, {*correlation.horizon(), Participation::once(), error});
}

TEST(FullHonaker, HasTheProductsOfTheTreesNodes) {
  for (const unsigned height : {0U, 1U, 3U, 6U}) {
    SCOPED_TRACE(height);
    const Matrix c = nodes(height);
    expect_gram(full_honaker(height), c.transpose() * c);
  }
}

TEST(FullHonaker, HasTheLossOfItsPseudoinverse) {
  const Correlation correlation = full_honaker(6);
  EXPECT_NEAR(loss(correlation, PrefixError::largest), 9.420568396692353, 1e-9);
  EXPECT_NEAR(loss(correlation, PrefixError::mean), 6.339347500917225, 1e-9);
  const Correlation online{noise::Tree{6, noise::Tree::Estimator::honaker, false}};
  EXPECT_LT(loss(correlation, PrefixError::mean), loss(online, PrefixError::mean));
}

TEST(Circulant, HasTheProductsOfTheRootsColumns) {
  for (const std::uint64_t steps : {1U, 2U, 7U, 40U}) {
    SCOPED_TRACE(steps);
    const Matrix c = root_of_circulant(static_cast<Eigen::Index>(steps));
    expect_gram(circulant(StepCount{steps}), c.transpose() * c);
  }
}

TEST(Circulant, HasTheLossOfItsPseudoinverse) {
  const Correlation correlation = circulant(StepCount{64});
  EXPECT_NEAR(loss(correlation, PrefixError::largest), 5.3132039767326615, 1e-9);
  EXPECT_NEAR(loss(correlation, PrefixError::mean), 4.84159975581588, 1e-9);
  const Correlation toeplitz{noise::NuFtrl{Damping{0}, StepCount{64}}};
  EXPECT_LT(loss(correlation, PrefixError::largest), loss(toeplitz, PrefixError::largest));
  EXPECT_GT(loss(correlation, PrefixError::largest),
            prefix_sum_loss_bound({StepCount{64}, Participation::once(), PrefixError::largest}));
}

// A record takes part in one step: whichever it is, it costs the same.
TEST(KnownLength, HasColumnsOfOneLength) {
  for (const Correlation& correlation : {full_honaker(5), circulant(StepCount{33})}) {
    const Matrix c = encoder(correlation);
    const Eigen::VectorXd norms = c.colwise().norm();
    EXPECT_LT((norms.array() / norms(0) - 1).abs().maxCoeff(), 1e-12);
    EXPECT_NEAR(sensitivity(correlation, *correlation.horizon(), Participation::once()).value(), norms(0),
                1e-12 * norms(0));
  }
}

TEST(KnownLength, IsRefusedWhereTheMatrixIsTooLarge) {
  EXPECT_THROW((void)full_honaker(12), InvalidParameter);
  EXPECT_THROW((void)circulant(StepCount{0}), InvalidParameter);
  EXPECT_THROW((void)circulant(StepCount{4096}), InvalidParameter);
}

}  // namespace
}  // namespace nustream::privacy
