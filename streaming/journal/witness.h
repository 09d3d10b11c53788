// What is known outside a state folder of how far it has come (docs/formats/witness.md): a folder that was restored
// from an older copy, or whose ledger was deleted, is seen by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "journal/ledger_chain.h"
#include "journal/running_hash.h"
#include "journal/state_record.h"
#include "nustream/base/units.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// Fresh random bits.
[[nodiscard]] AccountId new_account();

/// The last commit that is known of.
struct Witness {
  AccountId account{};
  std::string stream;
  LaneId lane{0};
  std::string folder;  ///< its path when this was written, links resolved
  EpochId epoch{0};
  StepCount steps{0};
  Hash ledger_head{};
  std::vector<LedgerEntry> epochs;  ///< the last line of each epoch: what a lost ledger's epochs are charged
};

/// What the bytes of a witness say, and whether it can be believed.
struct ReadWitness {
  Witness witness;
  bool is_authentic = false;  ///< its MAC fits; otherwise all but `epochs` is what it claims, and `epochs` is empty
};

/// Canonical bytes, authenticated under the keys' witness key.
[[nodiscard]] std::string encode_witness(const Witness& witness, const secrets::Keyring& keys);

enum class WitnessKind { ours, under_another_key, malformed };
/// Whether `bytes` are a witness under this key, as they claim.
[[nodiscard]] WitnessKind kind_of_witness(std::string_view bytes, const secrets::Keyring& keys);
/// What encode_witness() gave, under any key. Failure(data) where the bytes are none, or are cut.
[[nodiscard]] ReadWitness read_witness(std::string_view bytes, const secrets::Keyring& keys);

}  // namespace nustream::journal
