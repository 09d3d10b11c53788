// The states of an attached stream sealed anew under another key file, so that the old one can be destroyed.
#pragma once

#include <cstdint>
#include <string>

#include "config/kafka.h"
#include "kafka/client_settings.h"
#include "secrets/keyring.h"

namespace nustream::kafka {

/// Opens the state of every lane under `old_keys` and commits the same state under `new_keys`, with a ledger line
/// that vouches for the lane's ledger so far (docs/formats/ledger.md): a transaction a lane, under its own
/// transactional id, so that an instance that has it is fenced. Lanes that are under the new key already stay as they
/// are: after a crash it is called again. Returns how many lanes were sealed anew. Waits.
///
/// Failure(locked) while the group has members; Failure(permission) where a state is under a third key, where one of
/// the keys is an insecure seed, or both are the same; Failure(data) where a lane's topics contradict its state, or a
/// lane has none but has releases or a ledger; KafkaFailure.
[[nodiscard]] std::uint32_t rotate_keys(const ClientSettings& client, const std::string& stream,
                                        const config::Kafka& kafka, const secrets::Keyring& old_keys,
                                        const secrets::Keyring& new_keys);

}  // namespace nustream::kafka
