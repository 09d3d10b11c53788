// Where a later epoch of a lane begins: at the last published release, or at the settings' own start.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "engine/estimator.h"
#include "nustream/lane/lane.h"
#include "publish/release_json.h"

namespace nustream::engine {

/// The iterate and average of `release`, which an earlier epoch published, in the working coordinates of `config`.
/// They are converted through original units. So an epoch may centre and scale its features in another way than the
/// epoch before.
///
/// Throws Failure(data) where the release is of another stream or another model (other features, transforms, target,
/// loss, weight or exposure, or an intercept that the settings cannot have). It also throws where the release
/// promises less than this run: it is not private, or protects targets alone, or is about another unit. An epoch may
/// go on from a release that promises more.
[[nodiscard]] lane::Carried carried_from(const publish::ShownRelease& release, const config::Config& config,
                                         bool is_private);

/// Lets `lane`, at the first step of epoch `epoch`, go on from the last line of `published`. Those are whole lines.
/// Each line can be read by everybody, or is in the outbox of a committed state, whose bytes are all that is ever
/// published of those steps. Nothing else of an earlier epoch is used. So the start costs no privacy: every reader of
/// the release can compute it.
///
/// Returns where the epoch begins, in words for the operator. Throws as carried_from(), and Failure(data) where the
/// last line is no release.
[[nodiscard]] std::string go_on_from_last(Estimator& lane, EpochId epoch, std::string_view published,
                                          const config::Config& config, bool is_private);

/// Whether go_on_from_last() would take the last line of `published`, or there is none. Where it would not, a command
/// for a new epoch needs --from-start.
[[nodiscard]] bool can_go_on(std::string_view published, const config::Config& config, bool is_private);

/// The words for an epoch that begins at descent.start because --from-start asks for it.
[[nodiscard]] std::string begun_from_start(EpochId epoch, const config::Config& config);

/// The words for a lane's first epoch of steps, which follows the epoch that measured its settings.
[[nodiscard]] std::string begun_behind_measuring(EpochId epoch);

}  // namespace nustream::engine
