// Keeps the witness of a running lane up to date: writes the newest commit that it was told of, at most once a
// second.
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

/// Writes one file from a thread of its own. Each time the whole file is written to NAME.new, synced and renamed. The
/// first commit is written at once, and a later one as soon as `interval` has passed since the last write. Where
/// several wait, only the newest is written.
///
/// Where the file is no longer as this run left it, another run writes it too, so that two copies of one folder are
/// running. That is a Failure(data), after which nothing is written any more. A disk that does not take the file is a
/// Failure(io), and the write is tried again an `interval` later.
class WitnessKeeper {
 public:
  /// `found` is the content of the file now; empty where the file is not there.
  WitnessKeeper(std::filesystem::path file, std::string found, secrets::Keyring keys,
                std::chrono::milliseconds interval = std::chrono::seconds(1));
  /// Writes the commit that still waits, if there is one.
  ~WitnessKeeper();
  WitnessKeeper(const WitnessKeeper&) = delete;
  WitnessKeeper& operator=(const WitnessKeeper&) = delete;

  /// The commit `latest` is durable in its folder. Returns at once. May be called from any thread.
  void committed(Witness latest);
  /// Waits until the newest commit that committed() was given is written, or an attempt to write has failed.
  void flush();
  /// Why the last attempt failed; null where it did not, or where its failure was taken before.
  [[nodiscard]] std::exception_ptr take_failure();

 private:
  void run(const std::stop_token& stop);
  [[nodiscard]] std::exception_ptr try_to_write(const Witness& witness) noexcept;
  void write(const Witness& witness);

  std::filesystem::path file_;
  std::string last_;  // what the file should hold; used by the thread alone
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
  std::jthread thread_;  // declared last: it starts when everything else is there, and ends first
};

}  // namespace nustream::journal
