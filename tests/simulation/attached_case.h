// What one history of `attach` is of, before anything goes wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attach/lane_state.h"
#include "draws.h"
#include "history.h"
#include "play.h"
#include "random_stream.h"
#include "simulated_broker.h"

namespace nustream::tests {

namespace attached_topics {
inline constexpr const char* input = "input";
inline constexpr const char* releases = "simulated.releases";
inline constexpr const char* state = "simulated.state";
inline constexpr const char* ledger = "simulated.ledger";
inline constexpr const char* letters = "dead";
}  // namespace attached_topics

inline constexpr LaneId given_lane{0};  ///< given records are its, and the shifts are of its noise

struct AttachedCase {
  RandomStream stream;
  Settings settings;
  secrets::Keyring keys;
  bool fresh_keys = false;
  std::uint32_t partitions = 1;
  std::uint64_t records = 0;  ///< of each partition
  bool with_letters = false;
  std::size_t release_bytes_max = 0;
  BrokerFaults faults{};

  /// What the lanes of each process share. Refers to this.
  [[nodiscard]] attach::Setup setup() const;
};

/// Nothing where no settings were accepted in many tries: not every correlation accounts for everything.
[[nodiscard]] std::optional<AttachedCase> draw_attached_case(Draws& draws, std::uint64_t seed, const Given* given);

/// The input of each partition, the record that comes first last.
[[nodiscard]] std::vector<std::vector<SimulatedEntry>> draw_input(Draws& draws, const AttachedCase& of,
                                                                  const Given* given);

}  // namespace nustream::tests
