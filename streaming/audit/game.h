// One game of an audit: a short stream through the whole lane, with or without one record, and how much its releases
// look like the stream with it.
#pragma once

#include <cstdint>
#include <memory>

#include "audit/shape.h"
#include "config/mechanism.h"
#include "nustream/noise/source.h"

namespace nustream::audit {

/// Whose record it is about: neighbours differ at the canary alone.
enum class World : std::uint8_t { without, with };

/// Whether the settings have a projection, which a game leaves out: it hides a part of the noisy gradients.
[[nodiscard]] bool is_projected(const config::Config& config);

/// Plays games of one mechanism. A game decodes text, clips, adds grid noise under its own key, releases every step
/// as JSON, reads that back, and asks how much likelier what was released is with what the canary must have added:
/// its clipped gradients at the iterates that were released, of every stage. One thread at a time.
class Game {
 public:
  /// Failure(configuration) where no record has a gradient as long as its clip norm.
  Game(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape);
  ~Game();
  Game(Game&&) noexcept;

  /// N(0, 1) in the world without the record and N(mu(), 1) in the other, where everything is as claimed and the
  /// canary's gradients never shorter than their clip norms; closer together where they are.
  [[nodiscard]] double play(World world, const noise::KeyBytes& epoch_key);

  /// The most that the two can be apart: (Σ MatchedFilter::mu²)^½ over the stages.
  [[nodiscard]] double mu() const noexcept;
  /// How often the canary took part so far, and how often what it added was shorter than claimed.
  struct Participations {
    std::uint64_t all = 0;
    std::uint64_t shorter = 0;
  };
  [[nodiscard]] Participations participations() const noexcept;

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace nustream::audit
