// Seals the states of an attached stream anew under another key file, so that the old key can be destroyed.
#pragma once

#include <cstdint>
#include <string>

#include "config/kafka.h"
#include "kafka/client_settings.h"
#include "secrets/keyring.h"

namespace nustream::kafka {

/// Opens the state of every lane under `old_keys` and commits the same state under `new_keys`, with a ledger line
/// that vouches for the lane's ledger so far (docs/formats/ledger.md). Each lane is one transaction, under its own
/// transactional id, so that an instance that runs the lane is fenced. Lanes that are under the new key already stay
/// as they are. So after a crash the caller calls this function again. Returns how many lanes were sealed anew. Waits
/// for brokers.
///
/// Throws Failure(locked) while the group has members; Failure(permission) where a state is under a third key, where
/// one of the keys is an insecure seed, or where both are the same; Failure(data) where a lane's topics contradict
/// its state, or where a lane has releases or a ledger but no state; and KafkaFailure.
[[nodiscard]] std::uint32_t rotate_keys(const ClientSettings& client, const std::string& stream,
                                        const config::Kafka& kafka, const secrets::Keyring& old_keys,
                                        const secrets::Keyring& new_keys);

}  // namespace nustream::kafka
