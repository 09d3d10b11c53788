// Lines of the ledger and the keyed chain that holds them together (docs/formats/ledger.md). What the spends come to
// is the privacy room's; here they are bytes.
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

/// An epoch's range of positions against those of the epochs before it.
enum class Overlap { disjoint, overlapping, unknown };

/// Of an epoch whose unit is the user: how its spend depends on what a user did, by which epochs that may all meet
/// the same user are charged together (nustream/users/charge.h).
struct UserSpend {
  users::Limits limits;
  /// The counts and masses of the epoch before it were those that it began with.
  bool carries_over = false;
  /// ρ of a user that contributed j times, j = 0 … k, or of k alone; empty where there is no (k, b).
  std::vector<Rho> by_count{};
  std::optional<Rho> of_mass{};  ///< of a user that used all of W; where there is one

  /// Of a line that stands in the place of all of the lane's epochs before it, since users came from other lanes.
  struct Moved {
    std::uint32_t change = 0;  ///< with which change of the lanes they came
    Rho before{0};             ///< ρ beside by_count and of_mass, whatever a user's count and mass are now
  };
  std::optional<Moved> moved{};
};

/// What an epoch is charged: what it spent so far or, of a line of a ledger that reserves, what it may have spent by
/// the next line.
struct LedgerEntry {
  std::string stream;
  LaneId lane;
  EpochId epoch;
  Position from;  ///< where the epoch began
  Position to;    ///< of the next record; of a line that reserves, as of its commit
  StepCount steps;
  Rho rho;  ///< of the worst record, rounded up
  Rho rho_limit;
  std::string settings_digest;
  privacy::Neighbours neighbours;  ///< whom rho is about
  bool is_private;
  Overlap overlap;
  std::optional<UserSpend> user{};  ///< where the neighbours differ in a user
  /// Of a line that reserves: the steps of the committed state that it follows on. It pays for those behind them, up
  /// to `steps`, of which the state alone knows how many were taken. Nothing: `steps` are taken.
  std::optional<StepCount> taken{};
  /// Of the first such line of a private run: random digits, so that two runs from one state never write the same
  /// line.
  std::string run{};
  /// The promise holds only as long as records close their quotes (stream.framing = "trusted").
  bool trusts_framing = false;
};

/// Head of an empty ledger.
inline constexpr Hash empty_ledger_head{};

/// "record", "target" or "user": what of a neighbouring stream may differ.
[[nodiscard]] std::string_view protected_by(privacy::Neighbours neighbours) noexcept;

/// The line for an entry, newline included, behind `head`. The new head is hash_of() the line. `released` is the head
/// of the lane's releases (ReleaseChain::head) as of the commit of the line, which vouches for all of them.
[[nodiscard]] std::string ledger_line(const LedgerEntry& entry, const Hash& head, const secrets::Keyring& keys,
                                      const std::optional<Hash>& released = {});
/// The same line without a place in the chain and unsigned: for what is sealed, or has a MAC of its own.
[[nodiscard]] std::string enclosed_line(const LedgerEntry& entry, const secrets::Keyring& keys);
/// What a line says, without a look at its chain or MAC: for lines from inside a sealed state. Failure(data) where it
/// is none.
[[nodiscard]] LedgerEntry read_entry(std::string_view line);
/// The line that vouches for a ledger under the key that follows: written at a rotation, under the new key, whose
/// public half the old key signs, so that whoever trusts the old one may trust the new one.
[[nodiscard]] std::string rotation_line(std::string_view stream, const Hash& head, const secrets::Keyring& old_keys,
                                        const secrets::Keyring& new_keys);

/// What somebody without the ledger key can check of a line (docs/formats/ledger.md#for-somebody-without-the-key).
struct SignedText {
  std::string text;  ///< the line's bytes up to the signature's field
  secrets::Signature signature;
};
struct UnsealedLine {
  Hash previous;
  std::optional<LedgerEntry> entry;   ///< nothing of a rotation's line
  std::optional<Hash> released;       ///< the lane's last release by cadence; lines of earlier versions name none
  std::optional<SignedText> signed_;  ///< lines of earlier versions have none
  struct HandedOn {
    secrets::PublicKey to;
    SignedText by;  ///< the key before it signed this, which names the place of the line
  };
  std::optional<HandedOn> handed_on;  ///< of a rotation's line
};
/// `line` without its newline. Failure(data) where it is no line of a ledger.
[[nodiscard]] UnsealedLine read_unsealed(std::string_view line);

/// The head that the first of these lines follows on. Failure(data) where there is none.
[[nodiscard]] Hash head_before(std::string_view lines);

/// A verified ledger.
struct Ledger {
  Hash head = empty_ledger_head;
  std::vector<LedgerEntry> epochs;  ///< the last entry of each (lane, epoch), in the order of their first lines
  /// The last line, where it reserves and a state told what was taken (settled_ledger.h).
  std::optional<LedgerEntry> reserving{};
  /// The last one of its lane and epoch from now on; the only one of its lane where users moved (UserSpend::moved).
  void keep(LedgerEntry entry);
};

/// True where a line is of another stream or lane: what it tells of is charged to other records.
[[nodiscard]] bool holds_another(const Ledger& ledger, std::string_view stream, LaneId lane);

/// Reads lines one by one and checks the chain.
class LedgerVerifier {
 public:
  explicit LedgerVerifier(const secrets::Keyring& keys) : keys_(keys) {}
  /// `line` without its newline. Failure(data) where it is no line of a ledger, does not follow on the one before,
  /// or its MAC under the present key does not fit.
  void add(std::string_view line);
  /// Where the chain stands.
  [[nodiscard]] const Hash& head() const noexcept { return ledger_.head; }
  /// Failure(permission) where the last line is under another key than the present one.
  [[nodiscard]] Ledger finish() &&;

 private:
  secrets::Keyring keys_;
  Ledger ledger_;
  bool vouched_ = true;  // the last line is under the present key
};

/// The ledger of a folder as far as its last whole line; empty where there is none. On a resume, after recover() and
/// not before: until then the ledger may lack the state's own line, hold a torn one, or, where a rotation was
/// interrupted, be under the old key; and recover() has judged it by the sealed hash already.
[[nodiscard]] Ledger read_ledger(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys);

/// The same, at the state `record` or later: with the state's own line, which a crash may have kept from the file.
/// Failure(data) where lines are missing that the state knows of: they would tell of less than was spent.
[[nodiscard]] Ledger read_committed_ledger(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys,
                                           const StateRecord& record);

/// True where the folder's ledger holds `record`'s own line, or ends right before it: whatever else happened to the
/// folder, no spend that this state knows of is lost. Failures as read_ledger().
[[nodiscard]] bool ledger_follows(Disk& disk, const Disk::Path& folder, const secrets::Keyring& keys,
                                  const StateRecord& record);

/// True where a whole line of the folder's ledger has this hash: what the ledger held when its head was that, it
/// holds now. Checks neither chain nor MACs, so that it can be asked before a resume has judged the file.
[[nodiscard]] bool ledger_holds(Disk& disk, const Disk::Path& folder, const Hash& head);

/// The entry of the line that follows on the one with this hash, in the folder's ledger or as the first of a state's
/// own `lines`; nothing where there is none, or it is a rotation's. As ledger_holds(), checks nothing; Failure(data)
/// where it is no line of a ledger.
[[nodiscard]] std::optional<LedgerEntry> entry_behind(Disk& disk, const Disk::Path& folder, const Hash& head,
                                                      std::string_view lines);

}  // namespace nustream::journal
