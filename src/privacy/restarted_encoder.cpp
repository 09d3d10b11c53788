// The encoder of noise that begins anew every R steps. C is block diagonal, so the blocks' squared sensitivities add;
// a dynamic programme spreads the participations over the blocks, and bounds take its place where it would take long.
#include "encoders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rounding.h"

namespace nustream::privacy {
namespace {

constexpr std::uint64_t most_times = 512;    ///< largest k for which the programme runs: well below a second
constexpr std::uint64_t most_in_block = 64;  ///< largest ⌈R/b⌉ for which the programme runs
constexpr std::uint64_t most_entries = std::uint64_t{1} << 22;  ///< largest number of entries of all its columns

/// With R = 1000 and b = 300, for example, a block has room for 4 participations, so f(1) … f(4) are kept, if k is at
/// least 4.
class RestartedNorm final : public EncoderNorm {
 public:
  RestartedNorm(const noise::Restarted& restarted, const Participation& participation)
      : every_(restarted.every()),
        participation_(participation),
        in_block_(participation.times_within(every_)),
        exact_(in_block_ == 1 || (participation.times() <= most_times && in_block_ <= most_in_block &&
                                  in_block_ * every_.value() <= most_entries)) {
    for (std::uint64_t m = 1; m <= (exact_ ? in_block_ : 1); ++m) add_norm(restarted, m);
    if (!exact_) add_norm(restarted, in_block_);
  }

  double squared(std::uint64_t steps) override {
    const std::uint64_t every = every_.value();
    if (participation_.times() == 1) return norms_.front()->squared(std::min(steps, every));
    const std::uint64_t times = participation_.times_within(StepCount{steps});
    return of_blocks(steps / every, steps % every, times);
  }

  /// The squared sensitivity to one participation at the worst place within a block, which is the first step where C
  /// is Toeplitz. No more than one block counts, because a column of C ends with its block.
  double squared_by_age(std::uint64_t age) override {
    return norms_.front()->squared_by_age(std::min(age, every_.value()));
  }

  double squared_limit() override {
    if (participation_.times() == 1) return full_.front();
    // There are never more useful blocks than participations, so the largest number of blocks stands for no end.
    return of_blocks(std::numeric_limits<std::uint64_t>::max(), 0, participation_.times());
  }

 private:
  /// Keeps f(m) and the norm that later answers g(m).
  void add_norm(const noise::Restarted& restarted, std::uint64_t m) {
    norms_.push_back(encoder_norm(restarted.block(), Participation(m, participation_.separation()), every_));
    full_.push_back(norms_.back()->squared(every_.value()));
  }

  [[nodiscard]] double of_blocks(std::uint64_t whole, std::uint64_t rest, std::uint64_t times) {
    if (!exact_) return bound(whole, rest, times);
    const std::uint64_t used = std::min(whole, times);
    if (in_block_ == 1) {
      const double last = times > used && rest > 0 ? norms_.front()->squared(rest) : 0;
      return outward(static_cast<double>(used) * full_.front() + last, times);
    }
    advance(used);
    // The last block is not whole: m participations in it leave times − m to the whole ones.
    double largest = best_[times];
    for (std::uint64_t m = 1; rest > 0 && m <= std::min(in_block_, times); ++m) {
      largest = std::max(largest, best_[times - m] + norms_[m - 1]->squared(rest));
    }
    return outward(largest, times);
  }

  /// Brings best_ to `blocks` whole blocks: best_[m] is the most that m participations cost in them.
  void advance(std::uint64_t blocks) {
    if (blocks < blocks_ || best_.empty()) {
      best_.assign(static_cast<std::size_t>(participation_.times()) + 1, 0.0);
      blocks_ = 0;
    }
    for (; blocks_ < blocks; ++blocks_) {
      // m goes from the largest down, so that best_[m − here] still belongs to one block less.
      for (std::size_t m = best_.size(); m-- > 1;) {
        for (std::size_t here = 1; here <= std::min<std::size_t>(m, full_.size()); ++here) {
          best_[m] = std::max(best_[m], best_[m - here] + full_[here - 1]);
        }
      }
    }
  }

  [[nodiscard]] double bound(std::uint64_t whole, std::uint64_t rest, std::uint64_t times) {
    // The first bound fills every block, whatever k is.
    const double last = rest > 0 ? norms_.back()->squared(rest) : 0;
    const double all_full = static_cast<double>(whole) * full_.back() + last;
    // The norm of m columns is at most m times that of one, and at most that of in_block_ of them. So f(m) ≤ m √f(1)
    // √f(in_block_), which is added up over all blocks.
    const double by_count = static_cast<double>(times) * std::sqrt(full_.front()) * std::sqrt(full_.back());
    return outward(std::min(all_full, by_count), 8);
  }

  /// Covers the additions: at most one for each participation.
  [[nodiscard]] static double outward(double squared, std::uint64_t additions) {
    return rounded_up(squared, (static_cast<double>(std::min(additions, most_times)) + 8) * unit_roundoff);
  }

  StepCount every_;
  Participation participation_;
  std::uint64_t in_block_;  ///< ⌈R/b⌉, at most k
  bool exact_;
  std::vector<std::unique_ptr<EncoderNorm>> norms_;  ///< one for each of 1, 2, … in_block_; if not exact_, for the
                                                     ///< two ends only
  std::vector<double> full_;                         ///< f(m): what norms_ say of a whole block
  std::vector<double> best_;
  std::uint64_t blocks_ = 0;  ///< how many blocks best_ covers
};

}  // namespace

std::unique_ptr<EncoderNorm> restarted_norm(const noise::Restarted& restarted, const Participation& participation) {
  return std::make_unique<RestartedNorm>(restarted, participation);
}

}  // namespace nustream::privacy
