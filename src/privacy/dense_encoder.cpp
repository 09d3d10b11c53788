#include "dense_encoder.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "rounding.h"

namespace nustream::privacy {
namespace {

class DenseNorm final : public EncoderNorm {
 public:
  DenseNorm(noise::Dense encoder, const Participation& participation)
      : encoder_(std::move(encoder)),
        participation_(participation),
        columns_(static_cast<std::size_t>(encoder_.horizon().value()), 0.0) {}

  double squared(std::uint64_t steps) override {
    advance(static_cast<std::size_t>(steps));
    const std::uint64_t times = participation_.times_within(StepCount{steps});
    if (times == 1) return outward(largest_, 1);
    const std::uint64_t meeting = (encoder_.bands() - 1) / participation_.separation() + 1;
    return outward(static_cast<double>(std::min(times, meeting)) * best_sum(times), times);
  }

  double squared_by_age(std::uint64_t age) override {
    std::vector<double> columns(columns_.size(), 0.0);
    double largest = 0;
    for (std::size_t t = 0; t < columns.size(); ++t) {
      const std::span<const double> row = encoder_.row(t);
      const std::size_t reach = std::min<std::uint64_t>(age, row.size());
      for (std::size_t i = row.size() - reach; i < row.size(); ++i) {
        double& column = columns[t + 1 - row.size() + i];
        column += row[i] * row[i];
        largest = std::max(largest, column);
      }
    }
    return outward(largest, 1);
  }

  double squared_limit() override { return squared(columns_.size()); }

 private:
  /// columns_ = x_s(steps). Rows are added in their order, so the sums are the same whatever was asked before.
  void advance(std::size_t steps) {
    if (steps < rows_) {
      rows_ = 0;
      largest_ = 0;
      columns_.assign(columns_.size(), 0.0);
    }
    for (; rows_ < steps; ++rows_) {
      const std::span<const double> row = encoder_.row(rows_);
      for (std::size_t i = 0; i < row.size(); ++i) {
        double& column = columns_[rows_ + 1 - row.size() + i];
        column += row[i] * row[i];
        largest_ = std::max(largest_, column);
      }
    }
  }

  /// max_π Σ_{s∈π} x_s over at most `times` steps of rows_, any two at least b apart:
  /// best_m(t) = max(best_m(t − 1), best_{m−1}(t − b) + x_t).
  [[nodiscard]] double best_sum(std::uint64_t times) const {
    const std::size_t separation = std::min<std::uint64_t>(participation_.separation(), rows_);
    std::vector<double> fewer(rows_ + 1, 0.0);  // [t]: within the first t steps
    std::vector<double> best(rows_ + 1, 0.0);
    // Where all that fit are allowed, their number need not be counted.
    const bool counted = times < (rows_ - 1) / separation + 1;
    for (std::uint64_t m = counted ? times : 1; m > 0; --m) {
      const std::vector<double>& before = counted ? fewer : best;
      for (std::size_t t = 1; t <= rows_; ++t) {
        best[t] = std::max(best[t - 1], before[t - std::min(t, separation)] + columns_[t - 1]);
      }
      if (counted) fewer = best;
    }
    return best.back();
  }

  /// Column sums of at most `bands` squares, as many more additions as participations; and z solves
  /// (C + E) z = w, |E| ≤ (bands + 1)·u·|C|, by substitution with rounded operations.
  [[nodiscard]] double outward(double squared, std::uint64_t times) const {
    const double terms = 3 * static_cast<double>(encoder_.bands()) + static_cast<double>(times) + 8;
    return rounded_up(squared, terms * unit_roundoff);
  }

  noise::Dense encoder_;
  Participation participation_;
  std::vector<double> columns_;
  std::size_t rows_ = 0;  // that columns_ holds
  double largest_ = 0;
};

}  // namespace

std::unique_ptr<EncoderNorm> dense_norm(const noise::Dense& encoder, const Participation& participation) {
  return std::make_unique<DenseNorm>(encoder, participation);
}

}  // namespace nustream::privacy
