// One game of an audit: a short stream through the whole lane, with or without one record, and how much its releases
// look like the stream with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audit/canary.h"
#include "audit/shape.h"
#include "config/mechanism.h"
#include "nustream/noise/source.h"

namespace nustream::audit {

/// Whose record it is about: neighbours differ at the canary alone.
enum class World : std::uint8_t { without, with };

/// Whether the settings have a projection, which a game leaves out: it hides a part of the noisy gradients.
[[nodiscard]] bool is_projected(const config::Config& config);

/// What a game says of one stage: the logarithm of its likelihood ratio, and how far apart the two worlds' means of
/// that are where the noise is as claimed (which is its variance, too).
struct StageRatio {
  double log_ratio;
  double information;
};

/// Plays games of one mechanism. A game decodes text, clips, adds grid noise under its own key, releases every step
/// as JSON, reads that back, and asks how much likelier what was released is with what the canary must have added:
/// its clipped gradients at the iterates that were released, of every stage. One thread at a time.
class Game {
 public:
  /// Failure(configuration) where no record has a gradient as long as its clip norm.
  Game(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape,
       Absent absent = Absent::neighbour);
  ~Game();
  Game(Game&&) noexcept;

  /// One ratio a stage, until the next game.
  [[nodiscard]] std::span<const StageRatio> play(World world, const noise::KeyBytes& epoch_key);

  /// √(2ρ) of what the filters see where the canary's gradients are never shorter than their clip norms.
  [[nodiscard]] double mu() const noexcept;
  /// Of that, a stage's part of mu²: the information of a game in which it is moved as far as is claimed.
  [[nodiscard]] double information_claimed(std::size_t stage) const noexcept;
  /// How often the canary took part so far, in how many of them it moved each stage by less than is claimed, and what
  /// the games' information of each stage adds up to.
  struct Participations {
    std::uint64_t all = 0;
    std::vector<std::uint64_t> shorter;
    std::uint64_t games = 0;
    std::vector<double> information;
  };
  [[nodiscard]] const Participations& participations() const noexcept;

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace nustream::audit
