// A lane's committed state: what it holds, its canonical bytes (docs/formats/state.md), sealing and opening them, and
// the marks of records that it has seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "journal/running_hash.h"
#include "nustream/base/units.h"
#include "nustream/noise/source.h"
#include "secrets/seal.h"

namespace nustream::journal {

/// The checkpoints of a lane's noise, one for each stage. They hold keys, and are wiped when they are destroyed. They
/// cannot be copied by accident, so that no copy is forgotten.
struct NoiseCheckpoints {
  std::vector<noise::Checkpoint> stages;
  /// True for checkpoints from a state of an earlier version, where Segment::first is the number of a block, not of a
  /// step.
  bool in_blocks = false;

  NoiseCheckpoints() = default;
  explicit NoiseCheckpoints(noise::Checkpoint only);
  ~NoiseCheckpoints() { wipe(); }
  NoiseCheckpoints(NoiseCheckpoints&& other) noexcept;
  NoiseCheckpoints& operator=(NoiseCheckpoints&& other) noexcept;
  NoiseCheckpoints(const NoiseCheckpoints&) = delete;
  NoiseCheckpoints& operator=(const NoiseCheckpoints&) = delete;
  /// A copy, made on purpose.
  [[nodiscard]] NoiseCheckpoints clone() const;

 private:
  void wipe() noexcept;
};

/// A copy of one stage's checkpoint, of the given `dimension`, with Segment::first counted in steps. The caller wipes
/// it.
[[nodiscard]] noise::Checkpoint in_steps(const NoiseCheckpoints& checkpoints, std::size_t stage,
                                         std::size_t dimension);
void wipe(noise::Checkpoint& checkpoint) noexcept;

/// The checkpoints for the first step of a fresh epoch, for stages 0 … count − 1. The caller wipes `epoch_key`.
[[nodiscard]] NoiseCheckpoints first_checkpoints(const noise::KeyBytes& epoch_key, LaneId lane, EpochId epoch,
                                                 std::size_t count);

/// A mark of a record of the input as it was when it was read. It tells whether the input still holds the same
/// record.
struct SeenRecord {
  Position position;  ///< its own ordinal or offset
  Hash mac{};         ///< a keyed hash of everything that the record holds
  friend bool operator==(const SeenRecord&, const SeenRecord&) = default;
};

/// Random bits that identify a state folder for its witness. They are kept in the folder's state, so that they move
/// and are copied with it. They are zero where no witness is kept: for topics, and in states of earlier versions.
using AccountId = std::array<std::uint8_t, 16>;

/// What a state holds of users, where the unit is the user: their key, which outlives epochs, and how far their store
/// has come (docs/formats/users.md). The key is wiped when this is destroyed.
struct UsersOfState {
  noise::KeyBytes key{};
  std::string mark{};      ///< users::append_mark()
  std::string identity{};  ///< config::Users::identity, which states of earlier versions hold as the column alone
  // The lane's clock, where limits hold within windows of time (users::WindowClock):
  std::optional<std::int64_t> latest{};  ///< milliseconds since 1970; empty before the first time
  std::optional<std::int64_t> window{};  ///< the window of the last step

  UsersOfState() = default;
  ~UsersOfState() { noise::wipe(key); }
  UsersOfState(const UsersOfState&) = default;
  UsersOfState& operator=(const UsersOfState&) = default;
};

/// Everything that a resume needs, except stream, lane, epoch, step and settings digest, which are in the seal
/// (secrets::StateIdentity).
struct StateRecord {
  Position position{0};          ///< of the next record
  Position start{0};             ///< where the epoch began
  std::optional<Position> stop;  ///< where the lane ends, resolved once; nothing where it has no end
  std::uint64_t rejected = 0;    ///< records so far that could not be used; for the operator alone
  std::string lane;              ///< Lane::encode()
  NoiseCheckpoints noise;
  std::string outbox;                   ///< the batch's releases
  std::string ledger_entry;             ///< in a folder, the batch's ledger lines, mostly none; in topics empty
  std::string bookmark;                 ///< Journal::bookmark() right before the commit
  Hash ledger_head{};                   ///< the head of the ledger behind this batch's lines
  StepCount released{0};                ///< steps of the epoch's last release, those of the outbox included
  std::string ledger_epochs{};          ///< what each epoch has spent, this one included (enclosed_lines())
  std::uint32_t partitions = 0;         ///< how many the input topic had when the lane began
  std::vector<SeenRecord> seen{};       ///< of a topic, the last records before `position`; of files, see add_mark()
  std::string stop_asked{};             ///< what `stop` was resolved from, where the input is a topic
  Hash seen_key{};                      ///< the key of the marks in `seen`, where the input are files
  AccountId account{};                  ///< identifies the folder for its witness; zeros where there is none
  std::string settings{};               ///< the text behind the settings digest; empty in earlier versions' states
  std::string ranges{};                 ///< settings that were measured, where any were (config/ranges.h); else empty
  Hash release_head{};                  ///< ReleaseChain::head, behind the outbox (release_chain.h)
  std::optional<UsersOfState> users{};  ///< set where the unit is the user and a store of them is kept

  [[nodiscard]] Recovery recovery() const { return {bookmark, outbox, ledger_entry}; }
};

/// The canonical bytes of a record: equal records give equal bytes. They hold keys. seal() encrypts them in place;
/// any other caller has to wipe them.
[[nodiscard]] std::string encode_record(const StateRecord& record);
/// The record whose encode_record() gave `bytes`. Throws Failure(data) where there is none. The caller wipes `bytes`.
[[nodiscard]] StateRecord decode_record(std::string_view bytes);

/// How many marks a state keeps.
inline constexpr std::size_t marks_kept = 8;

/// The mark of the record at `position`, which held `bytes`: keyed BLAKE2b-256 (docs/formats/state.md).
[[nodiscard]] Hash record_mark(Position position, std::string_view bytes, std::span<const std::uint8_t, 32> key);

/// Appends a mark, if it is behind all others; otherwise does nothing. Where there are then more than marks_kept, the
/// mark is removed that leaves the smallest gap between its neighbours. So the first and the last mark stay, and the
/// others remain spread over the positions between them.
void add_mark(const SeenRecord& mark, std::vector<SeenRecord>& marks);

/// A state that was opened and decoded.
struct State {
  secrets::StateIdentity identity;
  StateRecord record;
};

/// Seals the record, for Batch::sealed_state. No plain copy of it is left in memory.
[[nodiscard]] std::string seal_state(const secrets::Keyring& keys, const secrets::StateIdentity& identity,
                                     const StateRecord& record);

/// Opens a sealed state. Throws as secrets::open() where it is not what is `expected`; a state that is not private is
/// never opened as a private one, nor the other way round.
[[nodiscard]] State open_state(const secrets::Keyring& keys, std::string_view sealed,
                               const secrets::ExpectedIdentity& expected);
/// Opens a state whatever its identity is, to look at it or to rotate its key.
[[nodiscard]] State open_state(const secrets::Keyring& keys, std::string_view sealed);

}  // namespace nustream::journal
