// The norm of an encoder whose column is known as numbers: exact ν-FTRL for several participations, windows and
// strategies. A table of running sums of squares is built once and doubled when more steps are asked for.
#include "encoders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

/// The longest table that is built: half a GiB of doubles, and a few times that while it is built.
constexpr std::uint64_t longest_table = std::uint64_t{1} << 26;
/// A shorter table would soon have to be built again while a stream is young.
constexpr std::uint64_t shortest_table = 1024;

/// endless_reach stands for infinity, so sums and products with it stay there in place of wrapping.
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return b > endless_reach - a ? endless_reach : a + b;
}

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > endless_reach / b ? endless_reach : a * b;
}

/// The column's first `length` entries. Entries beyond the column's end are replaced by their bounds.
std::vector<double> extended(const EncoderColumn& column, std::size_t length) {
  std::vector<double> c = column.c;
  const std::size_t known = std::min(c.size(), length);
  c.resize(length);
  double bound = column.beyond;
  for (std::size_t t = known; t < length; ++t) {
    c[t] = bound;
    bound *= column.ratio;
  }
  return c;
}

/// v_t = Σ_{i<times, i·separation ≤ t} c_{t − i·separation}: along every stride, sums of up to `times` neighbours.
/// The strides are cut into stretches of `times` entries. Every window is the end of one stretch and the beginning
/// of the next, so the running sums from both ends of the stretches give all windows. Nothing is ever subtracted,
/// and each sum has at most `times` roundings.
std::vector<double> evenly_spaced_sum(std::vector<double> c, std::uint64_t times, std::uint64_t separation) {
  const std::size_t length = c.size();
  if (times == 1 || separation >= length) return c;
  std::vector<double> v = c;
  for (std::size_t t = separation; t < length; ++t) {
    if ((t / separation) % times != 0) v[t] += v[t - separation];
  }
  if (times > (length - 1) / separation) return v;
  for (std::size_t t = length - separation; t-- > 0;) {
    if ((t / separation + 1) % times != 0) c[t] += c[t + separation];
  }
  // With three participations and a separation of 1, for example, v_4 is c_3 + c_4 from the stretch of the entries 3
  // to 5, and c_2 from the stretch before.
  const std::size_t span = times * separation;
  for (std::size_t t = span; t < length; ++t) {
    if ((t / separation + 1) % times != 0) v[t] += c[t - (span - separation)];
  }
  return v;
}

/// v_t becomes Σ_{s≤t} v_s², in long double, so that a table of millions of entries adds no error that matters.
void replace_by_running_sum_of_squares(std::vector<double>& v) {
  long double sum = 0;
  for (double& entry : v) {
    sum += static_cast<long double>(entry) * entry;
    entry = static_cast<double>(sum);
  }
}

class NumericNorm final : public EncoderNorm {
 public:
  NumericNorm(ColumnSource source, std::uint64_t reach, const Participation& participation)
      : source_(std::move(source)),
        participation_(participation),
        shift_(saturating_product(participation.times() - 1, participation.separation())),
        reach_(saturating_sum(reach, shift_)) {}

  double squared(std::uint64_t steps) override {
    // What comes behind reach_ is so small that one bound, tail(), covers all of it, whatever the number of steps.
    const std::uint64_t tabled = std::min(steps, reach_);
    if (tabled > sums_.size()) build(tabled);
    const double beyond = steps > tabled ? tail() : 0;
    return outward(sums_[tabled - 1] + beyond, steps);
  }

  double squared_limit() override { return squared(endless_reach); }

 private:
  void build(std::uint64_t steps) {
    if (steps > longest_table) {
      throw Unsupported("the sensitivity over " + std::to_string(steps) +
                        " steps needs too long a table: use a rational correlation");
    }
    // At least twice the last table, so that steps that rise one by one take O(T) in all.
    const std::uint64_t length = std::min(
        {std::max({steps, 2 * static_cast<std::uint64_t>(sums_.size()), shortest_table}), reach_, longest_table});
    const EncoderColumn column = source_(length);
    std::vector<double> sums = evenly_spaced_sum(extended(column, static_cast<std::size_t>(length)),
                                                 participation_.times(), participation_.separation());
    replace_by_running_sum_of_squares(sums);
    sums_ = std::move(sums);
    // Where the table ends at reach_, every participation is at least `reach` entries back by then, so tail()
    // applies.
    beyond_ = column.beyond;
    ratio_ = column.ratio;
    rounding_per_step_ = column.rounding_per_step;
    absolute_error_ = column.absolute_error;
  }

  /// Bounds Σ v_t² over the steps beyond the table: each of the k terms of v_t is at most beyond·ratio^n, n steps
  /// after the table's end.
  [[nodiscard]] double tail() const {
    const double largest = static_cast<double>(participation_.times()) * beyond_;
    return largest == 0 ? 0 : largest * largest / (1 - ratio_ * ratio_);
  }

  /// Adds what rounding may have lost: one column's error for each participation, and the roundings of their sums.
  [[nodiscard]] double outward(double squared, std::uint64_t steps) const {
    const double times = static_cast<double>(participation_.times_within(StepCount{steps}));
    const double root = std::sqrt(squared) + times * absolute_error_;
    const double entries = static_cast<double>(std::min(steps, reach_));
    return rounded_up(root * root, 2 * rounding_per_step_ * entries + 2 * (times + 4) * unit_roundoff);
  }

  ColumnSource source_;
  Participation participation_;
  std::uint64_t shift_;  // how many steps the last participation comes after the first
  std::uint64_t reach_;
  std::vector<double> sums_;  // Σ_{s≤t} v_s²
  double beyond_ = 0;
  double ratio_ = 0;
  double rounding_per_step_ = 0;
  double absolute_error_ = 0;
};

}  // namespace

// c_0 = 1 is not touched: the bound for several participations needs a column that falls from c_1 on.
EncoderColumn envelope(EncoderColumn column) {
  double largest = column.beyond;
  for (std::size_t t = column.c.size(); t-- > 1;) {
    largest = std::max(largest, std::abs(column.c[t]));
    column.c[t] = largest;
  }
  return column;
}

std::unique_ptr<EncoderNorm> numeric_norm(ColumnSource source, std::uint64_t reach,
                                          const Participation& participation) {
  return std::make_unique<NumericNorm>(std::move(source), reach, participation);
}

}  // namespace nustream::privacy
