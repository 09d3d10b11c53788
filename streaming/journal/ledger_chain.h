// Lines of the ledger, and the keyed chain that holds them together (docs/formats/ledger.md). This room reads and
// writes them; the privacy room adds up the spends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/disk.h"
#include "journal/running_hash.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/users/limits.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// Whether an epoch's range of positions overlaps with those of the epochs before it.
enum class Overlap { disjoint, overlapping, unknown };
/// "disjoint", "overlapping" or "unknown", as the lines say it.
[[nodiscard]] std::string_view name_of(Overlap overlap) noexcept;

/// How the spend of an epoch depends on what a user contributed, where the unit is the user. Several epochs may meet
/// the same user, and are charged together by this (nustream/users/charge.h).
struct UserSpend {
  users::Limits limits;
  /// True where the epoch began with the counts and masses of the epoch before it.
  bool carries_over = false;
  /// ρ of a user that contributed j times, for j = 0 … k, or for k alone; empty where there is no limit (k, b).
  std::vector<Rho> by_count{};
  std::optional<Rho> of_mass{};  ///< ρ of a user that used all of the mass W; nothing where there is no limit W

  /// Set in a line that stands for all of the lane's epochs before it, since users came from other lanes.
  struct Moved {
    std::uint32_t change = 0;  ///< with which change of the number of lanes they came, counted from 1
    Rho before{0};             ///< ρ to be added to by_count and of_mass, whatever a user's count and mass are now
  };
  std::optional<Moved> moved{};
};

/// What an epoch is charged. That is what it has spent so far or, in a line that reserves, what it may have spent by
/// the next line.
struct LedgerEntry {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  Position from;  ///< where the epoch began
  Position to;    ///< the position of the next record, in a line that reserves as of its commit
  StepCount steps;
  Rho rho;        ///< of the record that spent most, rounded up
  Rho rho_limit;  ///< what `rho` never exceeds in this epoch
  std::string settings_digest;
  privacy::Neighbours neighbours;  ///< the neighbouring streams that rho is about
  bool is_private;
  Overlap overlap;
  std::optional<UserSpend> user{};  ///< set where the neighbours differ in a user
  /// Set in a line that reserves: the steps of the committed state before it. The line pays for all steps behind
  /// those, up to `steps`, and only the state knows how many of them were taken. Where it is not set, exactly `steps`
  /// were taken.
  std::optional<StepCount> taken{};
  /// Random digits in the first such line of a private run, and in the line of an epoch of one step, so that two runs
  /// from one state never write the same line. In a line of which only a witness knew: the first digits of the ledger
  /// head that this witness tells.
  std::string run{};
  /// The promise holds only as long as records close their quotes (stream.framing = "trusted").
  bool trusts_framing = false;
};

/// Makes the entry charge all that its epoch can ever spend, over records that nobody knows. Where the unit is the
/// user, every user is charged as one that used up its limits, beside all epochs before.
void charge_limit(LedgerEntry& entry);
/// Makes `entry` charge for `other` too, a line of the same number. Under the same settings both are lines of one
/// epoch, which the dearer of them pays for. Under other settings they are of two epochs, which two copies of a
/// folder ran, and their spends add up. Throws Failure(data) where the promises of two epochs are about different
/// neighbours, so that no sum says anything.
void charge_beside(LedgerEntry& entry, const LedgerEntry& other);

/// The head of an empty ledger.
inline constexpr Hash empty_ledger_head{};

/// "record", "target" or "user": in what a neighbouring stream may differ.
[[nodiscard]] std::string_view protected_by(privacy::Neighbours neighbours) noexcept;

/// The line for an entry, newline included, that follows on `head`. The new head is hash_of() the line. `released` is
/// the head of the lane's releases (ReleaseChain::head) as of the commit of the line; by naming it, the line vouches
/// for all releases up to there.
[[nodiscard]] std::string ledger_line(const LedgerEntry& entry, const Hash& head, const secrets::Keyring& keys,
                                      const std::optional<Hash>& released = {});
/// The same line, unsigned and without a place in the chain. It stands in a sealed state or in a witness, which vouch
/// for it.
[[nodiscard]] std::string enclosed_line(const LedgerEntry& entry, const secrets::Keyring& keys);
/// What a line says. Neither its chain nor its MAC is checked. So this function is for lines that something else
/// vouches for, such as a sealed state. Throws Failure(data) where it is no line of a ledger.
[[nodiscard]] LedgerEntry read_entry(std::string_view line);
/// The line that a rotation of the key writes. It is under the new key, and so vouches for the ledger under that key.
/// The old key signs the new one's public half, so that a reader who trusts the old key may trust the new one.
[[nodiscard]] std::string rotation_line(std::string_view stream, const Hash& head, const secrets::Keyring& old_keys,
                                        const secrets::Keyring& new_keys);

