// The reader of a replay, and what it tells of the records that it read.
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

/// The rest of a window from some position on. Outlived by what it is given.
class StreamInput final : public folder::InputWitness {
 public:
  /// `stop`: a signal's number ends a check that waits for its input.
  StreamInput(const config::Config& config, const folder::Window& window, const std::atomic<int>& stop)
      : config_(config), window_(window), stop_(stop) {}

  /// Opens it at a lane's position, unless that was done. Failure(io) where a pipe was read at another one.
  void open(std::uint64_t position);
  [[nodiscard]] decode::Reader& reader() noexcept { return *reader_; }

  /// Opens it at the state's position, looking at the records that are passed on the way there; with several passes
  /// at those of the whole window that are marked, in a reading of their own. Failure(interrupted) by a signal.
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
  std::uint64_t position_ = 0;  // at which that was opened
};

}  // namespace nustream::replay
