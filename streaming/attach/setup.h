// What all lanes of a process share: settings, digests, keys, and the limits of their topics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "config/mechanism.h"
#include "secrets/keyring.h"

namespace nustream::attach {

/// What does not change once a lane runs, and outlives all lanes.
struct Setup {
  const config::Config& config;
  config::EpochDigests digests;
  secrets::Keyring keys;
  std::size_t release_bytes_max;          ///< no release is longer
  std::size_t letter_bytes_max;           ///< of the longest record that the topic of dead letters takes
  std::uint32_t lanes_with_room;          ///< lanes below it had a partition in every topic at the start
  std::size_t user_bytes_max = 0;         ///< of the longest record that the topic of users takes
  std::size_t user_entries_max = 1;       ///< the most in a record of the store of users, so that it fits there
  std::string ranges_rule{};              ///< ranges_rule() of measured settings (measuring.h); empty where none were
  std::string new_epoch = "--new-epoch";  ///< the command that begins new epochs; in tests the option alone
};

}  // namespace nustream::attach
