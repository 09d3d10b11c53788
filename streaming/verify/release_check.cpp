#include "verify/release_check.h"

#include <algorithm>
#include <string_view>

#include "error.h"
#include "journal/release_chain.h"
#include "verify/lines.h"

namespace nustream::verify {
namespace {

/// Checks that the line follows on those of its lane before it, and moves the lane's head behind it.
void follow(const journal::ChainPlace& place, CheckedReleases& lane, const std::string& line, bool by_cadence) {
  if (!place.previous) {
    if (lane.unchained < lane.releases) {
      throw Failure(Exit::data, "does not name the release before it, as those before it do");
    }
    ++lane.unchained;
  } else if (!lane.head) {
    lane.begins_later = place.previous != journal::Hash{};
    lane.head = place.previous;
  } else if (place.previous != lane.head) {
    throw Failure(Exit::data,
                  "does not follow on the lane's release before it: releases were changed, left out or moved");
  }
  // A release that the end of the input, a signal or the clock brought is named by no later one, so that the head
  // stays. In earlier versions, which did not chain releases, the first chained one names whatever release came
  // before it.
  if (!place.previous || by_cadence) lane.head = journal::hash_of(line + '\n');
}

/// Takes note of who vouches for the release: a signature of a trusted key, or a ledger line that names it. Releases
/// that are not by cadence have to be signed, since no later release vouches for them.
void check_signature(const journal::ChainPlace& place, const TrustedKeys& keys,
                     const std::set<journal::Hash>& released, CheckedReleases& lane, bool by_cadence) {
  const bool is_signed = place.previous && place.signature &&
                         keys.have_signed(secrets::Signing::release, place.signed_text, *place.signature);
  if (place.previous && !by_cadence && !is_signed) {
    throw Failure(Exit::data,
                  "is signed by nobody who is trusted here, and no later release vouches for it: it was changed, or "
                  "signed before the key was rotated; verify with the stream's first public key");
  }
  const bool is_named = place.previous && by_cadence && released.contains(*lane.head);
  if (is_named) lane.named = lane.head;
  const bool is_vouched_for = is_signed || is_named;
  lane.signed_releases += is_signed ? 1 : 0;
  lane.is_vouched_for |= is_vouched_for;
  if (by_cadence) lane.unsigned_end = is_vouched_for ? 0 : lane.unsigned_end + 1;
}

void add(const std::string& line, const TrustedKeys& keys, const std::set<journal::Hash>& released,
         std::map<LaneName, CheckedReleases>& lanes) {
  auto release = publish::read_release(line);
  if (!release) throw Failure(Exit::data, "is no release");
  CheckedReleases& lane = lanes[{release->stream, release->lane}];
  const journal::ChainPlace place = journal::place_of(line);
  const bool by_cadence = release->tag == "cadence";
  follow(place, lane, line, by_cadence);
  check_signature(place, keys, released, lane, by_cadence);
  ++lane.releases;
  lane.rho_ledger = std::max(lane.rho_ledger, release->rho_ledger);
  lane.epochs.insert_or_assign(release->epoch, std::move(*release));
}

}  // namespace

std::map<LaneName, CheckedReleases> check_releases(const std::string& file, const TrustedKeys& keys,
                                                   const std::set<journal::Hash>& released) {
  std::map<LaneName, CheckedReleases> lanes;
  for_each_line(file, [&](const std::string& line) { add(line, keys, released, lanes); });
  if (lanes.empty()) throw Failure(Exit::data, file + ": holds no release");
  return lanes;
}

}  // namespace nustream::verify
