// Tests of the noise that somebody who knows every record recovers from releases. Whitened, this noise has to be
// independent and normal, and of the size that is claimed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "config/mechanism.h"
#include "noise_statistics.h"
#include "nustream/noise/source.h"

namespace nustream::tests::residuals {

using testing::ProductSum;

constexpr std::size_t d = 3;  // of x0, x1 and the intercept; the intercept is released first
constexpr double step_size = 0.05;
constexpr double clip = 1.0;

/// The steps of a block of noise, and those of the games that see three blocks.
inline const std::size_t block = noise::steps_per_block(d);
inline const std::size_t three_blocks = 3 * block;

struct Record {
  double x0;
  double x1;
  double y;
};

/// Records, some of which have long gradients that are clipped.
inline std::vector<Record> records(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<Record> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({normal(bits), normal(bits), 3 * normal(bits)});
  return all;
}

inline std::string settings(const std::string& correlation) {
  return fmt::format(R"([stream]
name = "residuals"
input = "rows.csv"
[target]
column = "y"
[[features]]
column = "x0"
[[features]]
column = "x1"
[descent]
step_size = {}
clip_norm = {}
[privacy]
rho = 0.5
delta = 1e-6
[noise]
{}
[release]
every = 1
)",
                     step_size, clip, correlation);
}

/// The clipped gradient of ½(θᵀx − y)², written once more, in the library's order: intercept, x0, x1.
inline std::vector<double> clipped_gradient(const std::vector<double>& theta, const Record& record) {
  const double x[d] = {1, record.x0, record.x1};
  double residual = -record.y;
  double square = 0;
  for (std::size_t j = 0; j < d; ++j) {
    residual += theta[j] * x[j];
    square += x[j] * x[j];
  }
  const double length = std::abs(residual) * std::sqrt(square);
  const double factor = length > clip ? clip / length : 1;
  return {factor * residual, factor * residual * x[1], factor * residual * x[2]};
}

/// w = B⁻¹z/stddev of one lane and epoch, as steps × d.
class Whitened {
 public:
  Whitened(const config::Mechanism& mechanism, std::size_t steps) : stddev_(mechanism.main().stddev.value()) {
    const noise::Correlation& correlation = mechanism.main().correlation;
    if (correlation.toeplitz()) {
      beta_ = noise::noise_coefficients(correlation, steps);
      return;
    }
    // A tree is no Toeplitz matrix and has more columns than rows: the lower triangular L with LLᵀ = BBᵀ takes its
    // place.
    const std::vector<double> dense = noise::dense_noise_matrix(correlation, steps);
    const auto rows = static_cast<Eigen::Index>(steps);
    const Eigen::Map<const RowMajor> b(dense.data(), rows, static_cast<Eigen::Index>(dense.size()) / rows);
    factor_ = RowMajor(b * b.transpose()).llt().matrixL();
  }

  void step(const std::vector<double>& before, const std::vector<double>& after, const Record& record) {
    const std::vector<double> gradient = clipped_gradient(before, record);
    const std::size_t t = w_.size() / d;
    std::array<double, d> w{};
    for (std::size_t j = 0; j < d; ++j) w[j] = ((before[j] - after[j]) / step_size - gradient[j]) / stddev_;
    for (std::size_t k = 1; k <= t; ++k) {
      for (std::size_t j = 0; j < d; ++j) w[j] -= coefficient(t, k) * w_[(t - k) * d + j];
    }
    for (std::size_t j = 0; j < d; ++j) w_.push_back(w[j] / coefficient(t, 0));
  }
  [[nodiscard]] const std::vector<double>& values() const noexcept { return w_; }

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// The coefficient with which the noise of step t − k is in that of step t.
  [[nodiscard]] double coefficient(std::size_t t, std::size_t k) const {
    if (!beta_.empty()) return beta_[k];
    return factor_(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(t - k));
  }

  std::vector<double> beta_;
  RowMajor factor_;
  double stddev_;
  std::vector<double> w_;
};

/// The tests of all residuals together.
class Hypotheses {
 public:
  // The bins of Φ(w): the empirical distribution is known at their borders alone.
  static constexpr std::size_t bins = 4096;

  /// Adds the four streams of one key, as of[2 · epoch + lane].
  void add(const std::vector<Whitened>& of) {
    for (const Whitened& each : of) add_stream(each.values());
    const auto pair = [&](ProductSum& products, std::size_t a, std::size_t b) {
      for (std::size_t i = 0; i < of[a].values().size(); ++i) products.add(of[a].values()[i], of[b].values()[i]);
    };
    pair(lanes_, 0, 1);
    pair(lanes_, 2, 3);
    pair(epochs_, 0, 2);
    pair(epochs_, 1, 3);
    pair(lanes_and_epochs_, 0, 3);
    pair(lanes_and_epochs_, 1, 2);
    for (std::size_t a = 0; a < of.size(); ++a) {
      for (std::size_t b = 0; b < of.size(); ++b) {
        if (a != b) add_shifted(of[a].values(), of[b].values());
      }
    }
  }

