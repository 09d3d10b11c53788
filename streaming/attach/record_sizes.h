// How large the records of a lane become, so that what would not fit its topics is refused before anything is
// written.
#pragma once

#include <cstddef>

#include "config/config.h"
#include "config/mechanism.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// More bytes than any release of these settings has.
[[nodiscard]] std::size_t release_bytes(const config::Config& config, const config::Mechanism& mechanism);

/// More bytes than the record of a sealed state of these settings has beside its outbox, at any step and with the
/// ledger lines of some epochs: the lane with its averages, what the noise remembers, marks of records.
[[nodiscard]] std::size_t state_bytes(const config::Config& config, const config::Mechanism& mechanism,
                                      const secrets::Keyring& keys);

/// The largest outbox that fits a record of `record_bytes_max` beside `state_bytes`, with a release more that comes
/// on shutdown; or less, as the settings say, by default half a record. Failure(configuration) where not even one
/// release fits.
[[nodiscard]] std::size_t outbox_bytes(const config::Config& config, std::size_t release_bytes,
                                       std::size_t state_bytes, std::size_t record_bytes_max);

/// Entries of a record of the store of users of which none is longer than `record_bytes_max`; at least one.
/// Failure(configuration) where not even that fits.
[[nodiscard]] std::size_t user_entries(const config::Config& config, std::size_t record_bytes_max);

}  // namespace nustream::attach
