// What a committed state holds, and its canonical bytes before sealing (docs/formats/state.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "journal/running_hash.h"
#include "nustream/base/units.h"
#include "nustream/noise/source.h"

namespace nustream::journal {

/// Checkpoints of a lane's noise, one a stage; wiped when they go. Not copyable, so that no copy is forgotten.
struct NoiseCheckpoints {
  std::vector<noise::Checkpoint> stages;
  /// Of a state of an earlier version, which does not know the dimensions: Segment::first is the number of a block.
  bool in_blocks = false;

  NoiseCheckpoints() = default;
  explicit NoiseCheckpoints(noise::Checkpoint only);
  ~NoiseCheckpoints() { wipe(); }
  NoiseCheckpoints(NoiseCheckpoints&& other) noexcept;
  NoiseCheckpoints& operator=(NoiseCheckpoints&& other) noexcept;
  NoiseCheckpoints(const NoiseCheckpoints&) = delete;
  NoiseCheckpoints& operator=(const NoiseCheckpoints&) = delete;
  /// A copy that is asked for.
  [[nodiscard]] NoiseCheckpoints clone() const;

 private:
  void wipe() noexcept;
};

/// One with its own keys, of a stage with `dimension`, counted in steps. The caller wipes it.
[[nodiscard]] noise::Checkpoint in_steps(const NoiseCheckpoints& checkpoints, std::size_t stage,
                                         std::size_t dimension);
void wipe(noise::Checkpoint& checkpoint) noexcept;

/// Those of a fresh epoch's first step, for stages 0 … count − 1. The caller wipes the key.
[[nodiscard]] NoiseCheckpoints first_checkpoints(const noise::KeyBytes& epoch_key, LaneId lane, EpochId epoch,
                                                 std::size_t count);

/// A record of the input as it was when it was read: tells whether the input still holds the same one.
struct SeenRecord {
  Position position;  ///< its own ordinal or offset
  Hash mac{};         ///< keyed, of everything that it holds
  friend bool operator==(const SeenRecord&, const SeenRecord&) = default;
};

/// Random bits that name the account of a state folder: kept in its state, they move and are copied with it. All zero
/// where no witness is kept: for topics, and in states of earlier versions.
using AccountId = std::array<std::uint8_t, 16>;

/// Where the unit is the user: the secret of its users, which outlives epochs, and how far their store has come
/// (docs/formats/users.md). Wiped when it goes.
struct UsersOfState {
  noise::KeyBytes key{};
  std::string mark{};    ///< users::append_mark()
  std::string column{};  ///< privacy.user
  /// Of the lane's clock, where limits hold within windows of time (users::WindowClock); empty before the first time.
  std::optional<std::int64_t> latest{};  ///< milliseconds since 1970
  std::optional<std::int64_t> window{};  ///< of the last step

  UsersOfState() = default;
  ~UsersOfState() { noise::wipe(key); }
  UsersOfState(const UsersOfState&) = default;
  UsersOfState& operator=(const UsersOfState&) = default;
};

/// Everything that a resume needs. Stream, lane, epoch, step and settings digest are the seal's
/// (secrets::StateIdentity).
struct StateRecord {
  Position position{0};          ///< of the next record
  Position start{0};             ///< where the epoch began
  std::optional<Position> stop;  ///< resolved once
  std::uint64_t rejected = 0;    ///< unusable records so far; operator side
  std::string lane;              ///< Lane::encode()
  NoiseCheckpoints noise;
  std::string outbox;              ///< the batch's releases
  std::string ledger_entry;        ///< the batch's line, or empty
  std::string bookmark;            ///< Journal::bookmark() right before the commit
  Hash ledger_head{};              ///< once ledger_entry is in the ledger
  StepCount released{0};           ///< steps of the epoch's last release, those of the outbox included
  std::string ledger_epochs{};     ///< the last line of each epoch, this one included, where the ledger is a topic
  std::uint32_t partitions = 0;    ///< of the input topic when the lane began
  std::vector<SeenRecord> seen{};  ///< of a topic, the last records before `position`; of files, see record_marks.h
  std::string stop_asked{};        ///< what `stop` was resolved from, where the input is a topic
  Hash seen_key{};                 ///< of the marks in `seen`, where the input are files
  AccountId account{};             ///< of the folder, for its witness; zeros where there is none
  std::string settings{};          ///< what the settings digest is of; empty in states of earlier versions
  std::string ranges{};            ///< settings that were measured, where any were (config/ranges.h); else empty
  Hash release_head{};             ///< ReleaseChain::head, behind the outbox (release_chain.h)
  std::optional<UsersOfState> users{};  ///< where the unit is the user, and the folder keeps their table

  [[nodiscard]] Recovery recovery() const { return {bookmark, outbox, ledger_entry}; }
};

/// Equal records give equal bytes. The bytes hold keys: seal() encrypts them in place, anyone else wipes them.
[[nodiscard]] std::string encode_record(const StateRecord& record);
/// What encode_record() gave. Failure(data) where the bytes are not such. The caller wipes `bytes`.
[[nodiscard]] StateRecord decode_record(std::string_view bytes);

}  // namespace nustream::journal