  void expect(double deviations, double kolmogorov) const {
    const auto n = static_cast<double>(count_);
    ::testing::Test::RecordProperty("residuals", std::to_string(count_));
    ::testing::Test::RecordProperty("sigma_over_claimed", fmt::format("{:.6f}", std::sqrt(squares_ / n)));
    // The variance of the square of N(0, 1) is 2: a million residuals fix σ to .07%, ten million to .022% (one
    // standard error).
    EXPECT_LT(std::abs(squares_ / n - 1) * std::sqrt(n / 2), deviations) << "sigma off by " << squares_ / n / 2 - 0.5;
    // A fourth power has mean 3 and variance 96. It tests the tails, for which the distribution has too few bins.
    EXPECT_LT(std::abs(fourth_powers_ / n - 3) * std::sqrt(n / 96), deviations) << "tails of " << fourth_powers_ / n;
    double largest = 0;
    double below = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      below += static_cast<double>(histogram_[bin]);
      largest = std::max(largest, std::abs(below / n - static_cast<double>(bin + 1) / bins));
    }
    EXPECT_LT(largest * std::sqrt(n), kolmogorov) << "not normal";
    const auto expect_independent = [&](const ProductSum& products, const std::string& of_what) {
      EXPECT_LT(std::abs(products.deviations()), deviations) << of_what;
    };
    for (const auto& [lag, products] : steps_) expect_independent(products, fmt::format("steps at lag {}", lag));
    for (const auto& [pair, products] : coordinates_) {
      expect_independent(products, fmt::format("coordinates {} and {}", pair.first, pair.second));
    }
    expect_independent(lanes_, "lanes");
    expect_independent(epochs_, "epochs");
    expect_independent(lanes_and_epochs_, "another lane of another epoch");
    for (const auto& [lag, products] : shifted_) {
      expect_independent(products, fmt::format("lanes and epochs, one {} steps behind the other", lag));
    }
  }

  /// The number of products of residuals that are `blocks` blocks apart.
  [[nodiscard]] std::uint64_t pairs_of_blocks(std::size_t blocks) const {
    const auto found = steps_.find(blocks * block);
    return found == steps_.end() ? 0 : found->second.count();
  }

 private:
  void add_stream(const std::vector<double>& w) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      ++count_;
      squares_ += w[i] * w[i];
      fourth_powers_ += w[i] * w[i] * w[i] * w[i];
      const double below = 1 - testing::normal_tail(w[i]);
      ++histogram_[std::min(bins - 1, static_cast<std::size_t>(below * bins))];
    }
    // Neighbours, and the same place of the block before and of the one before that.
    for (const std::size_t lag : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, block, 2 * block}) {
      if (lag * d >= w.size()) break;  // without such a pair there is no such hypothesis
      ProductSum& products = steps_[lag];
      for (std::size_t i = lag * d; i < w.size(); ++i) products.add(w[i], w[i - lag * d]);
    }
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t k = j + 1; k < d; ++k) {
        ProductSum& products = coordinates_[{j, k}];
        for (std::size_t row = 0; row < w.size(); row += d) products.add(w[row + j], w[row + k]);
      }
    }
  }

  /// Tests for a stream that draws the noise of another one a step, or a block, later.
  void add_shifted(const std::vector<double>& ahead, const std::vector<double>& behind) {
    for (const std::size_t lag : {std::size_t{1}, block}) {
      if (lag * d >= ahead.size()) break;
      ProductSum& products = shifted_[lag];
      for (std::size_t i = lag * d; i < ahead.size(); ++i) products.add(behind[i], ahead[i - lag * d]);
    }
  }

  std::uint64_t count_ = 0;
  double squares_ = 0;
  double fourth_powers_ = 0;
  std::vector<std::uint64_t> histogram_ = std::vector<std::uint64_t>(bins);
  std::map<std::size_t, ProductSum> steps_;  // by lag
  std::map<std::pair<std::size_t, std::size_t>, ProductSum> coordinates_;
  ProductSum lanes_;
  ProductSum epochs_;
  ProductSum lanes_and_epochs_;
  std::map<std::size_t, ProductSum> shifted_;  // by lag
};

}  // namespace nustream::tests::residuals
