// What the users of one step contribute: sums by user, in the order in which users are met, and at the end of the
// step the clip, the charge and the grid for each sum. The clip is that of private_step.h. No user moves a block by
// more than its bound, however many records the user has.
#include "nustream/users/contribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/shown.h"
#include "descent/norm.h"
#include "descent/private_step.h"
#include "nustream/base/error.h"

namespace nustream::users {
namespace {

constexpr double roundoff = 0x1p-53;

/// The same conditions as those of a grid: numbers on it stay below 2^51, and its spacing is a power of two.
void check(const ContributionBlock& block) {
  if (block.entries == 0) throw InvalidParameter("entries of a block", "0", "at least 1");
  if (!(std::isfinite(block.bound) && block.bound > 0)) {
    throw InvalidParameter("bound of a block", shown(block.bound), "a finite number > 0");
  }
  int exponent = 0;
  const bool power_of_two = block.spacing > 0 && std::frexp(block.spacing, &exponent) == .5;
  if (!power_of_two || !(block.bound / block.spacing < 0x1p51)) {
    throw InvalidParameter("spacing of a block", shown(block.spacing), "a power of two above 2^-51 of its bound");
  }
}

std::size_t entries_of(const std::vector<ContributionBlock>& blocks) {
  std::size_t sum = 0;
  for (const ContributionBlock& block : blocks) sum += block.entries;
  return sum;
}

/// What the roundings of a norm of d entries, and of a product with each entry, may amount to, relatively.
double slack(std::size_t entries) {
  return (static_cast<double>(entries) + 16) * roundoff;
}

/// ‖v‖/bound, rounded up and at most 1. It is 1 for a v that is not finite; nothing of such a v is added.
double clipped_norm(const descent::ScaledNorm& norm, const ContributionBlock& block) {
  const double relative = norm.scale / block.bound * norm.fraction * (1 + slack(block.entries));
  // A quotient that overflowed is not below 1, nor is a NaN; both count as 1.
  return relative < 1 ? relative : 1;
}

/// Adds trunc(scale · clip(v, bound) / s), which is at most scale·bound/s long. `norm` is that of v.
void add_clipped(std::span<const double> v, const descent::ScaledNorm& norm, const ContributionBlock& block,
                 double scale, std::int64_t* units) {
  if (std::isnan(norm.fraction) || norm.fraction == 0) return;
  const double shrink = 1 - slack(v.size());
  // G/s, less what roundings may add to a norm and to its entries (clip.h), times the share that may enter.
  const double radius = block.bound / block.spacing * (1 - 0x1p-48) * shrink * scale;
  // A sum that is scaled down is shortened once more, so that no rounding makes it longer than what is charged. The
  // quotient of two powers of two is exact. Where it overflows, the sum is longer than any bound all the same.
  const double slope = (scale < 1 ? scale * shrink : 1) * (norm.scale / block.spacing);
  const descent::ClippedGradient clipped = descent::clip_gradient(slope, norm.fraction, {1, radius});
  const auto add = [&](std::size_t j, double entry) {
    units[j] = noise::saturating_add(units[j], descent::on_grid(clipped.factor, entry));
  };
  // The largest entry is brought into [1, 2). A multiplication by a power of two rounds as scalbn() does, but the
  // power has to be a normal number.
  if (const double down = 1 / norm.scale; std::isnormal(down)) {
    for (std::size_t j = 0; j < v.size(); ++j) add(j, v[j] * down);
  } else {
    const int exponent = std::ilogb(norm.scale);
    for (std::size_t j = 0; j < v.size(); ++j) add(j, std::scalbn(v[j], -exponent));
  }
}

}  // namespace

StepContributions::StepContributions(std::vector<ContributionBlock> blocks, Limits limits, Shortening shortening)
    : blocks_(std::move(blocks)),
      limits_(limits),
      shortening_(shortening),
      entries_(entries_of(blocks_)),
      norms_(blocks_.size()) {
  if (blocks_.empty()) throw InvalidParameter("blocks of a contribution", "0", "at least 1");
  for (const ContributionBlock& block : blocks_) check(block);
}

void StepContributions::begin(StepIndex step) noexcept {
  step_ = step;
  index_.clear();
  contributors_.clear();
  sums_.clear();
  asked_.reset();
}

bool StepContributions::takes_part(const UserHash& user, const Changes& users) {
  // A user who contributes in this step already does so with every further record of it; the sum of them is charged
  // once.
  if (index_.find(user) < index_.size()) return true;
  // What the table says is kept, so that it is not asked again when the user is charged.
  asked_ = users.entry_of(user);
  if (may_contribute(limits_, asked_->standing, step_)) return true;
  ++beyond_limits_;
  return false;
}

bool StepContributions::add(const UserHash& user, std::uint32_t number, std::span<const double> entries) {
  NUSTREAM_REQUIRE(entries.size() == entries_, "a record has the entries of all blocks");
  if (!std::ranges::all_of(entries, [](double entry) { return std::isfinite(entry); })) return false;
  const std::size_t place = index_.number_of(user);
  if (place == contributors_.size()) {
    contributors_.push_back({user, number, asked_ && asked_->user == user ? asked_ : std::nullopt});
    sums_.resize(sums_.size() + entries_, 0);
  }
  double* const sum = sums_.data() + place * entries_;
  for (std::size_t j = 0; j < entries_; ++j) sum[j] += entries[j];
  return true;
}

/// Shortens the whole sum so that no block is longer than its bound. Rounding may leave it a little longer, which the
/// clip that follows takes care of. If a block is not finite, all of the sum becomes NaN, so that nothing of it is
/// added.
void StepContributions::shorten_together(std::span<double> sum) const noexcept {
  double longest = 0;
  std::span<const double> rest = sum;
  for (const ContributionBlock& block : blocks_) {
    const descent::ScaledNorm norm = descent::scaled_norm(rest.first(block.entries));
    const double relative = norm.scale / block.bound * norm.fraction;
    // Such a sum has no direction in which it could be shortened.
    if (!std::isfinite(relative)) {
      std::ranges::fill(sum, std::numeric_limits<double>::quiet_NaN());
      return;
    }
    longest = std::max(longest, relative);
    rest = rest.subspan(block.entries);
  }
  // One factor for all blocks keeps the sums consistent with each other: they stay sums over the same weighted rows.
  const double share = descent::share_within(longest, 1);
  for (double& entry : sum) entry *= share;
}

/// Computes the norm of each block of a sum, and returns the largest of them, each in units of its bound: one mass is
/// charged for all blocks.
double StepContributions::take_norms(std::span<const double> sum) noexcept {
  double largest = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const descent::ScaledNorm norm = descent::scaled_norm(sum.first(blocks_[i].entries));
    norms_[i] = {norm.scale, norm.fraction};
    largest = std::max(largest, clipped_norm(norm, blocks_[i]));
    sum = sum.subspan(blocks_[i].entries);
  }
  return largest;
}

