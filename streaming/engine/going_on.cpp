// Reads a release that is public already as the start of a later epoch. Its numbers are in original units, and are
// turned back into the working coordinates of the present settings (publish::OriginalUnits::invert()).
#include "engine/going_on.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "config/moments.h"
#include "error.h"
#include "located.h"
#include "publish/original_units.h"

namespace nustream::engine {
namespace {

using publish::ShownRelease;

std::string name_of(const ShownRelease& release) {
  return fmt::format("the last release (epoch {}, step {})", release.epoch.value(), release.step);
}

/// The setting that says where an epoch begins.
const char* start_of(const config::Config& config) {
  return config.moments ? "moments.start" : "descent.start";
}

[[noreturn]] void refuse(const ShownRelease& release, const std::string& why) {
  throw Failure(Exit::data, fmt::format("{} {}; to begin at the start of the settings instead, add --from-start",
                                        name_of(release), why));
}

void require_same_lane(const ShownRelease& release, const config::Config& config) {
  if (release.stream != config.stream) refuse(release, "is of stream '" + release.stream + "'");
}

/// Refuses a release that promises less than this epoch, or that makes a promise about another unit. Readers
/// understand an epoch's promise to cover everything that its releases are made of, including the release that it
/// goes on from.
void require_promise(const ShownRelease& release, const config::Config& config, bool is_private) {
  if (is_private && !release.promise.is_private) {
    refuse(release, "is not private, and nothing private goes on from it");
  }
  if (release.promise.target_only && config.privacy.protects != config::Protects::target) {
    refuse(release, "protects targets alone, and this epoch is to protect whole records");
  }
  if (release.promise.trusts_framing && !config.input.framing_is_trusted) {
    refuse(release, "trusts in closed quotes (stream.framing), and this epoch is not to");
  }
  if (config.users.has_value() != release.promise.user.has_value()) {
    refuse(release, config.users ? "protects records, and this epoch is to protect users"
                                 : "protects users, and this epoch is to protect records");
  }
}

/// Refuses a release of another model. The names of coefficients do not show that a feature is now computed in
/// another way, so the digest of the model is compared. Releases of an older version have no digest and are accepted.
void require_same_model(const ShownRelease& release, const config::Config& config) {
  if (release.model.empty() || release.model == config::model_digest(config)) return;
  refuse(release,
         "is of another model than these settings: of other features, transforms, target or "
         "loss, or of another weight or exposure");
}

}  // namespace

lane::Carried carried_from(const ShownRelease& release, const config::Config& config, bool is_private) {
  require_same_lane(release, config);
  require_promise(release, config, is_private);
  const publish::OriginalUnits units(config.schema, config.descent);
  lane::Carried carried;
  // The coefficients of a first stage are never released. They begin where the settings begin.
  carried.theta = config.moments ? std::vector<double>(config.descent.dimension) : config.descent.start;
  const std::string wrong = units.invert(release.estimate, release.not_determined, carried.theta);
  if (!wrong.empty()) {
    refuse(release, "is not where an epoch of these settings can go on: " + wrong);
  }
  require_same_model(release, config);
  // Instrumental variables by running sums begin about the reduced form, which is not what releases show.
  carried.theta = config::centre_of(config, std::move(carried.theta));
  if (config.moments) return carried;
  // The average is carried over where it can be expressed under these settings; otherwise it begins anew.
  if (release.average.empty() || !(release.average_weight > 0)) return carried;
  carried.average = config.descent.start;
  if (units.invert(release.average, carried.average).empty()) {
    carried.average_weight = release.average_weight;
  } else {
    carried.average.clear();
  }
  return carried;
}

std::string go_on_from_last(Estimator& lane, EpochId epoch, std::string_view published, const config::Config& config,
                            bool is_private) {
  NUSTREAM_REQUIRE(epoch.value() > 0, "a lane's first epoch has no release to go on from");
  // Whole lines end with a newline. Without it the last line begins behind the newline before.
  while (!published.empty() && published.back() == '\n') published.remove_suffix(1);
  if (published.empty()) {
    return fmt::format("epoch {} begins at {}: there is no release to go on from", epoch.value(), start_of(config));
  }
  const auto release = located("the last line of the lane's releases",
                               [&] { return publish::read_release(published.substr(published.rfind('\n') + 1)); });
  if (!release) {
    throw Failure(Exit::data,
                  "the last line of the lane's releases is no release that a new epoch could go on from; to begin at "
                  "the start of the settings instead, add --from-start");
  }
  // Before any step: only the released numbers enter, which everybody can read, so that the start costs nothing.
  lane.go_on_from(carried_from(*release, config, is_private));
  return fmt::format("epoch {} goes on from the release at step {} of epoch {}", epoch.value(), release->step,
                     release->epoch.value());
}

bool can_go_on(std::string_view published, const config::Config& config, bool is_private) {
  while (!published.empty() && published.back() == '\n') published.remove_suffix(1);
  if (published.empty()) return true;
  try {
    const auto release = publish::read_release(published.substr(published.rfind('\n') + 1));
    if (!release) return false;
    static_cast<void>(carried_from(*release, config, is_private));
    return true;
  } catch (const Failure&) {
    return false;
  }
}

std::string begun_from_start(EpochId epoch, const config::Config& config) {
  return fmt::format("epoch {} begins at {}, whatever was released before it", epoch.value(), start_of(config));
}

std::string begun_behind_measuring(EpochId epoch) {
  return fmt::format("epoch {} begins at its start, under the settings that epoch {} measured", epoch.value(),
                     epoch.value() - 1);
}

}  // namespace nustream::engine
