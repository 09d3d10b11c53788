// Makes the noise of each release from the epoch's key: one step of independent noise in the release's own key stage,
// rounded to its grid (docs/formats/noise.md).
#include "nustream/ranges/noise_draws.h"

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "nustream/base/error.h"
#include "nustream/noise/correlation.h"

namespace nustream::ranges {
namespace {

/// The key and which stages have drawn from it. It cannot be copied, so one wipe ends it.
struct Keys {
  explicit Keys(const noise::KeyBytes& key) : epoch_key(key) {}
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() { noise::wipe(epoch_key); }

  noise::KeyBytes epoch_key;
  std::array<bool, key_stages> is_drawn{};
};

}  // namespace

DrawNoise keyed_noise(const noise::KeyBytes& epoch_key, LaneId lane, EpochId epoch,
                      std::pmr::memory_resource* secrets) {
  auto keys = std::allocate_shared<Keys>(std::pmr::polymorphic_allocator<Keys>(secrets), epoch_key);
  return
      [keys = std::move(keys), lane, epoch, secrets](KeyStage stage, const noise::Grid& grid, std::size_t entries) {
        auto number = static_cast<std::uint32_t>(stage);
        NUSTREAM_REQUIRE(number < key_stages, "a stage of a fit");
        NUSTREAM_REQUIRE(!std::exchange(keys->is_drawn[number], true), "the noise of a stage is drawn once");
        noise::Checkpoint first = noise::first_checkpoint(keys->epoch_key, {lane, epoch, number});
        noise::NoiseSource source(noise::Correlation{noise::Independent{}}, noise::GeneratorKind::automatic, entries,
                                  first, StepIndex{0}, secrets, StepCount{1});
        for (noise::Segment& segment : first.segments) noise::wipe(segment.chain_key);
        std::vector<std::int64_t> units(entries);
        grid.round_noise(source.next().z.first(entries), units);
        return units;
      };
}

}  // namespace nustream::ranges