/// Adds the sum whose norms were taken last. The scale is the same for every block, as charge() allowed one share for
/// all of them.
void StepContributions::add_to_grid(std::span<const double> sum, double scale, std::span<std::int64_t> units) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::size_t entries = blocks_[i].entries;
    add_clipped(sum.first(entries), {norms_[i].scale, norms_[i].fraction}, blocks_[i], scale, units.data());
    sum = sum.subspan(entries);
    units = units.subspan(entries);
  }
}

std::size_t StepContributions::settle(Changes& users, std::span<std::int64_t> units) {
  NUSTREAM_REQUIRE(units.size() == entries_, "a sum has the entries of all blocks");
  const std::size_t count = contributors_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [user, number, before] = contributors_[i];
    const std::span<double> sum = std::span(sums_).subspan(i * entries_, entries_);
    if (shortening_ == Shortening::together) shorten_together(sum);
    const double norm = take_norms(sum);
    // Every contributor is charged, also one whose sum overflowed and adds nothing to the grid.
    Charge charged{};
    users.change(before ? *before : users.entry_of(user), number, [&](const Standing& standing) {
      charged = charge(limits_, standing, step_, norm);
      return charged.after;
    });
    if (norm >= 1) ++clipped_;
    if (norm >= 1 && charged.allowed >= 1) ++clipped_in_full_;
    // The quotient is lowered by its roundings, so that no more is added than was charged.
    const double share = descent::share_within(norm, charged.allowed);
    add_to_grid(sum, share < 1 ? share * (1 - 4 * roundoff) : 1, units);
  }
  settled_ += count;
  begin(step_);
  return count;
}

}  // namespace nustream::users
