// The releases for somebody without a key (docs/formats/releases.md#the-chain). Releases of several lanes may be
// mixed in a file, so that each lane's chain is followed by itself; follow() checks the chain, check_signature() who
// vouches for it, and keep_order() what the chain does not cover.
#include "verify/release_check.h"

#include <algorithm>
#include <string_view>

#include "error.h"
#include "journal/release_chain.h"
#include "numbered_lines.h"

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
    // The first release of the lane that is chained. If it names another before it, the file begins later than the
    // stream.
    lane.begins_later = place.previous != journal::Hash{};
    lane.head = place.previous;
  } else if (place.previous != lane.head) {
    throw Failure(Exit::data,
                  "does not follow the lane's release before it: releases were changed, left out or moved");
  }
  // A release that the end of the input, a signal or the clock brought is named by no later one, so that the head
  // stays. Behind releases of a version that did not chain them, the first chained one names the release before it,
  // whatever its tag is.
  if (!place.previous || by_cadence) lane.head = journal::hash_of(line + '\n');
}

/// Checks what no chain tells of releases between two by cadence: none is there twice, and none was moved behind a
/// later one.
void keep_order(const publish::ShownRelease& release, CheckedReleases& lane, const std::string& line,
                bool by_cadence) {
  const LaneProgress here{release.epoch, StepCount{release.step}};
  if (lane.reached && here < *lane.reached) {
    throw Failure(Exit::data, "comes behind a release of a later step: releases were moved");
  }
  lane.reached = here;
  if (by_cadence) return;
  const journal::Hash hash = journal::hash_of(line + '\n');
  if (lane.extra == hash) throw Failure(Exit::data, "is there twice: it was repeated");
  lane.extra = hash;
}

/// What releases are checked against.
struct Trust {
  const TrustedKeys& keys;
  const CheckedLedger& ledger;
  const LaneName& own;
};

/// Whether a trusted key signed the release before it was handed on. An old key may be in anybody's hands by now. So
/// its signature does not count behind a release that the next key signed, nor beyond the step where the lane was
/// when the old key was handed on.
bool is_signed(const journal::ChainPlace& place, const publish::ShownRelease& release, const Trust& trust,
               CheckedReleases& lane, bool by_cadence) {
  if (!place.previous || !place.signature) return false;
  const TrustedKeys::Index from = by_cadence ? std::max(lane.key, lane.cadence_key) : lane.key;
  const bool is_own = LaneName{release.stream, release.lane} == trust.own;
  // For example a key that was handed on at step 5000 of epoch 0 may have signed the release at step 5000, and none
  // at 5100.
  std::optional<LaneProgress> at;
  if (is_own) at = LaneProgress{release.epoch, StepCount{release.step}};
  const auto key = trust.keys.signer(secrets::Signing::release, place.signed_text, *place.signature, from, at);
  if (!key) return false;
  lane.key = *key;
  return true;
}

/// Whether the ledger names the lane's last release. If it does, no earlier key than that of the ledger's line may
/// sign the releases by cadence that follow.
bool is_named(const Trust& trust, CheckedReleases& lane) {
  const auto found = trust.ledger.released.find(*lane.head);
  if (found == trust.ledger.released.end()) return false;
  lane.named = lane.head;
  lane.all_named.insert(*lane.head);
  lane.cadence_key = std::max(lane.cadence_key, found->second.key);
  return true;
}

/// Takes note of who vouches for the release: a signature of a trusted key, or a ledger line that names it. Releases
/// that are not by cadence have to be signed, since no later release vouches for them.
void check_signature(const journal::ChainPlace& place, const publish::ShownRelease& release, const Trust& trust,
                     CheckedReleases& lane, bool by_cadence) {
  const bool has_signature = is_signed(place, release, trust, lane, by_cadence);
  if (place.previous && !by_cadence && !has_signature) {
    throw Failure(Exit::data,
                  "has no signature of a trusted key, and no later release vouches for it: it was changed, or "
                  "signed before the key was rotated, or signed with the old key after the rotation; verify with the "
                  "stream's first "
                  "public key");
  }
  const bool named = place.previous && by_cadence && is_named(trust, lane);
  const bool is_vouched_for = has_signature || named;
  lane.signed_releases += has_signature ? 1 : 0;
  lane.is_vouched_for |= is_vouched_for;
  if (by_cadence) lane.unsigned_end = is_vouched_for ? 0 : lane.unsigned_end + 1;
}

/// Checks one more line. The order matters: is_named() asks for the head that follow() has moved behind this line.
void add(const std::string& line, const Trust& trust, std::map<LaneName, CheckedReleases>& lanes) {
  auto release = publish::read_release(line);
  if (!release) throw Failure(Exit::data, "is no release");
  CheckedReleases& lane = lanes[{release->stream, release->lane}];
  const journal::ChainPlace place = journal::place_of(line);
  const bool by_cadence = release->tag == "cadence";
  follow(place, lane, line, by_cadence);
  check_signature(place, *release, trust, lane, by_cadence);
  keep_order(*release, lane, line, by_cadence);
  ++lane.releases;
  if (const auto known = lane.epochs.find(release->epoch); known != lane.epochs.end()) {
    release->rho_ledger = std::max(release->rho_ledger, known->second.rho_ledger);
  }
  lane.epochs.insert_or_assign(release->epoch, std::move(*release));
}

}  // namespace

std::map<LaneName, CheckedReleases> check_releases(const std::string& file, const TrustedKeys& keys,
                                                   const CheckedLedger& ledger, const LaneName& own) {
  std::map<LaneName, CheckedReleases> lanes;
  const Trust trust{keys, ledger, own};
  for_each_line(file, [&](const std::string& line) { add(line, trust, lanes); });
  if (lanes.empty()) throw Failure(Exit::data, file + ": holds no release");
  return lanes;
}

}  // namespace nustream::verify
