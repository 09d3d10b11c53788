// The input of a replay: its reader, and the check that it is the input which was read before.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "config/config.h"
#include "decode/reader.h"
#include "folder/input_witness.h"
#include "replay/input.h"

namespace nustream::replay {

/// The rest of a window from some position on. The constructor's arguments outlive it.
class StreamInput final : public folder::InputWitness {
 public:
  /// Once `stop` holds a signal's number, a check that waits for its input ends.
  StreamInput(const config::Config& config, const folder::Window& window, const std::atomic<int>& stop)
      : config_(config), window_(window), stop_(stop) {}

  /// Opens the input at a lane's position, unless it is open there already. Throws Failure(io) for a pipe that was
  /// read from another position before, and for a later file whose beginning cannot be read.
  void open(std::uint64_t position);
  [[nodiscard]] decode::Reader& reader() noexcept { return *reader_; }

  /// Opens the input at the state's position, and checks the marked records on the way there. With several passes the
  /// marked records may lie anywhere in the window, and are checked by reading the input once for that. Throws
  /// Failure(data) where one is another record or missing, and Failure(interrupted) after a signal.
  void check(const journal::StateRecord& record) override;
  [[nodiscard]] bool holds(const journal::StateRecord& record) override;
  [[nodiscard]] std::vector<decode::ReadRecord> at_hand(Position position) const override;

 private:
  void look_apart(const journal::StateRecord& record) const;
  void pass_marked(decode::Reader& reader, const journal::StateRecord& record) const;

  const config::Config& config_;
  const folder::Window& window_;
  const std::atomic<int>& stop_;
  std::unique_ptr<decode::Reader> reader_;
  std::uint64_t position_ = 0;                                    // where reader_ was opened
  decode::OtherKinds other_kinds_ = decode::OtherKinds::refused;  // until it is known that a state is there
};

}  // namespace nustream::replay
