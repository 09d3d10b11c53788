// The decision, built from small functions over what was found: first the refusals, which stand whatever is found
// later; then lanes with a state, lanes with remains alone, and lanes without a past. No function here reads a file
// or a topic, so that tests can go through all cases.
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

/// The number of a new epoch: behind every epoch that state, ledger, releases or an owed spend tell of, so that no
/// number is used twice.
EpochId next_epoch(const Found& found, const Ledger& ledger) {
  std::uint32_t next = found.state == Found::State::committed ? found.epoch.value() + 1 : 0;
  const auto behind = [&next](EpochId known) { next = std::max(next, known.value() + 1); };
  for (const LedgerEntry& entry : ledger) behind(entry.epoch);
  if (found.last_release) behind(found.last_release->epoch);
  if (found.owed) behind(found.owed->epoch);
  return EpochId{next};
}

/// How far the epochs of the ledger have read, and at least `first`. An epoch of unknown overlap may have begun over
/// another input, to which the positions of earlier epochs say nothing. So only that epoch and those behind it count.
Position furthest_known(const Ledger& ledger, Position first) {
  Position furthest = first;
  for (const LedgerEntry& entry : ledger) {
    if (is_unknown(entry)) furthest = Position{0};
    furthest = std::max(furthest, entry.to);
  }
  return furthest;
}

/// How far a lane in a folder has read, by whatever is left of it.
Position furthest_in_folder(const Found& found, const Ledger& ledger) {
  Position furthest = found.owed ? found.owed->to : found.first;
  for (const LedgerEntry& entry : ledger) furthest = std::max(furthest, entry.to);
  return furthest;
}

/// The overlap of an epoch that begins behind all others. It is unknown where positions say nothing: an earlier
/// epoch's overlap is unknown, a release is torn, records are numbered anew, or something was spent and nobody
/// compared the input with what was read.
Overlap overlap_behind(const Found& found, const Ledger& ledger, bool input_is_held) {
  const bool anything_spent = found.owed || !ledger.empty();
  if (found.torn_release || found.is_renumbered || has_unknown(ledger) || (anything_spent && !input_is_held))
    return Overlap::unknown;
  return Overlap::disjoint;
}

/// Begins an epoch at `furthest`, or where `asked` says. If that is before `furthest`, the epoch overlaps.
Decision begin_at(const Found& found, const Ledger& ledger, const Asked& asked, Position furthest, Overlap overlap) {
  if (asked.several_passes && !asked.from) return Refuse{Refusal::passes_need_from};
  const Position start = asked.from.value_or(furthest);
  if (start < furthest && overlap == Overlap::disjoint) overlap = Overlap::overlapping;
  return Begin{next_epoch(found, ledger), start, overlap, found.owed};
}

/// Begins an epoch behind releases, a ledger or a committed offset where there is no usable state.
Decision begin_behind_remains(const Found& found, const Ledger& ledger, const Asked& asked, Keeping keeping) {
  if (keeping == Keeping::folder) {
    return begin_at(found, ledger, asked, furthest_in_folder(found, ledger), overlap_behind(found, ledger, false));
  }
  // In topics no release is published without a line that pays for it. One without a line means that lines were lost
  // later, and nobody knows what else they told.
  if (found.last_release && !covers(ledger, *found.last_release)) return Refuse{Refusal::spend_not_known};
  // Whoever deletes a topic deletes the group's offsets for it. So an offset that is left says that the log is the
  // same.
  const Overlap overlap = found.committed_offset ? overlap_behind(found, ledger, true) : Overlap::unknown;
  const Position furthest = furthest_read(found, ledger);
  // The topic ends before what was read: it is another log, or it was cut. Nobody can tell which of its records were
  // read before, so that such an epoch begins at its end and is charged to every record.
  if (!found.end || furthest <= *found.end) return begin_at(found, ledger, asked, furthest, overlap);
  if (!asked.accept_gap) return Refuse{Refusal::gap, *found.end};
  return Begin{next_epoch(found, ledger), *found.end, Overlap::unknown, found.owed, true};
}

/// Begins an epoch behind a committed state. Where nothing shows that the log is the one that was read, an overlap
/// cannot be ruled out.
Decision begin_behind_state(const Found& found, const Ledger& ledger, const Asked& asked, Position furthest,
                            bool accepted_gap) {
  const bool held = found.input == InputFound::held || found.input == InputFound::gap;
  const bool another_log = found.input == InputFound::unproven || found.input == InputFound::changed;
  const Overlap overlap = another_log ? Overlap::unknown : overlap_behind(found, ledger, held);
  Decision decision = begin_at(found, ledger, asked, furthest, overlap);
  if (Begin* begin = std::get_if<Begin>(&decision)) begin->accepted_gap = accepted_gap;
  return decision;
}

