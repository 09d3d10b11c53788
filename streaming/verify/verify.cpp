// `nustream verify`: first the ledger, whose rotations say which keys are trusted, then the releases under those
// keys, then both against each other. The require_… functions are what has to hold between them; the rest prints what
// was found.
#include "verify/verify.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "engine/spent.h"
#include "publish/json_writer.h"
#include "secrets/hex.h"

namespace nustream::verify {
namespace {

/// The key that was given: its digits, or a file whose first line they are.
secrets::PublicKey public_key_in(const std::string& given) {
  secrets::PublicKey key{};
  if (secrets::from_hex(given, key)) return key;
  std::error_code unknown;
  std::ifstream file(given);
  std::string line;
  if (std::filesystem::is_regular_file(given, unknown) && std::getline(file, line) && secrets::from_hex(line, key)) {
    return key;
  }
  throw Failure(Exit::io,
                "--public-key: give 64 hexadecimal digits, or a file that holds them; nustream inspect shows the "
                "stream's key");
}

/// The epochs up to the last one that promised something about these neighbours: all that a release with that promise
/// adds up. Later epochs may promise less, from which no total over these neighbours follows. All epochs where no
/// line is about them, such as behind a line of moved users.
std::span<const journal::LedgerEntry> until_last_about(const privacy::Neighbours& neighbours,
                                                       std::span<const journal::LedgerEntry> epochs) {
  for (std::size_t count = epochs.size(); count > 0; --count) {
    if (epochs[count - 1].neighbours == neighbours) return epochs.first(count);
  }
  return epochs;
}

/// Requires that the ledger pays for every release: it knows the release's epoch, with the same neighbours and
/// settings, and its line covers the steps and the spend. The furthest release of each epoch is compared, since
/// spends only grow.
void require_paid(const LaneName& name, const CheckedReleases& lane, const CheckedLedger& ledger,
                  std::span<const journal::LedgerEntry> epochs) {
  const auto refuse = [&](const publish::ShownRelease& release, const std::string& what) {
    throw Failure(Exit::data, fmt::format("stream '{}', lane {}: the release at step {} of epoch {} {}", name.first,
                                          name.second.value(), release.step, release.epoch.value(), what));
  };
  for (const auto& [epoch, release] : lane.epochs) {
    // Also of epochs that a later line of another epoch stands for: their releases are public still.
    const auto found = ledger.epochs.find({name.second, epoch});
    if (found == ledger.epochs.end()) refuse(release, "is of an epoch that the ledger does not know");
    const journal::LedgerEntry& entry = found->second;
    // The same settings, the same promise, no more steps and no more ρ than the line pays for.
    if (release.digest != entry.settings_digest) refuse(release, "has other settings than its ledger line");
    if (release.promise.adjacency != privacy::name(entry.neighbours.adjacency) ||
        release.promise.target_only != entry.neighbours.target_only ||
        release.promise.user.has_value() != entry.neighbours.of_user ||
        release.promise.trusts_framing != entry.trusts_framing || release.promise.is_private != entry.is_private) {
      refuse(release, "promises something else than its ledger line");
    }
    if (release.step > entry.steps.value()) refuse(release, "is beyond the steps of its ledger line");
    if (release.rho > entry.rho.value()) {
      refuse(release,
             fmt::format("spent rho {:.6g}, and its ledger line says {:.6g}", release.rho, entry.rho.value()));
    }
  }
  // Each total is compared over the neighbours of its own epoch: zero-out restated as replace-one is four times as
  // much.
  for (const auto& [epoch, release] : lane.epochs) {
    const privacy::Neighbours& neighbours = ledger.epochs.at({name.second, epoch}).neighbours;
    const Rho total = engine::total_spent(until_last_about(neighbours, epochs), neighbours);
    if (release.rho_ledger <= total.value()) continue;
    throw Failure(Exit::data,
                  fmt::format("stream '{}', lane {}: a release tells of rho {:.6g} over all epochs, and the ledger "
                              "comes to {:.6g}: the ledger lacks lines",
                              name.first, name.second.value(), release.rho_ledger, total.value()));
  }
}

/// Requires that a trusted key vouches for the releases, and that at most unsigned_max releases at the end are
/// unsigned. Somebody who changes a release has to leave out all signatures behind it, and then too many releases are
/// unsigned.
void require_vouched_for(const LaneName& name, const CheckedReleases& lane) {
  if (lane.is_vouched_for && lane.unsigned_end <= unsigned_max) return;
  throw Failure(
      Exit::data,
      fmt::format("stream '{}', lane {}: {} releases{} have no trusted signature, and a stream leaves at most {} in "
                  "a row unsigned: they were changed, their signatures were left out, or the key was rotated; verify "
                  "with the stream's first public key",
                  name.first, name.second.value(), lane.is_vouched_for ? lane.unsigned_end : lane.releases,
                  lane.is_vouched_for ? " at the end" : "", unsigned_max));
}

/// Whether the file goes on by cadence behind the last release that the ledger names.
bool goes_on_behind(const CheckedReleases& lane, const CheckedLedger& ledger) {
  return lane.named.value_or(journal::Hash{}) == ledger.last_released &&
         lane.head.value_or(journal::Hash{}) != ledger.last_released;
}

/// A line that says what was taken names the last of all releases that it pays for. So no release may follow on that
/// one, and a release at the line's own step has to be that one. Nothing is required behind a line that reserves,
/// since it pays for what follows.
void require_named(const CheckedReleases& lane, const CheckedLedger& ledger, const journal::LedgerEntry& last) {
  const auto found = lane.epochs.find(last.epoch);
  if (!ledger.last_released || last.taken || found == lane.epochs.end()) return;
  const publish::ShownRelease& release = found->second;
  const auto refuse = [&](const char* what) {
    throw Failure(Exit::data, fmt::format("stream '{}', lane {}: the release at step {} of epoch {} {}", last.stream,
                                          last.lane.value(), release.step, release.epoch.value(), what));
  };
  if (goes_on_behind(lane, ledger)) {
    refuse("follows on the one that the ledger names as the last of all that were paid for: it was added");
  }
  if (release.tag != "cadence" || release.step < last.steps.value() || lane.head == ledger.last_released) return;
  refuse("is not the one that the ledger names there: it was changed");
}

/// "1 line", "3 lines".
std::string counted(std::uint64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Prints what was found of one lane's releases. `has_ledger` says whether the ledger is this lane's.
void print_lane(const LaneName& name, const CheckedReleases& lane, bool has_ledger) {
  fmt::print("releases  {}, lane {}: {}, chained{}; {} signed\n", name.first, name.second.value(),
             counted(lane.releases, "release"),
             has_ledger ? ", paid for in the ledger" : ", of another lane than the ledger", lane.signed_releases);
  if (!has_ledger) {
    fmt::print("          its own ledger alone tells what is paid for, and when a key was handed on\n");
  }
  if (lane.begins_later) fmt::print("          the first one follows on one that is not in the file\n");
  if (lane.unchained > 0) {
    fmt::print("          {} in front are of a version that did not chain them: nobody vouches for them\n",
               lane.unchained);
  }
  if (lane.unsigned_end > 0) {
    fmt::print("          the last {} stand behind the last signature: nobody vouches for them yet\n",
               lane.unsigned_end);
  }
}

/// How the end of the file compares with the release that the ledger's last line names.
enum class FileEnd {
  unknown,   ///< the line names none: only releases by cadence are named
  as_named,  ///< the line says what was taken, and the last release by cadence is the one that it names
  open,      ///< the line pays for more steps: what it names is there, and releases may follow on it
  earlier,   ///< what the line names is not there, or is not the last one where it says what was taken
};

/// Compares the last release by cadence with the one that the ledger's last line names.
FileEnd end_of(const Verified& verified) {
  const std::optional<journal::Hash>& last = verified.ledger.last_released;
  // Zeros stand for "no release before this commit". From a line that closes, that says only that none was by
  // cadence.
  const bool reserves = verified.ledger.ledger.epochs.back().taken.has_value();
  if (!last || (*last == journal::Hash{} && !reserves)) return FileEnd::unknown;
  const CheckedReleases& lane = verified.lanes.at(verified.lane);
  if (reserves && lane.named.value_or(journal::Hash{}) == *last) return FileEnd::open;
  return lane.head == *last && !reserves ? FileEnd::as_named : FileEnd::earlier;
}

/// Says whether releases may be missing at the end. It is no failure: a run may go on while the files are copied.
void print_completeness(const Verified& verified) {
  switch (end_of(verified)) {
    case FileEnd::unknown:
      return;
    case FileEnd::as_named:
      return fmt::print(
          "          the last one by cadence is the last that the ledger names; whoever cuts both files at such a "
          "place is not found out\n");
    case FileEnd::open:
      return fmt::print(
          "          the ledger's last line names an earlier release, and reserves the steps of those behind it: "
          "nobody can tell yet whether any is missing at the end\n");
    case FileEnd::earlier:
      return fmt::print(
          "          the ledger names another release as the last: releases are missing at the end of the file, "
          "or the last ones were changed\n");
  }
}

/// The number of the first ledger line that names a release which the file does not hold. The end of the file does
/// not tell so: releases that were put back from an older copy may have been gone on from.
std::optional<std::uint64_t> line_of_missing(const CheckedReleases& lane, const CheckedLedger& ledger) {
  std::optional<std::uint64_t> first;
  for (const auto& [head, named] : ledger.released) {
    if (head == journal::Hash{} || lane.all_named.contains(head)) continue;
    first = std::min(first.value_or(named.line), named.line);
  }
  return first;
}

/// Requires that the file holds the releases of the ledger's lane alone, from its first one to the one that the
/// ledger names as the last, and among them all that the ledger's lines name.
void require_complete(const Options& options, const Verified& verified) {
  const auto refuse = [&](const std::string& why) {
    throw Failure(Exit::data, options.releases + " is not known to be complete (--complete): " + why);
  };
  // Of other lanes nobody can tell whether they are complete without their ledgers.
  if (verified.lanes.size() > 1) {
    return refuse(
        "it holds releases of several lanes, and each lane's own ledger tells where it ends; keep those of "
        "one lane");
  }
  const CheckedReleases& lane = verified.lanes.at(verified.lane);
  if (lane.begins_later)
    return refuse("its first release follows on one that is not in it; copy it from the beginning");
  if (lane.unchained > 0) {
    return refuse(
        "its first releases are of a version that did not chain them, so that nobody can tell whether any "
        "is missing");
  }
  const FileEnd end = end_of(verified);
  const std::optional<std::uint64_t> missing = line_of_missing(lane, verified.ledger);
  if (end == FileEnd::as_named && missing) {
    return refuse(
        fmt::format("the release that line {} of {} names is not in it: releases are missing before the "
                    "last ones; restore it from a copy that holds them",
                    *missing, options.ledger));
  }
  switch (end) {
    case FileEnd::as_named:
      return;
    case FileEnd::unknown:
      return refuse("the ledger's last line names no release");
    case FileEnd::open:
      return refuse(
          "the ledger's last line reserves steps whose releases it does not name; copy both files when the "
          "run has ended");
    case FileEnd::earlier:
      return refuse("it does not end with the release that the ledger names as the last; copy it again");
  }
}

/// Whose the spend is. A ledger line does not say what limits a user has.
const char* protected_unit(const privacy::Neighbours& neighbours) {
  if (neighbours.of_user) return "per user";
  return neighbours.target_only ? "per record's target" : "per record";
}

/// Prints the releases lane by lane, then the ledger, then what was spent.
void print_text(const Verified& verified) {
  const CheckedLedger& ledger = verified.ledger;
  for (const auto& [name, lane] : verified.lanes) {
    print_lane(name, lane, name == verified.lane);
    if (name == verified.lane) print_completeness(verified);
  }
  fmt::print("ledger    {}, lane {}: {}, chained; {} signed; {}", verified.lane.first, verified.lane.second.value(),
             counted(ledger.lines, "line"), ledger.signed_lines, counted(ledger.epochs.size(), "epoch"));
  if (ledger.rotations > 0) {
    fmt::print("; the key was handed on {}, and is {} now", counted(ledger.rotations, "time"),
               secrets::to_hex(verified.key));
  }
  fmt::print("\n");
  if (!verified.is_private) {
    fmt::print("          not private: made with an insecure seed, with which anybody can sign\n");
  }
  const journal::LedgerEntry& last = ledger.ledger.epochs.back();
  fmt::print("spent     rho {:.6g} (zCDP, {}, {}) over all epochs", verified.total.value(),
             protected_unit(last.neighbours), privacy::name(last.neighbours.adjacency));
  // A line that reserves may pay for steps that were not taken.
  if (last.taken) fmt::print(" at most: the last line pays for the steps up to {}", last.steps.value());
  fmt::print("\n");
}

void append_lane(const LaneName& name, const CheckedReleases& lane, publish::JsonWriter& json) {
  const auto object = json.object();
  json.field("stream", name.first);
  json.field("lane", name.second.value());
  json.field("releases", lane.releases);
  json.field("signed_releases", lane.signed_releases);
  json.field("unsigned_releases_at_the_end", lane.unsigned_end);
  json.field("unchained_releases", lane.unchained);
  double rho_ledger = 0;
  for (const auto& [epoch, release] : lane.epochs) rho_ledger = std::max(rho_ledger, release.rho_ledger);
  json.field("rho_ledger", rho_ledger);
}

/// The same as one object. Nothing is said of completeness where nobody can tell.
void print_json(const Verified& verified) {
  const std::string text = publish::object_text([&](publish::JsonWriter& json) {
    json.field("stream", verified.lane.first);
    json.field("lane", verified.lane.second.value());
    json.field("rho_ledger", verified.total.value());
    const journal::LedgerEntry& last = verified.ledger.ledger.epochs.back();
    if (last.taken) json.field("reserved_to_step", last.steps.value());
    json.field("ledger_lines", verified.ledger.lines);
    json.field("signed_lines", verified.ledger.signed_lines);
    json.field("private", verified.is_private);
    // Neither true nor false where the ledger does not tell.
    if (end_of(verified) == FileEnd::as_named) json.field("ends_as_the_ledger_names", true);
    if (end_of(verified) == FileEnd::earlier) json.field("ends_as_the_ledger_names", false);
    json.field("rotations", verified.ledger.rotations);
    json.field("public_key", secrets::to_hex(verified.key));
    const auto lanes = json.array("lanes");
    for (const auto& [name, lane] : verified.lanes) append_lane(name, lane, json);
  });
  fmt::print("{}\n", text);
}

}  // namespace

Verified check(const Options& options) {
  TrustedKeys keys(public_key_in(options.public_key));
  Verified verified{check_ledger(options.ledger, keys), {}, {"", LaneId{0}}, Rho{0}};
  const std::vector<journal::LedgerEntry>& epochs = verified.ledger.ledger.epochs;
  if (epochs.empty()) throw Failure(Exit::data, options.ledger + ": tells of no epoch");
  const journal::LedgerEntry& last = epochs.back();
  // Asked before the releases are read, since the ledger of one lane says nothing about another's.
  if (journal::holds_another(verified.ledger.ledger, last.stream, last.lane)) {
    throw Failure(Exit::data, options.ledger + ": holds lines of several lanes; a ledger is one lane's");
  }
  verified.lane = {last.stream, last.lane};
  verified.key = keys.present_key();
  verified.lanes = check_releases(options.releases, keys, verified.ledger, verified.lane);
  verified.is_private = last.is_private;
  // Over the neighbours of the last epoch, as the stream's own releases tell it.
  verified.total = engine::total_spent(epochs, last.neighbours);
  const auto own = verified.lanes.find(verified.lane);
  if (own == verified.lanes.end()) {
    throw Failure(Exit::data, fmt::format("{}: holds no release of stream '{}', lane {}, whose ledger {} is",
                                          options.releases, last.stream, last.lane.value(), options.ledger));
  }
  for (const auto& [name, lane] : verified.lanes) require_vouched_for(name, lane);
  require_paid(own->first, own->second, verified.ledger, epochs);
  require_named(own->second, verified.ledger, last);
  return verified;
}

Exit run(const Options& options) {
  const Verified verified = check(options);
  options.json ? print_json(verified) : print_text(verified);
  // Asked after printing, so that the reader sees what was found and then what is missing.
  if (options.complete) require_complete(options, verified);
  return Exit::done;
}

}  // namespace nustream::verify
