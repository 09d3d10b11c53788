// The records of a game: lines of the stream's own format, and the rows that its decoder makes of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "audit/canary.h"
#include "config/config.h"
#include "decode/line_decoder.h"

namespace nustream::audit {

/// Both streams of a game, which differ at the canary alone. References outlive it.
class GameRows {
 public:
  /// Throws Failure(configuration) where the canary, or what stands in its place, does not arrive as it was written.
  GameRows(const config::Config& config, const GameShape& shape, const Canary& canary);

  /// The rows of a game with the canary or without it. They are decoded anew each time.
  [[nodiscard]] record::RowBatch of(bool with_canary) { return decoded(texts_[with_canary ? 1 : 0]); }

 private:
  /// Throws where the canary does not arrive at the lane as it was written. A canary that the decoder refuses, or
  /// reads as something else, would prove nothing, and the audit would report a claim that holds.
  void require_arrival(const std::string& lines, const Row& row);
  /// Whether a canary user has records in the step. They begin with the user's first step in the epoch. They end with
  /// its last step there in all epochs but the game's last, so that the user keeps what it may still do for the next
  /// epoch.
  [[nodiscard]] bool has_records(std::uint64_t step) const;
  /// All lines of a game. They are null records, except that `canary` is the first record of each step that it takes
  /// part in. Where the unit is the user, all records of has_records() are `canary`. Decoders may read beyond a line,
  /// so the text has slack before and behind it.
  [[nodiscard]] std::string text(const std::string& canary) const;
  record::RowBatch decoded(const std::string& lines);
  /// Gives each row the time of the middle of its step's window, whatever the texts say.
  void date(record::RowBatch& rows) const;

  const config::Config& config_;
  const GameShape& shape_;
  const Canary& canary_;
  record::RowBuilder builder_;
  std::unique_ptr<decode::LineDecoder> decoder_;
  std::array<std::string, 2> texts_;
};

}  // namespace nustream::audit
