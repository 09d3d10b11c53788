// The second part of sensitivity_over_windows(): branch and bound over how many steps each window has. All costs come
// from tables that are filled once, so that a box takes O(P²) whatever its counts are.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <queue>

#include "encoders.h"
#include "rounding.h"
#include "windows.h"

namespace nustream::privacy {
namespace {

/// The most steps in all windows together. The tables have an entry for each of them.
constexpr std::uint64_t most_searched_steps = std::uint64_t{1} << 16;
/// The most work for the products, in multiplications (about a second), and the most boxes.
constexpr double most_products = 5e8;
constexpr std::size_t most_boxes = 200'000;
/// A box that could cost this much more than a known pattern, relative, is not looked into.
constexpr double tolerance = 1e-9;

/// What patterns of counts cost, from tables of the products at the distances that occur.
class CountCosts {
 public:
  CountCosts(const LagProducts& products, const Participation& within, std::uint64_t windows)
      : windows_(static_cast<std::size_t>(windows)), most_(static_cast<std::size_t>(within.times())) {
    const std::uint64_t separation = within.separation();
    const auto at = [&](std::uint64_t apart, std::uint64_t gap) {
      const bool is_far = apart > products.reach / separation;  // also keeps the product within 64 bits
      return is_far ? 0.0 : products.of_lag(apart * separation + gap);
    };
    // What the n-th step of a window adds: its own square, and twice its products with the n − 1 steps before it.
    long double row = at(0, 0);
    own_.assign(most_ + 1, 0);
    for (std::size_t n = 1; n <= most_; ++n) {
      own_[n] = own_[n - 1] + row;
      row += 2.0L * at(n, 0);
    }
    // The greatest distance at which across() looks, in multiples of b, is below this.
    const std::size_t length = windows_ * most_ + 2;
    // `gap` counts the borders between two windows. At a border, steps are border_gap apart in place of b.
    for (std::size_t gap = 1; gap < windows_; ++gap) {
      std::vector<long double>& twice = sums_.emplace_back(length + 1, 0.0L);
      long double once = 0;
      for (std::size_t apart = 0; apart < length; ++apart) {
        twice[apart + 1] = twice[apart] + once;
        once += at(apart, gap * border_gap);
      }
      largest_ = std::max(largest_, twice.back());
    }
  }

  /// Σ_{v,w} of the products of all steps of windows v and w, where window w has `most[w]` steps, and is as long as
  /// if it had `least[w]`. With the same counts twice it is what these counts cost.
  [[nodiscard]] double of(const std::vector<std::size_t>& least, const std::vector<std::size_t>& most) const {
    long double sum = 0;
    for (std::size_t v = 0; v < windows_; ++v) {
      sum += own_[most[v]];
      std::size_t between = 0;  // in multiples of b: how long the windows between v and w are
      for (std::size_t w = v + 1; w < windows_; ++w) {
        if (w - 1 > v) between += least[w - 1] - 1;
        sum += 2 * across(most[v], most[w], w - v, between);
      }
    }
    return static_cast<double>(sum);
  }

  /// A bound of the error of of(). An entry of a table is a sum of two times `length` terms, which are at least 0, so
  /// its relative error is at most that many roundings; each pair of windows reads four entries.
  [[nodiscard]] double error() const {
    const double pairs = static_cast<double>(windows_) * static_cast<double>(windows_);
    const double roundings = 4 * (2 * static_cast<double>(windows_ * most_ + 2) + 4) + pairs + 8;
    const double unit = static_cast<double>(std::numeric_limits<long double>::epsilon());
    return pairs * roundings * unit * (static_cast<double>(largest_) + static_cast<double>(own_.back()));
  }

 private:
  /// Σ_{i<n, j<m} of the products at the distances gap + (between + i + j)·b, from second sums over the distances.
  [[nodiscard]] long double across(std::size_t n, std::size_t m, std::size_t gap, std::size_t between) const {
    const std::vector<long double>& twice = sums_[gap - 1];
    return twice[between + n + m] - twice[between + n] - twice[between + m] + twice[between];
  }

  std::size_t windows_;
  std::size_t most_;
  std::vector<long double> own_;                // of n steps that are b apart
  std::vector<std::vector<long double>> sums_;  // sums_[gap − 1][e] = Σ_{i<e} Σ_{j<i} product at gap + j·b
  long double largest_ = 0;
};

/// Patterns whose counts lie between `least` and `most`, window by window.
struct Box {
  double bound;
  std::vector<std::size_t> least;
  std::vector<std::size_t> most;

