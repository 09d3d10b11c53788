// What a store of users holds at the state that vouches for it, and what becomes of a store behind a program's back.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "draws.h"
#include "folder_case.h"
#include "history.h"
#include "journal/state_record.h"
#include "simulated_broker.h"
#include "simulated_disk.h"

namespace nustream::tests {

/// Both files of a folder's store, as every reader sees them.
struct StoreFiles {
  std::array<std::string, 2> bytes;

  friend bool operator==(const StoreFiles&, const StoreFiles&) = default;
};
[[nodiscard]] StoreFiles store_in(const SimulatedDisk& disk);
/// Puts these files in the place of the folder's, durably.
void put_store(SimulatedDisk& disk, const StoreFiles& files);

/// What can become of a store while no process runs.
enum class StoreFault : std::uint8_t { lost, older, cut, damaged };
[[nodiscard]] const char* name(StoreFault fault);
/// The files with the fault; `older` is an earlier copy of them.
[[nodiscard]] StoreFiles with_fault(Draws& draws, StoreFault fault, StoreFiles files, const StoreFiles& older);

/// The users of the folder at its state. Throws Failure(data) where the store does not hold them.
[[nodiscard]] Counts stored_counts(SimulatedDisk& disk, const std::string& stream,
                                   const journal::UsersOfState& state);
/// The users of a lane of a topic at its state, likewise.
[[nodiscard]] Counts stored_counts(SimulatedBroker& broker, const Place& users, const std::string& stream,
                                   const journal::UsersOfState& state);

/// What differs between what users have used up and what they should have; empty where nothing does. Both follow from
/// the noise, since masses are norms of gradients, and a gradient that is not finite uses nothing up.
[[nodiscard]] std::string difference(const Counts& stored, const Counts& reference);
/// What differs between the clock of users' windows in a state and where it should be. It follows from times alone.
[[nodiscard]] std::string clock_difference(const journal::UsersOfState& state, const UsersAt& reference);

/// Counts users whose counts were found to be those of the steps, by the kind of their stream.
void count_users(const config::Config& config, const Counts& stored, FaultCounts& happened);
/// Counts how often users began anew within the run, and what came behind the borders of steps.
void count_borders(const Reference& reference, FaultCounts& happened);

}  // namespace nustream::tests
