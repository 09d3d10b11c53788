// The chain of a lane's releases, by which somebody who has nothing but the releases can check them
// (docs/formats/releases.md#the-chain). Each release names the hash of the last release by cadence before it, and
// some are signed. A release by cadence comes after every release.every steps; all others are due to the end of the
// input, a signal or the clock.
//
// Where a release by cadence was changed, left out or moved, the next signature behind it shows that. Any other
// release is signed by itself, and no later release names it. The step of such a release depends on how far a process
// had come at some time, and nothing in a later release may depend on times. So a run that was stopped, killed and
// resumed releases the same bytes as an unbroken one, except for the lines that stopping and the clock added. All of
// the chain is a function of the key and of bytes that are public already, so that it tells nothing about any record.
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

/// The head before a lane's first release.
inline constexpr Hash empty_release_head{};

/// The lane's chain between two batches.
struct ReleaseChain {
  std::uint64_t every = 1;         ///< steps between two releases by cadence (release.every)
  Hash head = empty_release_head;  ///< hash_of() the lane's last release by cadence
};

/// The chain makes no line longer by more than this many bytes.
inline constexpr std::size_t chain_bytes_max = 224;

/// What the end of a line says of its place in the chain.
struct ChainPlace {
  std::optional<Hash> previous{};
  std::optional<secrets::Signature> signature{};
  std::string_view signed_text{};  ///< the part of the line that the signature signs
};
/// Reads the end of a line, which is given without its newline. A field behind the signature would count although
/// nobody signed it; such a line has neither `previous` nor `signature`.
[[nodiscard]] ChainPlace place_of(std::string_view line);

/// True for releases that are signed. By cadence those are the 1st, 2nd, 4th, 8th and every 16th of an epoch;
/// all releases that are not by cadence are signed.
[[nodiscard]] bool is_signed_release(StepCount steps, std::uint64_t every, std::string_view tag) noexcept;

/// Adds to each of `releases` (encoded lines of one lane, in step order) the hash of the release by cadence before
/// it, and its signature where it has one. The chain moves on behind them. Throws Failure(internal) where a line is
/// no release.
[[nodiscard]] std::string chained(std::string_view releases, ReleaseChain& chain, const secrets::Keyring& keys);

/// The head of the chain behind a folder's last whole release.
[[nodiscard]] Hash last_release_head(Disk& disk, const Disk::Path& folder);

/// The head of the chain behind these whole lines; empty_release_head where there are none.
[[nodiscard]] Hash release_head(std::string_view lines);

}  // namespace nustream::journal
