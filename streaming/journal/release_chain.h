// What holds a lane's releases together for somebody who has nothing else (docs/formats/releases.md#the-chain): each
// names the hash of the last one by cadence before it, and some are signed.
//
// A release by cadence that was changed, left out or moved is seen at the next signature behind it. One that the end
// of the input, a signal or the clock brought is signed by itself, and no other names it: where those fall says where
// a process was at what time, and nothing in a later release may depend on that. So a run that was stopped, killed
// and resumed releases the same bytes as an unbroken one, but for the lines that stopping and the clock added.
// Everything in the chain is a function of bytes that are public already and of the key, so that it tells nothing
// about any record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "journal/disk.h"
#include "journal/running_hash.h"
#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// Before a lane's first release.
inline constexpr Hash empty_release_head{};

/// The lane's chain between two batches.
struct ReleaseChain {
  std::uint64_t every = 1;         ///< steps between two releases by cadence (release.every)
  Hash head = empty_release_head;  ///< hash_of() the lane's last release by cadence
};

/// No line gets longer by more bytes than this.
inline constexpr std::size_t chain_bytes_max = 224;

/// What the end of a line, without its newline, says of its place. Nothing may stand behind a signature, since it
/// would count and be signed by nobody: such a line has neither.
struct ChainPlace {
  std::optional<Hash> previous{};
  std::optional<secrets::Signature> signature{};
  std::string_view signed_text{};  ///< of the line
};
[[nodiscard]] ChainPlace place_of(std::string_view line);

/// True of the releases that are signed: by cadence the 1st, 2nd, 4th, 8th and every 16th of an epoch, and all
/// others.
[[nodiscard]] bool is_signed_release(StepCount steps, std::uint64_t every, std::string_view tag) noexcept;

/// `releases`, encoded lines of one lane in step order, each with the hash of the one by cadence before it and its
/// signature where it has one; the chain moves on behind them. Failure(internal) where a line is no release.
[[nodiscard]] std::string chained(std::string_view releases, ReleaseChain& chain, const secrets::Keyring& keys);

/// The head of a folder's releases, as far as its last whole line.
[[nodiscard]] Hash last_release_head(Disk& disk, const Disk::Path& folder);

/// The head that a chain goes on from behind these whole lines. Zeros for none: before the first.
[[nodiscard]] Hash release_head(std::string_view lines);

}  // namespace nustream::journal
