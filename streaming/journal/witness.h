// The witness of a state folder: a small file outside the folder that tells how far it has come
// (docs/formats/witness.md). With it a run notices at its start that the folder was restored from an older copy, or
// that its ledger was deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/ledger_chain.h"
#include "journal/running_hash.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// A fresh random account id.
[[nodiscard]] AccountId new_account();

/// The last commit of a folder that the witness knows of.
struct Witness {
  AccountId account{};
  std::string stream;
  LaneId lane{0};
  std::string folder;  ///< its path when this was written, links resolved
  EpochId epoch{0};
  StepCount steps{0};
  Hash ledger_head{};
  std::vector<LedgerEntry> epochs;  ///< the last line of each epoch, by which they are charged if the ledger is lost
};

/// What the bytes of a witness say, and whether it can be believed.
struct ReadWitness {
  Witness witness;
  /// True where its MAC fits. Otherwise `epochs` is empty, and all else is only what the bytes claim.
  bool is_authentic = false;
};

/// The canonical bytes of a witness, authenticated under the witness key of `keys`.
[[nodiscard]] std::string encode_witness(const Witness& witness, const secrets::Keyring& keys);

/// The format of a witness that this or another version wrote; nothing where the bytes do not begin as a witness
/// does.
[[nodiscard]] std::optional<std::uint32_t> format_of_witness(std::string_view bytes);
/// The format that this version writes, and the only one that it reads.
inline constexpr std::uint32_t witness_format = 1;

enum class WitnessKind { ours, under_another_key, malformed };
/// What `bytes` claim to be: a witness under this key, under another one, or neither. The MAC is not checked.
[[nodiscard]] WitnessKind kind_of_witness(std::string_view bytes, const secrets::Keyring& keys);
/// What the bytes of a witness claim, under whichever key. Nobody vouches for it, and `epochs` is empty. Throws
/// Failure(data) where the bytes are no witness, or are cut.
[[nodiscard]] Witness claims_of(std::string_view bytes);
/// Reads what encode_witness() gave, under any key. Throws as claims_of().
[[nodiscard]] ReadWitness read_witness(std::string_view bytes, const secrets::Keyring& keys);

}  // namespace nustream::journal
