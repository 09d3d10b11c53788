// What becomes of a lane when it is opened: it goes on, begins an epoch, or is refused. Pure: whoever opens a lane
// gathers what is found in its folder or topics, and acts on what is decided here.
//
// An epoch is a stretch of steps under one key and one correlation. Its ledger line says over which records it
// spends, and whether an earlier epoch may have read some of them: where that is so, or where nobody can tell, a
// record is charged for both (docs/formats/ledger.md).
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
  /// Files. A power failure may keep a release and lose its ledger line, so that the release itself says what is
  /// owed.
  /// Positions are ordinals of whatever file was given: behind records that nobody compared they still say how far
  /// any epoch has read.
  folder,
  /// Topics. A release and its ledger line are of one transaction: a release without a line is a loss. Positions are
  /// offsets, and an epoch of unknown overlap began over another log, whose offsets say nothing of this one.
  topics
};

/// What whoever opens the lane asks for.
struct Asked {
  enum class NewEpoch {
    no,
    where_needed,  ///< where the lane cannot go on: another settings digest, used-up noise, a gap, no usable state,
                   ///< or none of what its users used up
    always
  };
  bool first_run = true;  ///< a lane without any past may begin
  bool going_on = true;   ///< a committed state may be gone on with
  NewEpoch new_epoch = NewEpoch::no;
  bool accept_gap = false;  ///< records that are gone, or another log, are accepted
  bool several_passes = false;
  std::optional<Position> from{};  ///< where a new epoch is to begin, whatever was read before
};

/// What is known of the input that the lane has read.
enum class InputFound {
  held,       ///< it is the one that was read, or there is nothing that says otherwise
  not_known,  ///< nobody compared it
  gap,        ///< it is, but records right behind the position are gone
  unproven,   ///< nothing is left that could tell
  changed     ///< it is another one
};

/// What is found of a lane.
struct Found {
  enum class State {
    none,
    unusable,  ///< does not open, although it is this lane's and this key's: damaged, or of other settings where
               ///< no new epoch may begin
    foreign,   ///< of another stream, lane, key or kind
    ahead_of_ledger,  ///< opens, and knows of spends that the ledger has lost and nobody else knows
    rolled_back,      ///< opens, and what is public has gone on beyond it
    committed
  };
  State state = State::none;
  // Of a committed one:
  EpochId epoch{0};
  Position position{0};         ///< one past the furthest record that it has read
  bool other_settings = false;  ///< than those that are asked for
  /// All steps of a finite correlation are taken, or its state has no room for the segment that a resume begins.
  bool noise_is_used_up = false;
  bool users_are_lost = false;  ///< of a topic: nobody knows what its users used up
  bool other_passes = false;    ///< its passes are over another window
  InputFound input = InputFound::held;
  // Of whatever lies beside it:
  /// A witness outside the folder tells of a commit that neither state nor ledger holds: they are older, another
  /// copy's, or gone. What it knows to be spent is in the ledger that decide() is given.
  bool behind_witness = false;
  bool other_kind = false;   ///< private releases or state for a run that is not private, or the other way round
  bool has_remains = false;  ///< releases, ledger lines or a committed offset; or spends that a witness knows of
  std::optional<journal::LastRelease> last_release{};
  std::optional<journal::LedgerEntry> owed{};  ///< a spend that the releases show and the ledger does not
  bool torn_release = false;                   ///< of a release only a part is left: it may have read further
  std::optional<Position> committed_offset{};  ///< the consumer group's
  // Of the input now:
  Position first{0};               ///< its first record, or the first of the window that is asked for
  std::optional<Position> end{};   ///< one past its last record, where that bounds what can be begun
  bool ledger_of_another = false;  ///< a ledger line is of another stream or lane
};

enum class Refusal {
  state_is_there,  ///< a first run over a state
  nothing_to_resume,
  remains_without_state,  ///< what is public would be begun anew without saying so
  unusable_state,
  foreign_state,
  ledger_lost,
  rolled_back_state,
  behind_witness,
  other_kind,
  other_settings,
  other_passes,
  other_ledger,
  spend_not_known,   ///< a release is out that no ledger line vouches for
  passes_need_from,  ///< every pass reads the window from its beginning, which has to be said
  gap                ///< records are gone or the log is another one, and nobody has accepted that
};

struct GoOn {
  journal::Overlap overlap;  ///< of the epoch's line in the ledger
};
struct Begin {
  EpochId epoch;
  Position start;
  journal::Overlap overlap;
  std::optional<journal::LedgerEntry> owed{};  ///< goes in front of the epoch's first line
  bool accepted_gap = false;                   ///< records that nobody has read are passed over, or read again
};
struct Refuse {
  Refusal reason;
  Position start{0};  ///< of Refusal::gap: where an epoch would begin that accepts it
};
using Decision = std::variant<GoOn, Begin, Refuse>;

/// `ledger`: the last line of each epoch, in the order of their first lines; the state's own one where there is a
/// state. A lane without any past begins epoch 0 at found.first.
///
/// May be asked early, with a part of what there is to find: a Refuse stands whatever is found later, so that nothing
/// has to be published for a run that is refused. Anything else is only good once all is found.
[[nodiscard]] Decision decide(const Found& found, const std::vector<journal::LedgerEntry>& ledger, const Asked& asked,
                              Keeping keeping);

/// How far a lane in topics has read by what remains of it without a state: the furthest of its ledger, its last
/// release and the committed offset, and not before the first record that is there.
[[nodiscard]] Position furthest_read(const Found& found, const std::vector<journal::LedgerEntry>& ledger);

/// Whether any line vouches for a release's spend.
[[nodiscard]] bool covers(const std::vector<journal::LedgerEntry>& ledger, const journal::LastRelease& release);

}  // namespace nustream::engine
