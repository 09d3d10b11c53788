// One game of an audit: a short stream through the whole lane, with or without one record, and how much its releases
// look like the stream with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "nustream/noise/source.h"

namespace nustream::audit {

/// Whose record it is about: neighbours differ at the canary alone.
enum class World : std::uint8_t { without, with };

/// The shape of a game. All other records are null: what they would add is known to whoever knows them.
struct GameShape {
  std::uint64_t steps;            ///< T
  std::vector<std::uint64_t> at;  ///< steps that the canary takes part in, rising
};

/// Whether the settings have a projection, which a game leaves out: it hides a part of the noisy gradients.
[[nodiscard]] bool is_projected(const config::Config& config);

/// Plays games of one mechanism. A game decodes text, clips, adds grid noise under its own key, releases every step
/// as JSON, reads that back, and projects what was released onto what the canary must have added: the matched filter,
/// which is the most powerful test of a Gaussian mechanism. One thread at a time.
class Game {
 public:
  /// Failure(configuration) for models of several stages or classes, and where no record has a gradient as long as
  /// the clip norm.
  Game(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape);
  ~Game();
  Game(Game&&) noexcept;

  /// N(0, 1) in the world without the record and N(mu(), 1) in the other, where everything is as claimed.
  [[nodiscard]] double play(World world, const noise::KeyBytes& epoch_key);

  /// √(DᵀΣ⁻¹D) of the shift D that the canary causes and the covariance Σ of the released noise, from B itself: no
  /// sensitivity is asked.
  [[nodiscard]] double mu() const noexcept;

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace nustream::audit
