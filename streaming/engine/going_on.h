// Where an epoch begins that is not a lane's first: at the last published release, or at the settings' own start.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "engine/estimator.h"
#include "nustream/lane/lane.h"
#include "publish/release_json.h"

namespace nustream::engine {

/// Iterate and average of `release`, a published one of an earlier epoch, in the working coordinates of `config`:
/// they pass through original units, so that an epoch may centre and scale its features otherwise.
///
/// Failure(data) where the release is of another stream or another model: other features, transforms, target or loss,
/// or an intercept that the settings cannot have; and where it promises less than this run: it is not private, or
/// protects targets alone. A release that promises more may be gone on from.
[[nodiscard]] lane::Carried carried_from(const publish::ShownRelease& release, const config::Config& config,
                                         bool is_private);

/// Lets `lane`, at the first step of epoch `epoch`, go on from the last of `published`: whole lines, each of which is
/// readable by everybody, or is in the outbox of a committed state, whose bytes are all that is ever published of
/// those steps. Nothing else of an earlier epoch is gone on from: what a release's reader can compute costs nothing.
///
/// Returns where the epoch begins, in words for the operator. Throws as carried_from(), and Failure(data) for a line
/// that is no release.
[[nodiscard]] std::string go_on_from_last(Estimator& lane, EpochId epoch, std::string_view published,
                                          const config::Config& config, bool is_private);

/// The words for an epoch that begins at descent.start because --from-start asks for it.
[[nodiscard]] std::string begun_from_start(EpochId epoch);

/// The words for a lane's first epoch of steps, behind the one that measured its settings.
[[nodiscard]] std::string begun_behind_measuring(EpochId epoch);

}  // namespace nustream::engine
