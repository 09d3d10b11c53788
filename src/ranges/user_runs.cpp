// The order in which a part's rows are read, and the sums of one user at a time. Users' rows are brought together by
// a counting sort over positions, because a user's sum can be shortened only when all of its rows are known.
#include "ranges/user_runs.h"

#include <algorithm>
#include <utility>

#include "nustream/users/user_index.h"

namespace nustream::ranges {
namespace {

/// Stands for whoever's turn it is. One user is summed at a time, so that they need not be told apart here.
constexpr users::UserHash whose_turn{0, 1};

std::size_t entries_of(std::span<const users::ContributionBlock> blocks) {
  std::size_t entries = 0;
  for (const users::ContributionBlock& block : blocks) entries += block.entries;
  return entries;
}

}  // namespace

void Rows::each(const Part& part, const std::function<void(std::uint64_t position)>& visit,
                const EndUser& end) const {
  const std::uint64_t behind = part.first + part.count;
  if (!are_of_users()) {
    for (std::uint64_t place = part.first; place < behind; ++place) visit(stride.position(place));
    return;
  }
  // Places are sorted by user, by counting: `begins` has where the rows of each user begin.
  users::UserIndex index;
  std::vector<std::uint64_t> begins{0};
  const auto user_at = [&](std::uint64_t place) { return table.users[stride.position(place)]; };
  for (std::uint64_t place = part.first; place < behind; ++place) {
    const record::RowUser of = user_at(place);
    if (of.is_nobody()) continue;
    // Users are numbered in the order in which they come in this part; nothing of that order leaves the call.
    const std::size_t number = index.number_of({of.high, of.low});
    // begins[number + 1] counts the rows of user `number` here; the sums below turn counts into beginnings.
    if (number + 2 > begins.size()) begins.push_back(0);
    ++begins[number + 1];
  }
  for (std::size_t number = 1; number < begins.size(); ++number) begins[number] += begins[number - 1];
  std::vector<std::uint64_t> positions(begins.back());
  std::vector<std::uint64_t> next(begins.begin(), begins.end() - 1);
  for (std::uint64_t place = part.first; place < behind; ++place) {
    const record::RowUser of = user_at(place);
    if (!of.is_nobody()) positions[next[index.number_of({of.high, of.low})]++] = stride.position(place);
  }
  for (std::size_t number = 0; number + 1 < begins.size(); ++number) {
    std::for_each(positions.begin() + static_cast<std::ptrdiff_t>(begins[number]),
                  positions.begin() + static_cast<std::ptrdiff_t>(begins[number + 1]), visit);
    end();
  }
}

UserSums::UserSums(std::vector<users::ContributionBlock> blocks)
    : contributions_(blocks, users::Limits({{1, 1}}, {}), users::Shortening::together), units_(entries_of(blocks)) {
  contributions_.begin(StepIndex{0});
}

void UserSums::add(std::span<const double> entries) {
  static_cast<void>(contributions_.add(whose_turn, 0, entries));
}

std::span<const std::int64_t> UserSums::end_user() {
  std::ranges::fill(units_, 0);
  static_cast<void>(contributions_.settle(changes_, units_));
  changes_.forget();  // the next user has the same turn, and begins anew
  return units_;
}

}  // namespace nustream::ranges