/// The line that is owed where users come from other lanes, for all epochs before the one that begins at `start`: no
/// user has spent more than it says. It takes the place of the ledger's last epoch. A lane without any gets an epoch
/// 0 for it.
LedgerEntry line_of_moved(const LedgerEntry& moved, const Ledger& ledger, Position start) {
  LedgerEntry owed = moved;
  owed.epoch = EpochId{0};
  owed.from = owed.to = start;
  owed.overlap = Overlap::disjoint;
  if (ledger.empty()) return owed;
  const LedgerEntry& last = ledger.back();
  owed.steps = std::max(owed.steps, last.steps);
  owed.epoch = last.epoch;
  owed.from = last.from;
  owed.overlap = last.overlap;
  return owed;
}

/// The same decision, with the line that is owed where users come from other lanes. An epoch that begins is behind
/// that line's.
Decision with_moved_users(Decision decision, const Found& found, const Ledger& ledger) {
  Begin* const begin = std::get_if<Begin>(&decision);
  if (begin == nullptr || !found.moved) return decision;
  begin->owed = line_of_moved(*found.moved, ledger, begin->start);
  begin->epoch = std::max(begin->epoch, EpochId{begin->owed->epoch.value() + 1});
  return decision;
}

/// Where an epoch begins behind a committed state. In a folder that is behind what any epoch has read; in a topic it
/// is the state's position. Where the topic has another log, nobody can tell which of its records were read before,
/// nor which are missing from it, so that the epoch begins behind all records that are there.
Position behind_state(const Found& found, const Ledger& ledger, Keeping keeping) {
  if (keeping == Keeping::folder) return furthest_known(ledger, found.first);
  if (found.input == InputFound::changed && found.end) return *found.end;
  return std::max(found.position, found.first);
}

/// Decides about a lane with a committed state: a gap has to be accepted first, then it begins an epoch where that is
/// asked for (and, with where_needed, needed), and otherwise goes on if settings and passes are those of the state.
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
  // Without a new epoch the state's own settings have to hold: σ and the correlation are part of what was promised.
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
    if (entry.lane != release.lane || entry.epoch != release.epoch || entry.steps < release.steps) return false;
    // A line of moved users stands for epochs of other lanes and settings too.
    if (entry.user && entry.user->moved) return true;
    const bool is_same = release.digest.empty() || release.digest == entry.settings_digest;
    return is_same && (!release.rho || *release.rho <= entry.rho);
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

/// A refusal that stands whatever is found later. decide() may be asked early, with a part of what there is to find.
std::optional<Refusal> refused(const Found& found, const Asked& asked) {
  const bool anew = asked.new_epoch != Asked::NewEpoch::no;
  const bool is_there = found.state != Found::State::none;
  if (is_there && !asked.going_on && !anew) return Refusal::state_is_there;
  if (!is_there && found.has_remains && !anew) return Refusal::remains_without_state;
  if (const auto refusal = refused_whatever_is_asked(found)) return refusal;
  if (anew && !asked.stands_for_resume) return std::nullopt;
  if (found.behind_witness) return Refusal::behind_witness;
  return refused_to_go_on(found);
}

/// What becomes of a lane that is not refused at once, but for users who come from other lanes.
Decision with_what_is_found(const Found& found, const Ledger& ledger, const Asked& asked, Keeping keeping) {
  if (found.state == Found::State::committed) return with_state(found, ledger, asked, keeping);
  if (found.has_remains) return begin_behind_remains(found, ledger, asked, keeping);
  // From here on there is no state and nothing that was published or spent.
  if (!asked.first_run) return Refuse{Refusal::nothing_to_resume};
  if (asked.new_epoch == Asked::NewEpoch::no) return Begin{EpochId{0}, found.first, Overlap::disjoint};
  return begin_at(found, ledger, asked, found.first, Overlap::disjoint);
}

}  // namespace

std::vector<LedgerEntry> lines_before_epoch(const journal::Ledger& ledger, const std::vector<LedgerEntry>& lost,
                                            const std::optional<LedgerEntry>& owed) {
  std::vector<LedgerEntry> lines = lost;
  if (owed) lines.push_back(*owed);
  // See the header: a lost line, or an owed one of the same epoch, says at least as much as a closing line would.
  if (!ledger.reserving || !lost.empty()) return lines;
  const LedgerEntry& last = ledger.epochs.back();
  if (!owed || owed->epoch != last.epoch) lines.insert(lines.begin(), last);
  return lines;
}

Decision decide(const Found& found, const std::vector<LedgerEntry>& ledger, const Asked& asked, Keeping keeping) {
  if (const auto refusal = refused(found, asked)) return Refuse{*refusal};
  return with_moved_users(with_what_is_found(found, ledger, asked, keeping), found, ledger);
}

}  // namespace nustream::engine
