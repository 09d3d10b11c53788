// Checks of a stream's settings that need no broker's answer. `nustream attach` and `nustream check` both make them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/mechanism.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// Refuses the settings of [kafka], [serve] and batches that attach would refuse without a broker's answer:
/// properties of librdkafka that do not exist, are forbidden or do not go together (a SASL mechanism that was not
/// built in, a certificate that cannot be read), a minibatch that never fits, a drain that is too long. It adds to
/// kafka.properties those that follow from other keys. For that it makes a client for a moment, which connects to
/// nobody. Does nothing where no brokers are named. Throws Failure(configuration).
void preflight(config::Config& config);

/// Throws Failure(configuration) where the settings name no key file, which every instance needs.
void require_key_file(const config::Config& config);
/// Throws Failure(configuration) for settings with which a run over files may go on, and no topic can be read:
/// stream.framing or users.times = "trusted", which are for files; settings that cannot be measured in a topic; and
/// columns into which the values of messages cannot be divided. For example a CSV value has no header line, so that
/// stream.columns has to name its columns. Does nothing where no brokers are named.
void require_attachable(const config::Config& config);

/// The keys that every instance of the stream shares, from state.key_file, or from `insecure_seed` in tests. Throws
/// Failure(configuration) where no key file is named, and as load_key_file() does.
[[nodiscard]] secrets::Keyring stream_keys(const config::Config& config, std::optional<std::uint64_t> insecure_seed);

/// Sentences that warn of trouble ahead where the settings are valid all the same, for example steps that overshoot,
/// or a budget below what the epoch would spend.
[[nodiscard]] std::vector<std::string> warnings_ahead(const config::Config& config,
                                                      const config::Mechanism& mechanism);

/// Sentences about times that no broker allows unless its own limits were changed. Only attach, which asks the
/// brokers, finds out what these allow.
[[nodiscard]] std::vector<std::string> beyond_usual_limits(const config::Config& config);

}  // namespace nustream::attach
