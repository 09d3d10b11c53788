// Keeps the witness of a running lane: writes the newest commit that it was told of, at most once a second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "journal/disk.h"
#include "journal/witness.h"
#include "secrets/keyring.h"

namespace nustream::journal {

/// One file, written whole by a thread of its own: to NAME.new, synced, renamed. The first commit is written at once,
/// later ones as soon as `interval` has passed since the last write; of several that wait, the newest alone.
///
/// Where the file is no longer as this run left it, another run writes it too: then two copies of one folder are
/// run, the failure is a Failure(data), and nothing is written any more. A disk that does not take the file is a
/// Failure(io), and the write is tried again an `interval` later.
class WitnessKeeper {
 public:
  /// `found`: what the file holds now; empty where it is not there.
  WitnessKeeper(std::filesystem::path file, std::string found, secrets::Keyring keys,
                std::chrono::milliseconds interval = std::chrono::seconds(1));
  /// Writes what waits.
  ~WitnessKeeper();
  WitnessKeeper(const WitnessKeeper&) = delete;
  WitnessKeeper& operator=(const WitnessKeeper&) = delete;

  /// `latest` is durable in its folder. Returns at once; any thread.
  void committed(Witness latest);
  /// Returns when the newest commit that was told is written, or an attempt to write has failed.
  void flush();
  /// Why the last attempt failed; nothing where it did not, or its failure was taken before.
  [[nodiscard]] std::exception_ptr take_failure();

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] std::exception_ptr try_to_write(const Witness& witness) noexcept;
  void write(const Witness& witness);

  std::filesystem::path file_;
  std::string last_;  // what the file should hold; of the thread alone
  secrets::Keyring keys_;
  std::chrono::milliseconds interval_;
  std::unique_ptr<Disk> disk_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Witness> next_;
  bool busy_ = false;
  bool in_haste_ = false;
  bool given_up_ = false;
  std::uint64_t failures_ = 0;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: starts when everything else is there, ends first
};

}  // namespace nustream::journal