  friend bool operator<(const Box& one, const Box& other) { return one.bound < other.bound; }
};

/// The window where the counts of a box are furthest apart as a ratio. Among equal ones it is the most central, whose
/// length separates most pairs of windows.
std::size_t widest(const Box& box) {
  const auto middle = static_cast<double>(box.least.size() - 1) / 2;
  const auto distance = [&](std::size_t w) { return std::abs(static_cast<double>(w) - middle); };
  std::size_t best = 0;
  for (std::size_t w = 1; w < box.least.size(); ++w) {
    const double more = static_cast<double>(box.most[w]) * static_cast<double>(box.least[best]);
    const double known = static_cast<double>(box.most[best]) * static_cast<double>(box.least[w]);
    if (more > known || (more == known && distance(w) < distance(best))) best = w;
  }
  return best;
}

/// The search itself. known_ is the most that any pattern was found to cost; open_ holds the boxes that may contain a
/// dearer one.
class CountSearch {
 public:
  CountSearch(const CountCosts& costs, std::uint64_t windows, std::uint64_t times) : costs_(costs) {
    std::vector<std::size_t> least(static_cast<std::size_t>(windows), 1);
    const std::vector<std::size_t> most(least.size(), static_cast<std::size_t>(times));
    // More steps at either end move no others, so that the first and the last window are full.
    least.front() = least.back() = most.front();
    add(std::move(least), most);
  }

  WorstPattern run() {
    for (std::size_t boxes = 0; !open_.empty() && boxes < most_boxes; ++boxes) {
      const Box box = open_.top();
      // The box with the largest bound comes first. If it cannot be dearer than what is known, no other box can.
      if (box.bound <= known_ * (1 + tolerance)) return {known_ * (1 + tolerance), true};
      open_.pop();
      const std::size_t w = widest(box);
      // The counts are cut at their geometric mean, as widest() compares them by their ratio.
      const auto middle =
          static_cast<std::size_t>(std::sqrt(static_cast<double>(box.least[w]) * static_cast<double>(box.most[w])));
      std::vector<std::size_t> cut = box.most;
      cut[w] = std::min(middle, box.most[w] - 1);
      add(box.least, cut);
      std::vector<std::size_t> above = box.least;
      above[w] = cut[w] + 1;
      add(std::move(above), box.most);
    }
    // Boxes whose bound was within the tolerance were never opened, so what is known is raised by the tolerance.
    if (open_.empty()) return {known_ * (1 + tolerance), true};
    return {std::max(open_.top().bound, known_ * (1 + tolerance)), false};
  }

 private:
  /// Looks at the two extreme patterns of a box, and keeps the box where others could cost more.
  void add(std::vector<std::size_t> least, std::vector<std::size_t> most) {
    known_ = std::max({known_, costs_.of(least, least), costs_.of(most, most)});
    const double bound = costs_.of(least, most);
    if (bound > known_ * (1 + tolerance)) open_.push({bound, std::move(least), std::move(most)});
  }

  const CountCosts& costs_;
  std::priority_queue<Box> open_;
  double known_ = 0;
};

/// How many lags the tables ask for below the reach of the products, times what a lag takes.
bool takes_too_long(const LagProducts& products, const Participation& within, std::uint64_t windows) {
  if (products.reach == endless_reach) return false;
  const double in_all = static_cast<double>(within.times()) * static_cast<double>(windows);
  const double reached = static_cast<double>(products.reach) / static_cast<double>(within.separation()) + 1;
  const double lags = static_cast<double>(windows) * std::min(in_all, reached);
  return lags * static_cast<double>(products.reach) > most_products;
}

}  // namespace

std::optional<WorstPattern> worst_counts(const LagProducts& products, const Participation& within,
                                         std::uint64_t windows) {
  if (within.times() > most_searched_steps / windows) return std::nullopt;
  if (takes_too_long(products, within, windows)) return std::nullopt;
  const CountCosts costs(products, within, windows);
  WorstPattern worst = CountSearch(costs, windows, within.times()).run();
  const double in_all = static_cast<double>(within.times()) * static_cast<double>(windows);
  // The errors of tables and products are errors of the square. The error of the column itself is one of length:
  // it moves each column in the sum, and so the length of the sum by at most as many times as much.
  const double length = std::sqrt(rounded_up(worst.squared + costs.error(), products.relative_error));
  const double moved = length + in_all * products.absolute_error;
  return WorstPattern{rounded_up(moved * moved, 8 * unit_roundoff), worst.is_reached && products.is_reached};
}

}  // namespace nustream::privacy
