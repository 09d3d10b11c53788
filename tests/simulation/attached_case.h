// What one history of `attach` works on, before anything goes wrong.
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
inline constexpr const char* users = "simulated.users";
}  // namespace attached_topics

inline constexpr LaneId given_lane{0};  ///< the lane to which given records belong, and whose noise is shifted

struct AttachedCase {
  RandomStream stream;
  Settings settings;
  secrets::Keyring keys;
  bool fresh_keys = false;
  std::uint32_t partitions = 1;
  std::uint32_t partitions_later = 1;  ///< more than `partitions` where their number changes
  std::uint64_t records = 0;           ///< the number of records in each partition
  bool with_letters = false;
  std::size_t release_bytes_max = 0;
  std::size_t user_entries_max = 1;
  BrokerFaults faults{};

  /// The same case among `partitions_later`, as everybody is started once all topics have so many.
  [[nodiscard]] AttachedCase divided_anew() const;
  /// What the lanes of each process share. It refers to this case, which has to outlive it.
  [[nodiscard]] attach::Setup setup() const;
};

/// Draws a case, whose unit is the user where that is asked for. Empty where no settings were accepted in many tries:
/// not every correlation can be combined with every other setting.
[[nodiscard]] std::optional<AttachedCase> draw_attached_case(Draws& draws, std::uint64_t seed, const Given* given,
                                                             bool by_user = false);

/// The input of each partition that there ever is. The record that comes first is the last of the vector, from which
/// it is taken.
[[nodiscard]] std::vector<std::vector<SimulatedEntry>> draw_input(Draws& draws, const AttachedCase& of,
                                                                  const Given* given);

}  // namespace nustream::tests