/// A signed part of a line, which somebody without the ledger key can check
/// (docs/formats/ledger.md#for-somebody-without-the-key).
struct SignedText {
  std::string text;  ///< the line's bytes up to the signature's field
  secrets::Signature signature;
};
/// A line as somebody without the ledger key reads it.
struct UnsealedLine {
  Hash previous;
  std::optional<LedgerEntry> entry;   ///< nothing for a rotation's line
  std::optional<Hash> released;       ///< the lane's last release by cadence; lines of earlier versions name none
  std::optional<SignedText> signed_;  ///< lines of earlier versions have none
  struct HandedOn {
    secrets::PublicKey to;
    SignedText by;  ///< the key before it signed this, which names the place of the line
  };
  std::optional<HandedOn> handed_on;  ///< set for a rotation's line; those of earlier versions have none
};
/// Reads a line, which is given without its newline. Throws Failure(data) where it is no line of a ledger.
[[nodiscard]] UnsealedLine read_unsealed(std::string_view line);

/// The head that the first of these lines follows on. Throws Failure(data) where there is none.
[[nodiscard]] Hash head_before(std::string_view lines);

/// A verified ledger.
struct Ledger {
  Hash head = empty_ledger_head;
  std::vector<LedgerEntry> epochs;  ///< the last entry of each (lane, epoch), in the order of their first lines
  /// The last line, where it reserves steps and a state told how many of them were taken (settle()).
  std::optional<LedgerEntry> reserving{};
  /// Makes `entry` the last one of its lane and epoch. Where users moved (UserSpend::moved), it replaces all entries
  /// of its lane.
  void keep(LedgerEntry entry);
};

/// True where a line is of another stream or lane, and so charges other records.
[[nodiscard]] bool holds_another(const Ledger& ledger, std::string_view stream, LaneId lane);

/// Whether the ledger says that an epoch of users began with the counts of the one before.
[[nodiscard]] bool began_with_counts(const Ledger& ledger, EpochId epoch);

/// Reads the lines of a ledger one by one and checks their chain.
class LedgerVerifier {
 public:
  explicit LedgerVerifier(const secrets::Keyring& keys) : keys_(keys) {}
  /// Adds a line, which is given without its newline. Throws Failure(data) where it is no line of a ledger, does not
  /// follow the line before, or has a wrong MAC under the present key.
  void add(std::string_view line);
  /// The head of the chain after the lines so far.
  [[nodiscard]] const Hash& head() const noexcept { return ledger_.head; }
  /// The ledger. Throws Failure(permission) where the last line is under another key than the present one.
  [[nodiscard]] Ledger finish() &&;

 private:
  secrets::Keyring keys_;
  Ledger ledger_;
  bool vouched_ = true;  // the last line is under the present key
};

/// Reads the ledger of a folder up to its last whole line; empty where there is none. On a resume it is called after
/// recover(), which has judged the file by the sealed hash. Before that, the file may lack the state's own line, hold
/// a torn line, or, after an interrupted rotation, be under the old key. Throws as LedgerVerifier does.
[[nodiscard]] Ledger read_ledger(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys);

/// Reads the ledger of a folder as of the state `record` or later. It adds the state's own lines, which a crash may
/// have kept from the file. Throws also Failure(data) where lines are missing that the state knows of, since the
/// ledger would then tell of less than was spent.
[[nodiscard]] Ledger read_committed_ledger(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys,
                                           const StateRecord& record);

/// True where the folder's ledger holds the last of `record`'s own lines, or ends where they can be added. Then no
/// spend that this state knows of is lost, whatever else happened to the folder. Throws as read_ledger().
[[nodiscard]] bool ledger_follows(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys,
                                  const StateRecord& record);

/// True where a whole line of the folder's ledger has the hash `head`. Then nothing of the ledger is missing that was
/// in it when `head` was its head. Checks neither chain nor MACs, so that it can be asked before a resume has judged
/// the file.
[[nodiscard]] bool ledger_holds(Disk& disk, const Disk::Path& folder, const Hash& head);

/// The entry of the line that follows on the line with the hash `head`, in the folder's ledger or as the first of a
/// state's own `lines`. Nothing where there is no such line, or where it is a rotation's. As ledger_holds() it checks
/// neither chain nor MACs. Throws Failure(data) where it is no line of a ledger.
[[nodiscard]] std::optional<LedgerEntry> entry_behind(Disk& disk, const Disk::Path& folder, const Hash& head,
                                                      std::string_view lines);

/// The entries of lines without a chain, as a state keeps them (StateRecord::ledger_epochs). Throws Failure(data)
/// where one is no line of a ledger.
[[nodiscard]] std::vector<LedgerEntry> read_entries(std::string_view lines);
/// Such lines for `entries`, in their order.
[[nodiscard]] std::string enclosed_lines(const std::vector<LedgerEntry>& entries, const secrets::Keyring& keys);

/// Sets the epochs of `ledger` to what the committed state `record` knows that they have spent. `ledger` has to end
/// with that state's own line; if the line reserves steps, it is kept in Ledger::reserving. A state of an earlier
/// version does not know the spends, and the ledger stays as it is: the lines of those versions say what was taken.
void settle(Ledger& ledger, const StateRecord& record);

}  // namespace nustream::journal
