// Settings of a topic's stream that say "private": measured once for all lanes, over the first records of partition
// 0, before any lane is opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "config/config.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// What it takes. Owns all of it: the work may be left to itself (start_up.h).
struct MeasuringOrder {
  config::Config asked;  ///< config::read_config_to_measure(), with Config::measuring
  secrets::Keyring keys;
  std::uint32_t partitions;               ///< of the input
  std::function<void(std::string)> tell;  ///< what is waited for
};

/// The digest of what is measured: the settings digest of the state that did, until lane 0's first epoch of steps.
[[nodiscard]] std::string ranges_rule(const config::Config& asked, bool is_private);

/// What was measured, as lane 0's state keeps it (config/ranges.h): from that state; or, where there is none, from
/// the first ranges.records records of partition 0, which are waited for.
///
/// One lane measures and all lanes take its values: they learn one model, whose coefficients and sums only go
/// together in the same units and under the same bounds, and the records of the other lanes pay nothing for it.
/// Partition 0 is named beforehand, so that which records are measured depends on no record and no broker.
///
/// The measuring is epoch 0 of lane 0, of one step: its ledger line and the state that holds the values are one
/// transaction of the lane's own transactional id, so that of several instances one alone can commit, and whoever
/// comes later finds its values. An instance that dies before the commit has shown nothing, and the key of its noise
/// is gone with it. The lane's next epoch takes its steps over the same records, and the ledger adds both.
///
/// Failure(configuration) for what cannot be measured, and for too few records, spent on nothing; Failure(exhausted)
/// where measuring alone crosses privacy.budget; Failure(data) where lane 0 has a state of other settings, or remains
/// without a state; KafkaFailure, and Cancelled once `cancelled` is true. Waits: for a thread of its own.
[[nodiscard]] std::string measure_stream(const MeasuringOrder& order, const std::atomic<bool>& cancelled);

}  // namespace nustream::attach
