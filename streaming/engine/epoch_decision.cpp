#include "engine/epoch_decision.h"

#include <algorithm>

namespace nustream::engine {
namespace {

using journal::LedgerEntry;
using journal::Overlap;

using Ledger = std::vector<LedgerEntry>;

bool is_unknown(const LedgerEntry& entry) {
  return entry.overlap == Overlap::unknown;
}

bool has_unknown(const Ledger& ledger) {
  return std::ranges::any_of(ledger, is_unknown);
}

Overlap overlap_of(const Ledger& ledger, EpochId epoch) {
  const auto own = std::ranges::find(ledger, epoch, &LedgerEntry::epoch);
  return own == ledger.end() ? Overlap::disjoint : own->overlap;
}

/// Behind every epoch that anything tells of: a number is never used twice.
EpochId next_epoch(const Found& found, const Ledger& ledger) {
  std::uint32_t next = found.state == Found::State::committed ? found.epoch.value() + 1 : 0;
  const auto behind = [&next](EpochId known) { next = std::max(next, known.value() + 1); };
  for (const LedgerEntry& entry : ledger) behind(entry.epoch);
  if (found.last_release) behind(found.last_release->epoch);
  if (found.owed) behind(found.owed->epoch);
  return EpochId{next};
}

/// How far the epochs of the ledger have read, from `first` on. Positions before an epoch of unknown overlap may be
/// of another input: only what it and those behind it have read counts.
Position furthest_known(const Ledger& ledger, Position first) {
  Position furthest = first;
  for (const LedgerEntry& entry : ledger) {
    if (is_unknown(entry)) furthest = Position{0};
    furthest = std::max(furthest, entry.to);
  }
  return furthest;
}

/// How far anything has read that is left of a lane in a folder.
Position furthest_in_folder(const Found& found, const Ledger& ledger) {
  Position furthest = found.owed ? found.owed->to : found.first;
  for (const LedgerEntry& entry : ledger) furthest = std::max(furthest, entry.to);
  return furthest;
}

/// Once the overlap of an epoch is unknown, that of all behind it is: positions before it say nothing of theirs.
/// Where nobody compared the input with what was read, positions say nothing either.
Overlap overlap_behind(const Found& found, const Ledger& ledger, bool input_is_held) {
  const bool anything_spent = found.owed || !ledger.empty();
  if (found.torn_release || has_unknown(ledger) || (anything_spent && !input_is_held)) return Overlap::unknown;
  return Overlap::disjoint;
}

/// At `furthest`, or from where it is asked.
Decision begin_at(const Found& found, const Ledger& ledger, const Asked& asked, Position furthest, Overlap overlap) {
  if (asked.several_passes && !asked.from) return Refuse{Refusal::passes_need_from};
  const Position start = asked.from.value_or(furthest);
  if (start < furthest && overlap == Overlap::disjoint) overlap = Overlap::overlapping;
  return Begin{next_epoch(found, ledger), start, overlap, found.owed};
}

/// Behind releases, a ledger or a committed offset that no usable state stands for.
Decision begin_behind_remains(const Found& found, const Ledger& ledger, const Asked& asked, Keeping keeping) {
  if (keeping == Keeping::folder) {
    return begin_at(found, ledger, asked, furthest_in_folder(found, ledger), overlap_behind(found, ledger, false));
  }
  if (found.last_release && !covers(ledger, *found.last_release)) return Refuse{Refusal::spend_not_known};
  // A topic that is deleted takes the group's offsets with it: one that is left says that the log is the same.
  const Overlap overlap = found.committed_offset ? overlap_behind(found, ledger, true) : Overlap::unknown;
  const Position furthest = furthest_read(found, ledger);
  if (!found.end || furthest <= *found.end) return begin_at(found, ledger, asked, furthest, overlap);
  if (!asked.accept_gap) return Refuse{Refusal::gap, *found.end};
  return Begin{next_epoch(found, ledger), *found.end, Overlap::unknown, found.owed, true};
}

/// Behind a committed state.
Decision begin_behind_state(const Found& found, const Ledger& ledger, const Asked& asked, Position furthest,
                            bool accepted_gap) {
  const bool held = found.input == InputFound::held || found.input == InputFound::gap;
  const bool another_log = found.input == InputFound::unproven || found.input == InputFound::changed;
  const Overlap overlap = another_log ? Overlap::unknown : overlap_behind(found, ledger, held);
  Decision decision = begin_at(found, ledger, asked, furthest, overlap);
  if (Begin* begin = std::get_if<Begin>(&decision)) begin->accepted_gap = accepted_gap;
  return decision;
}

/// Where an epoch begins behind a committed state. In another log of a topic nobody can tell which records were read,
/// nor which were taken out of it for what others hold: behind all that is there.
Position behind_state(const Found& found, const Ledger& ledger, Keeping keeping) {
  if (keeping == Keeping::folder) return furthest_known(ledger, found.first);
  if (found.input == InputFound::changed && found.end) return *found.end;
  return std::max(found.position, found.first);
}

Decision with_state(const Found& found, const Ledger& ledger, const Asked& asked, Keeping keeping) {
  using NewEpoch = Asked::NewEpoch;
  const bool gap =
      found.input == InputFound::gap || found.input == InputFound::unproven || found.input == InputFound::changed;
  const Position start = behind_state(found, ledger, keeping);
  if (gap && (asked.new_epoch == NewEpoch::no || !asked.accept_gap)) return Refuse{Refusal::gap, start};
  const bool needed = found.other_settings || found.noise_is_used_up || found.users_are_lost || gap;
  if (asked.new_epoch == NewEpoch::always || (asked.new_epoch == NewEpoch::where_needed && needed)) {
    return begin_behind_state(found, ledger, asked, start, gap);
  }
  if (found.other_settings) return Refuse{Refusal::other_settings};
  if (found.other_passes) return Refuse{Refusal::other_passes};
  return GoOn{overlap_of(ledger, found.epoch)};
}

}  // namespace

Position furthest_read(const Found& found, const std::vector<LedgerEntry>& ledger) {
  Position furthest = furthest_known(ledger, Position{0});
  if (const auto& last = found.last_release) {
    const bool of_another_log = std::ranges::any_of(
        ledger, [&](const LedgerEntry& entry) { return is_unknown(entry) && entry.epoch > last->epoch; });
    if (!of_another_log) furthest = std::max(furthest, last->position);
  }
  if (found.committed_offset) furthest = std::max(furthest, *found.committed_offset);
  return std::max(furthest, found.first);
}

bool covers(const std::vector<LedgerEntry>& ledger, const journal::LastRelease& release) {
  return std::ranges::any_of(ledger, [&](const LedgerEntry& entry) {
    return entry.lane == release.lane && entry.epoch == release.epoch && entry.steps >= release.steps;
  });
}

namespace {

/// What nothing can be begun beside, not even a new epoch.
std::optional<Refusal> refused_whatever_is_asked(const Found& found) {
  using State = Found::State;
  if (found.other_kind) return Refusal::other_kind;
  if (found.state == State::foreign) return Refusal::foreign_state;
  if (found.state == State::ahead_of_ledger) return Refusal::ledger_lost;
  if (found.ledger_of_another) return Refusal::other_ledger;
  return std::nullopt;
}

/// A state that nothing goes on from, and behind which a new epoch can begin.
std::optional<Refusal> refused_to_go_on(const Found& found) {
  using State = Found::State;
  if (found.state == State::unusable) return Refusal::unusable_state;
  if (found.state == State::rolled_back) return Refusal::rolled_back_state;
  return std::nullopt;
}

}  // namespace

Decision decide(const Found& found, const std::vector<LedgerEntry>& ledger, const Asked& asked, Keeping keeping) {
  using State = Found::State;
  const bool anew = asked.new_epoch != Asked::NewEpoch::no;
  if (found.state != State::none && !asked.going_on && !anew) return Refuse{Refusal::state_is_there};
  if (found.state == State::none && found.has_remains && !anew) return Refuse{Refusal::remains_without_state};
  if (const auto refusal = refused_whatever_is_asked(found)) return Refuse{*refusal};
  if (found.behind_witness && !anew) return Refuse{Refusal::behind_witness};
  if (found.state == State::committed) return with_state(found, ledger, asked, keeping);
  if (const auto refusal = refused_to_go_on(found); refusal && !anew) return Refuse{*refusal};
  if (found.has_remains) return begin_behind_remains(found, ledger, asked, keeping);
  if (!asked.first_run) return Refuse{Refusal::nothing_to_resume};
  if (anew) return begin_at(found, ledger, asked, found.first, Overlap::disjoint);
  return Begin{EpochId{0}, found.first, Overlap::disjoint};
}

}  // namespace nustream::engine
