// How large the records of a lane can become, so that settings whose records would not fit the topics are refused
// before anything is written.
#pragma once

#include <cstddef>

#include "config/config.h"
#include "config/mechanism.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// An upper bound on the bytes of a release under these settings.
[[nodiscard]] std::size_t release_bytes(const config::Config& config, const config::Mechanism& mechanism);

/// An upper bound on the bytes of a sealed state without its outbox, for these settings, at any step and with the
/// ledger lines of up to 16 epochs. It covers the lane with its averages, the noise checkpoints and the marks of
/// records.
[[nodiscard]] std::size_t state_bytes(const config::Config& config, const config::Mechanism& mechanism,
                                      const secrets::Keyring& keys);

/// The largest outbox of a batch, in bytes. It fits a record of `record_bytes_max` bytes beside `state_bytes` and one
/// more release, which a shutdown may add. Within that it is what the settings say, by default half a record. Throws
/// Failure(configuration) where a state and two releases do not fit.
[[nodiscard]] std::size_t outbox_bytes(const config::Config& config, std::size_t release_bytes,
                                       std::size_t state_bytes, std::size_t record_bytes_max);

/// How many entries a record of the store of users may hold so that it has at most `record_bytes_max` bytes; at least
/// one. Throws Failure(configuration) where not even one entry fits.
[[nodiscard]] std::size_t user_entries(const config::Config& config, std::size_t record_bytes_max);

}  // namespace nustream::attach
