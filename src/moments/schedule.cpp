// At which steps stages begin: at the listed ones and, where sums forget, at every repeat_every steps behind the last
// of them. Everything follows from public settings and step counts alone.
#include "moments/schedule.h"

#include <algorithm>
#include <string>

#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

/// The most stages that are kept at once. It is limited because noise covariances are kept for all pairs.
constexpr std::size_t most_stages = 256;

/// Throws where a memory is no longer than a step, and where so many stages would be kept at once that their
/// covariances take too much room.
void check_memory(const Settings& settings) {
  const std::uint64_t every = settings.mechanism.participation.batch;
  if (settings.memory && *settings.memory <= every) {
    throw InvalidParameter("memory", std::to_string(*settings.memory), "more records than a step has");
  }
  if (settings.repeat_every == 0) return;
  // Plain sums keep every stage for ever, so endless stages would let the state grow without end.
  if (!settings.memory) throw InvalidParameter("repeat_every", "without a memory", "0, or sums that forget");
  if (memory_of(settings).reach / settings.repeat_every + settings.stages.size() > most_stages) {
    throw InvalidParameter("repeat_every", std::to_string(settings.repeat_every),
                           "fewer than " + std::to_string(most_stages) + " stages within 42 memories");
  }
}

}  // namespace

void check_schedule(const Settings& settings) {
  const std::vector<StageStart>& stages = settings.stages;
  if (stages.empty() || stages.front().first != 0)
    throw InvalidParameter("stages", "none at step 0", "the first at step 0");
  if (stages.size() > most_stages) {
    throw InvalidParameter("stages", std::to_string(stages.size()), "at most " + std::to_string(most_stages));
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    check(stages[i].radii);
    if (i > 0 && stages[i].first <= stages[i - 1].first) {
      throw InvalidParameter("stages", std::to_string(stages[i].first), "rising steps");
    }
  }
  check_memory(settings);
}

Memory memory_of(const Settings& settings) {
  if (!settings.memory) return {};
  const std::uint64_t every = settings.mechanism.participation.batch;
  const double forgotten = static_cast<double>(every) / static_cast<double>(*settings.memory);
  // 42 memories are 60 halvings: 60 ln 2 < 42. A step keeps 1 − every/N, so the sums shrink by a factor of e within a
  // memory of N/every steps.
  return {1 - forgotten, 42 * (*settings.memory / every + 1)};
}

std::optional<Radii> stage_from(const Settings& settings, std::uint64_t step) {
  const StageStart& last = settings.stages.back();
  if (step > last.first) {
    // With stages at 0 and 20 and repeat_every = 10, the further ones begin at 30, 40 and so on.
    const bool repeats = settings.repeat_every > 0 && (step - last.first) % settings.repeat_every == 0;
    return repeats ? std::optional(last.radii) : std::nullopt;
  }
  const auto found = std::ranges::find(settings.stages, step, &StageStart::first);
  return found == settings.stages.end() ? std::nullopt : std::optional(found->radii);
}

std::size_t stage_number(const Settings& settings, std::uint64_t step) {
  const auto begun =
      std::ranges::count_if(settings.stages, [&](const StageStart& stage) { return stage.first <= step; });
  const std::uint64_t last = settings.stages.back().first;
  const std::uint64_t repeated = step > last && settings.repeat_every > 0 ? (step - last) / settings.repeat_every : 0;
  return static_cast<std::size_t>(begun - 1) + static_cast<std::size_t>(repeated);
}

std::uint64_t stage_first(const Settings& settings, std::size_t number) {
  const std::size_t listed = settings.stages.size();
  if (number < listed) return settings.stages[number].first;
  return settings.stages.back().first + (number - listed + 1) * settings.repeat_every;
}

}  // namespace nustream::moments
