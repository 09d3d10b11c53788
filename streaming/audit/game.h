// One game of an audit: a short stream through the whole lane, with or without one record, and how much its releases
// look like the stream with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audit/canary.h"
#include "config/mechanism.h"
#include "nustream/noise/source.h"

namespace nustream::audit {

/// The two worlds of a game; their streams differ at the canary alone.
enum class World : std::uint8_t { without, with };

/// Whether the settings have a projection, which a game leaves out: it hides a part of the noisy gradients.
[[nodiscard]] bool is_projected(const config::Config& config);

/// reach_of_canary() under the settings as a game plays them.
[[nodiscard]] double reach_in_games(const config::Config& config, const config::Mechanism& mechanism,
                                    const GameShape& shape);

/// What a game says of one stage. `log_ratio` is the logarithm of the stage's likelihood ratio. `information` is the
/// distance between the means of that logarithm in the two worlds; where the noise is as claimed, it is also the
/// variance.
struct StageRatio {
  double log_ratio;
  double information;
};

/// Plays games of one mechanism. A game decodes text, clips, adds grid noise under its own key, releases every step
/// as JSON and reads that back. Then it computes for every stage how much likelier the releases are if the canary's
/// clipped gradients, taken at the released iterates, were added. May be used by one thread at a time.
class Game {
 public:
  /// Throws Failure(configuration) where no record has a gradient as long as its clip norm.
  Game(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape,
       Absent absent = Absent::neighbour);
  ~Game();
  Game(Game&&) noexcept;

  /// Returns one ratio for each stage; they are valid until the next game.
  [[nodiscard]] std::span<const StageRatio> play(World world, const noise::KeyBytes& epoch_key);

  /// μ = √(2ρ) that the filters see where the canary's gradients are never shorter than their clip norms.
  [[nodiscard]] double mu() const noexcept;
  /// A stage's part of mu()²: the information of a game in which the stage is moved as far as is claimed.
  [[nodiscard]] double information_claimed(std::size_t stage) const noexcept;
  /// How often the canary took part so far, in how many of those steps it moved each stage by less than is claimed,
  /// and the sum over games of each stage's information.
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
