// Decides what becomes of a lane when it is opened: it goes on, begins an epoch, or is refused. The decision is a
// pure function: the room that opens a lane gathers what is found in its folder or topics, and acts on what is
// decided here.
//
// An epoch is a stretch of steps under one key and one correlation. Its ledger line says over which records it
// spends, and whether an earlier epoch may have read some of them. If so, or if nobody can tell, a record is charged
// for both epochs (docs/formats/ledger.md). For example, an epoch from record 0 on after one that read records 0 to
// 99 overlaps.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "journal/last_release.h"
#include "journal/ledger_chain.h"
#include "nustream/base/units.h"

namespace nustream::engine {

/// Where the lane is kept. The two differ in what a crash may take from them, and in what a position means.
enum class Keeping {
  /// In files. A power failure may keep a release and lose its ledger line, so that the release itself has to tell
  /// what is owed. A position is the ordinal of a record in the file that was given. Even where nobody compared the
  /// file with the one that was read, positions say how far an epoch has read.
  folder,
  /// In topics. A release and its ledger line are written in one transaction, so that a release without a line means
  /// that the line was lost later. A position is an offset. An epoch of unknown overlap began over another log, and
  /// offsets of that log say nothing about this one.
  topics
};

/// What the command that opens the lane asks for.
struct Asked {
  enum class NewEpoch {
    no,
    /// A new epoch begins only where the lane cannot go on: the settings have another digest, the noise is used up,
    /// records are gone, there is no usable state, or nobody knows what its users used up.
    where_needed,
    always
  };
  bool first_run = true;  ///< a lane without any past may begin
  bool going_on = true;   ///< a lane with a committed state may go on
  NewEpoch new_epoch = NewEpoch::no;
  bool stands_for_resume = false;  ///< the new epoch is refused where a resume would be
  bool accept_gap = false;         ///< records that are gone, or another log, are accepted
  bool several_passes = false;     ///< the run reads its window of the input more than once
  std::optional<Position> from{};  ///< where a new epoch is to begin, whatever was read before
};

/// What is known of the input that the lane has read.
enum class InputFound {
  held,       ///< it is the input that was read, or nothing says otherwise
  not_known,  ///< nobody compared it
  gap,        ///< it is the input that was read, but records right behind the position are gone
  unproven,   ///< nothing is left that could tell whether it is
  changed     ///< it is another input
};

/// What is found of a lane.
struct Found {
  enum class State {
    none,
    /// It does not open, although it is this lane's and this key's: it is damaged, or of other settings where no new
    /// epoch may begin.
    unusable,
    foreign,          ///< it is of another stream, lane, key or kind
    ahead_of_ledger,  ///< it opens, and alone knows of spends that the ledger has lost
    rolled_back,      ///< it opens, but later releases are public already
    committed
  };
  State state = State::none;
  // The next are of a committed state:
  EpochId epoch{0};
  Position position{0};         ///< one past the furthest record that it has read
  bool other_settings = false;  ///< it is of other settings than those that are asked for
  /// All steps of a finite correlation are taken, or its state has no room for the segment that a resume begins.
  bool noise_is_used_up = false;
  bool users_are_lost = false;  ///< in topics: nobody knows any more what its users used up
  bool other_passes = false;    ///< its passes are over another window of the input
  InputFound input = InputFound::held;
  // The next are of what lies beside the state:
  /// A witness outside the folder tells of a commit that neither state nor ledger holds: they are older, another
  /// copy's, or gone. What the witness knows to be spent is in the ledger that decide() is given.
  bool behind_witness = false;
  bool other_kind = false;   ///< private releases or state for a run that is not private, or the other way round
  bool has_remains = false;  ///< there are releases, ledger lines, a committed offset, or spends that a witness knows
  std::optional<journal::LastRelease> last_release{};
  std::optional<journal::LedgerEntry> owed{};  ///< a spend that the releases show and the ledger does not
  bool torn_release = false;                   ///< a release is left in part: nobody knows how far it had read
  std::optional<Position> committed_offset{};  ///< the consumer group's
  /// In topics: where users come from other lanes, the most that any of them spent there. Its lane is this one.
  std::optional<journal::LedgerEntry> moved{};
  // The next are of the input as it is now:
  Position first{0};               ///< its first record, or the first of the window that is asked for
  std::optional<Position> end{};   ///< one past its last record, where that bounds what can be begun
  bool ledger_of_another = false;  ///< a ledger line is of another stream or lane
  /// Under these settings a position may stand for another record than it did in the ledger's epochs.
  bool is_renumbered = false;
};

enum class Refusal {
  state_is_there,  ///< a first run is asked for, and there is a state
  nothing_to_resume,
  remains_without_state,  ///< there is public output without a state, and nobody has asked for a new epoch
  unusable_state,
  foreign_state,
  ledger_lost,
  rolled_back_state,
  behind_witness,
  other_kind,
  other_settings,
  other_passes,
  other_ledger,
  spend_not_known,   ///< a release is public whose spend no ledger line tells
  passes_need_from,  ///< every pass reads its window from the beginning, and --from has to say where that is
  gap                ///< records are gone or the log is another one, and nobody has accepted that
};

struct GoOn {
  journal::Overlap overlap;  ///< as the epoch's line in the ledger has it
};
struct Begin {
  EpochId epoch;
  Position start;
  journal::Overlap overlap;
  std::optional<journal::LedgerEntry> owed{};  ///< a line to be written before the epoch's first one
  bool accepted_gap = false;                   ///< records that nobody has read may be passed over
};
struct Refuse {
  Refusal reason;
  Position start{0};  ///< for Refusal::gap: where an epoch would begin that accepts the gap
};
using Decision = std::variant<GoOn, Begin, Refuse>;

/// Decides by what was `found`, by the `ledger`, and by what is `asked`. `ledger` holds the last line of each epoch,
/// in the order of their first lines; it is the state's own where there is a state. A lane without any past begins
/// epoch 0 at found.first.
///
/// It may be called early, with a part of what there is to find. A Refuse then stands whatever is found later, so
/// that nothing has to be published for a run that is refused. Any other decision is only valid once all is found.
[[nodiscard]] Decision decide(const Found& found, const std::vector<journal::LedgerEntry>& ledger, const Asked& asked,
                              Keeping keeping);

/// The lines that have to stand in the ledger before the first one of an epoch that begins, in their order: `lost`,
/// which are spends that a witness outside the folder knows and `ledger` does not hold; and `owed`, of Begin.
///
/// Before these comes a line that closes the last epoch of `ledger`, if that epoch's line reserves steps that were
/// perhaps never taken: `ledger`, settled by the epoch's state, knows how many were. There is no such line where
/// `owed` is of the same epoch, since it takes its place; nor where any line is lost, since the state then is an
/// older one, which knows of fewer steps than were taken.
[[nodiscard]] std::vector<journal::LedgerEntry> lines_before_epoch(const journal::Ledger& ledger,
                                                                   const std::vector<journal::LedgerEntry>& lost,
                                                                   const std::optional<journal::LedgerEntry>& owed);

/// How far a lane in topics has read, where it has no state: the furthest position of its ledger, its last release
/// and the group's committed offset, but not before the first record that is there.
[[nodiscard]] Position furthest_read(const Found& found, const std::vector<journal::LedgerEntry>& ledger);

/// Whether any line of the ledger tells the spend of the release.
[[nodiscard]] bool covers(const std::vector<journal::LedgerEntry>& ledger, const journal::LastRelease& release);

}  // namespace nustream::engine
