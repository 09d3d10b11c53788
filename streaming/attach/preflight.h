// What can be told of a stream's settings before a broker is asked: by attach, and by check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// Refuses what attach would refuse of [kafka], [serve] and batches without a broker's answer: properties of
/// librdkafka that do not exist, are forbidden, or do not go together (a SASL mechanism that is not there, a
/// certificate that cannot be read), a minibatch that never fits, a drain that is too long. Fills in kafka.properties
/// what follows from other keys. Makes a client for a moment, which asks nobody anything. Failure(configuration).
void preflight(config::Config& config);

/// Failure(configuration) where no key file is named, which every instance needs.
void require_key_file(const config::Config& config);
/// Failure(configuration) where the values of messages cannot be divided as the settings say: a CSV value has no
/// header, so that stream.columns has to name its columns.
void require_readable(const config::Config& config);

/// Of every instance of the stream. Failure(configuration) where no key file is named, and as load_key_file().
[[nodiscard]] secrets::Keyring stream_keys(const config::Config& config, std::optional<std::uint64_t> insecure_seed);

/// Sentences about trouble ahead that is none for a check of the settings: steps that overshoot, a budget below what
/// the epoch would spend. Those that are empty are left out.
[[nodiscard]] std::vector<std::string> warnings_ahead(const config::Config& config,
                                                      const config::Mechanism& mechanism);

}  // namespace nustream::attach
