// Writes and reads single lines of the ledger and checks the chain between them (docs/formats/ledger.md). A line is
// written in this order: what was spent, its place in the chain, the signature over all of that, and the MAC over all
// of that and the signature. Readers with the key ask LedgerVerifier; readers without it ask read_unsealed().
#include "journal/ledger_chain.h"

#include <utility>

#include "error.h"
#include "journal/line_fields.h"
#include "nustream/base/error.h"
#include "publish/json_writer.h"
#include "publish/limits_json.h"
#include "publish/promise.h"
#include "secrets/hex.h"
#include "secrets/sodium.h"

namespace nustream::journal {
namespace {

using publish::JsonWriter;

// The MAC is the last field of every line. Its text cannot come earlier in the line, since quotes within texts are
// escaped.
constexpr std::string_view mac_field = ",\"mac\":";

/// Keyed BLAKE2b-256 under the ledger key. Only somebody with the key file can make it or check it.
Hash mac_of(std::string_view text, const secrets::Keyring& keys) {
  Hash mac{};
  secrets::keyed_hash(keys.ledger_key(), text, mac);
  return mac;
}

/// Lines that reserve steps have a format number of their own: an earlier version then refuses them, and does not
/// mistake the reserved steps for steps that were taken.
constexpr std::uint64_t format_of_lines = 2;
constexpr std::uint64_t format_of_reserving = 3;

/// Appends the MAC of `line`, which is what `json` wrote so far.
void append_mac(const secrets::Keyring& keys, const std::string& line, JsonWriter& json) {
  json.field("mac", secrets::to_hex(mac_of(line, keys)));
}

/// `text` with its own MAC and the closing brace behind it: the line without its newline.
std::string line_with_mac(std::string text, const secrets::Keyring& keys) {
  JsonWriter json(text);
  {
    const auto object = json.rest_of_object();
    append_mac(keys, text, json);
  }
  return text;
}

/// Which key made the MAC, and the hash of the line before.
void append_place(const Hash& head, const secrets::Keyring& keys, JsonWriter& json) {
  json.field("key", secrets::to_hex(keys.fingerprint()));
  json.field("previous", secrets::to_hex(head));
}

/// Ends a line: its place in the chain, the signature for readers without a key, and the MAC for those who have the
/// key. `line` is what `json` wrote so far.
void append_end(const Hash& head, const secrets::Keyring& keys, const std::string& line, JsonWriter& json) {
  append_place(head, keys, json);
  json.field("signature", secrets::to_hex(keys.sign(secrets::Signing::ledger_line, line)));
  append_mac(keys, line, json);
}

}  // namespace

void not_genuine(const std::string& what) {
  throw Failure(Exit::data, "the ledger " + what + "; restore it: what was spent cannot be known otherwise");
}

namespace {

/// The inverse of name_of().
Overlap overlap_named(const std::string& name) {
  for (const Overlap overlap : {Overlap::disjoint, Overlap::overlapping, Overlap::unknown}) {
    if (name == name_of(overlap)) return overlap;
  }
  not_genuine("has a line of an unknown kind");
}

/// Whom the line's ρ is about. A line that this version cannot interpret is refused, since nobody could add it up.
privacy::Neighbours neighbours_of(const Object& object) {
  const auto neighbours = neighbours_in(object);
  if (!neighbours) not_genuine("has a line of an unknown kind");
  return *neighbours;
}

/// What a line about users says of their spend; nothing for other lines. It is required, since rho alone does not
/// tell how epochs of users add up.
std::optional<UserSpend> user_spend_of(const Object& object, privacy::Neighbours neighbours) {
  if (!neighbours.of_user) return std::nullopt;
  auto limits = publish::limits_in(object);
  if (!limits) not_genuine("has a line of users without a limit");
  UserSpend spend{*limits, object["counts"].get_bool(), {}, std::nullopt};
  // A user's limits may be k and b, a mass, or both; each has a spend of its own.
  if (limits->participation()) {
    for (const Object& each : object["rho_by_count"].get_array()) spend.by_count.push_back(rho_of(each));
    if (spend.by_count.empty()) not_genuine("has a line of users without their spend");
  }
  if (limits->mass()) spend.of_mass = rho_in(object, "rho_of_mass");
  if (has_field(object, "moved")) {
    spend.moved = {small_count_in(object, "moved"), rho_in(object, "rho_before")};
  }
  return spend;
}

/// The fields of a line about users, in the order of the format page, as user_spend_of() reads them.
void append_user_spend(const UserSpend& spend, JsonWriter& json) {
  publish::append_limits(spend.limits, json);
  json.field("counts", spend.carries_over);
  if (spend.limits.participation()) {
    const auto by_count = json.array("rho_by_count");
    for (const Rho rho : spend.by_count) json.element(rho.value());
  }
  if (spend.of_mass) json.field("rho_of_mass", spend.of_mass->value());
  if (spend.moved) {
    json.field("moved", spend.moved->change);
    json.field("rho_before", spend.moved->before.value());
  }
}

/// The fields of an entry's line, up to its place in the chain.
void append_entry(const LedgerEntry& entry, JsonWriter& json) {
  json.field("format", entry.taken ? format_of_reserving : format_of_lines);
  json.field("stream", entry.stream);
  json.field("lane", entry.lane.value());
  json.field("epoch", entry.epoch.value());
  json.field("from", entry.from.value());
  json.field("to", entry.to.value());
  json.field("steps", entry.steps.value());
  if (entry.taken) json.field("taken", entry.taken->value());
  json.field("rho", entry.rho.value());
  json.field("rho_limit", entry.rho_limit.value());
  json.field("digest", entry.settings_digest);
  json.field("adjacency", privacy::name(entry.neighbours.adjacency));
  json.field("protects", protected_by(entry.neighbours));
  if (entry.user) append_user_spend(*entry.user, json);
  if (entry.trusts_framing) json.field("framing", "trusted");
  json.field("private", entry.is_private);
  json.field("disjoint", name_of(entry.overlap));
  if (!entry.run.empty()) json.field("run", entry.run);
}

/// Refuses formats that this version does not read. Lines of format 1 do not say which neighbours their spends are
/// about.
void check_format(const Object& object) {
  const std::uint64_t format = count_in(object, "format");
  if (format == 2 || format == 3) return;
  if (format != 1) {
    throw Failure(Exit::data, "the ledger has a line of format " + std::to_string(format) +
                                  ", this version reads formats 2 and 3; use the version that wrote it");
  }
  throw Failure(Exit::data,
                "the ledger is of an earlier version, whose spends do not say whom they are about; go on with that "
                "version, or begin anew in another state.directory or with other topics");
}

/// The field "taken", which lines of format 3 have, and no others.
std::optional<StepCount> taken_in(const Object& object) {
  // The format and the field have to agree: a reader of format 2 passes over fields that it does not know, and would
  // take reserved steps for taken ones.
  const bool reserves = count_in(object, "format") == 3;
  if (reserves != has_field(object, "taken")) not_genuine("has a line that is no line of a ledger");
  if (!reserves) return std::nullopt;
  const StepCount taken{count_in(object, "taken")};
  if (taken >= StepCount{count_in(object, "steps")}) not_genuine("has a line that reserves no steps");
  return taken;
}

/// All that a line charges. Places, signatures and MACs are looked at by the callers, who need different ones of
/// them.
LedgerEntry parse_entry(const Object& object) {
  check_format(object);
  const privacy::Neighbours neighbours = neighbours_of(object);
  return {text_in(object, "stream"),
          LaneId{small_count_in(object, "lane")},
          EpochId{small_count_in(object, "epoch")},
          Position{count_in(object, "from")},
          Position{count_in(object, "to")},
          StepCount{count_in(object, "steps")},
          rho_in(object, "rho"),
          rho_in(object, "rho_limit"),
          text_in(object, "digest"),
          neighbours,
          object["private"].get_bool(),
          overlap_named(text_in(object, "disjoint")),
          user_spend_of(object, neighbours),
          taken_in(object),
          has_field(object, "run") ? text_in(object, "run") : std::string(),
          has_field(object, "framing")};
}

/// Whether the line hands the key on, and so charges nothing.
bool is_rotation(const Object& object) {
  return has_field(object, "rotated");
}

}  // namespace

std::string ledger_line(const LedgerEntry& entry, const Hash& head, const secrets::Keyring& keys,
                        const std::optional<Hash>& released) {
  std::string line;
  JsonWriter json(line);
  {
    const auto object = json.object();
    // append_end() signs and authenticates `line` as it stands at that moment. So what is to be vouched for comes
    // first.
    append_entry(entry, json);
    if (released) json.field("released", secrets::to_hex(*released));
    append_end(head, keys, line, json);
  }
  json.end_line();
  return line;
}

std::string enclosed_line(const LedgerEntry& entry, const secrets::Keyring& keys) {
  std::string line;
  JsonWriter json(line);
  {
    const auto object = json.object();
    append_entry(entry, json);
    // The line has no predecessor and no signature. What encloses it has a MAC of its own.
    append_place(empty_ledger_head, keys, json);
    append_mac(keys, line, json);
  }
  json.end_line();
  return line;
}

namespace {

/// The beginning of a rotation's line, up to the signature of the old key.
std::string begin_rotation(std::string_view stream, const secrets::PublicKey& to) {
  std::string line = publish::object_text([&](JsonWriter& json) {
    json.field("format", format_of_lines);
    json.field("stream", stream);
    json.field("rotated", true);
    json.field("public_key", secrets::to_hex(to));
  });
  line.pop_back();  // the brace: more follows
  return line;
}

/// The text that the old key signs. It names the head of the ledger, so that the signature holds at this place of
/// this ledger alone.
std::string hand_over_text(const std::string& rotation, const Hash& head) {
  return rotation + '\n' + secrets::to_hex(head);
}

}  // namespace

std::string rotation_line(std::string_view stream, const Hash& head, const secrets::Keyring& old_keys,
                          const secrets::Keyring& new_keys) {
  // For example, in full:
  // {"format":2,"stream":"mine","rotated":true,"public_key":…,"handed_on":…,"key":…,"previous":…,
  // "signature":…,"mac":…}.
  std::string line = begin_rotation(stream, new_keys.public_key());
  // The old key vouches for the new one here, and for nothing behind it; the end of the line is the new key's.
  const secrets::Signature by = old_keys.sign(secrets::Signing::hand_over, hand_over_text(line, head));
  JsonWriter json(line);
  {
    const auto object = json.rest_of_object();
    json.field("handed_on", secrets::to_hex(by));
    append_end(head, new_keys, line, json);
  }
  json.end_line();
  return line;
}

// Both kinds of exceptions mean the same: a field that is missing or of another type, and a number out of its type's
// range.
std::optional<LedgerEntry> entry_of(std::string_view line) try {
  simdjson::dom::parser parser;
  const Object object = parser.parse(simdjson::padded_string(line));
  if (is_rotation(object)) return std::nullopt;
  return parse_entry(object);
} catch (const simdjson::simdjson_error&) {
  not_genuine("has a line that is no line of a ledger");
} catch (const InvalidParameter&) {
  not_genuine("has a line that is no line of a ledger");
}

LedgerEntry read_entry(std::string_view line) {
  auto entry = entry_of(line);
  if (!entry) not_genuine("has a line that is no line of a ledger");
  return *std::move(entry);
}

namespace {

/// The signature in `field` and the text before it, which it signs; nothing where the line has no such field. The
/// quoted name of a field stands only once in a line, since quotes within texts are escaped.
std::optional<SignedText> signed_text(std::string_view line, const Object& object, std::string_view field) {
  std::string_view encoded;
  const auto error = object[field].get(encoded);
  // Other errors of the field mean that it is there and is no text.
  if (error == simdjson::NO_SUCH_FIELD) return std::nullopt;
  SignedText found{std::string(line.substr(0, line.find(",\"" + std::string(field) + "\":"))), {}};
  if (error != simdjson::SUCCESS || !secrets::from_hex(encoded, found.signature)) {
    not_genuine("has a line that is no line of a ledger");
  }
  return found;
}

/// The line as it has to go on behind the signed text: with the signature, the MAC, and nothing else. Any other field
/// there would count although nobody signed it.
std::string with_end(std::string line, const secrets::Signature& signature, const std::string& mac) {
  JsonWriter json(line);
  {
    const auto object = json.rest_of_object();
    json.field("signature", secrets::to_hex(signature));
    json.field("mac", mac);
  }
  return line;
}

/// The head of the lane's releases that the line names; nothing for lines of earlier versions.
std::optional<Hash> released_in(const Object& object) {
  if (!has_field(object, "released")) return std::nullopt;
  Hash released{};
  if (!secrets::from_hex(text_in(object, "released"), released))
    not_genuine("has a line that is no line of a ledger");
  return released;
}

}  // namespace

UnsealedLine read_unsealed(std::string_view line) try {
  simdjson::dom::parser parser;
  const Object object = parser.parse(simdjson::padded_string(line));
  check_format(object);
  UnsealedLine read{{}, {}, {}, signed_text(line, object, "signature"), {}};
  // The end of the line is written anew from what was read and compared byte for byte, which finds any other field
  // there.
  if (read.signed_ && line != with_end(read.signed_->text, read.signed_->signature, text_in(object, "mac"))) {
    not_genuine("has a line with fields that its signature is not about");
  }
  if (!secrets::from_hex(text_in(object, "previous"), read.previous))
    not_genuine("has a line that is no line of a ledger");
  if (!is_rotation(object)) {
    read.entry = parse_entry(object);
    read.released = released_in(object);
  } else if (auto by = signed_text(line, object, "handed_on")) {
    secrets::PublicKey to{};
    if (!secrets::from_hex(text_in(object, "public_key"), to)) not_genuine("has a line that is no line of a ledger");
    // The fields before the old key's signature are compared as well: the signature is about these bytes, and no
    // others.
    if (by->text != begin_rotation(text_in(object, "stream"), to)) {
      not_genuine("hands its key on in a line with other fields than a rotation has");
    }
    by->text = hand_over_text(by->text, read.previous);
    read.handed_on = {to, *std::move(by)};
  }
  return read;
} catch (const simdjson::simdjson_error&) {
  not_genuine("has a line that is no line of a ledger");
} catch (const InvalidParameter&) {
  not_genuine("has a line that is no line of a ledger");
}

void LedgerVerifier::add(std::string_view line) try {
  simdjson::dom::parser parser;
  const Object object = parser.parse(simdjson::padded_string(line));
  check_format(object);
  if (text_in(object, "previous") != secrets::to_hex(ledger_.head))
    not_genuine("has a line that does not follow the one before");
  // Lines before a rotation are under an earlier key, whose MACs cannot be checked here. The chain of hashes leads
  // from them to the last line, and the MAC of the last line vouches for all lines before it.
  vouched_ = text_in(object, "key") == secrets::to_hex(keys_.fingerprint());
  // The whole line is compared with what this key would have written, so that nothing can stand behind the MAC
  // either.
  const std::string_view text = line.substr(0, line.rfind(mac_field));
  if (vouched_ && !secrets::is_same(line, line_with_mac(std::string(text), keys_))) {
    not_genuine("has a line that was changed");
  }
  // Only a line that passed all checks moves the head.
  ledger_.head = hash_of(std::string(line) + '\n');
  if (!is_rotation(object)) ledger_.keep(parse_entry(object));
} catch (const simdjson::simdjson_error&) {
  not_genuine("has a line that is no line of a ledger");
} catch (const InvalidParameter&) {
  not_genuine("has a line that is no line of a ledger");
}

Ledger LedgerVerifier::finish() && {
  // The MAC of the last line vouches for all lines before it. Under another key it cannot be checked here, so that
  // nothing vouches for the ledger.
  if (!vouched_) {
    throw Failure(Exit::permission,
                  "the ledger's last line is under another key; name the right one (state.key_file; inspect and key "
                  "rotate: --key-file), or let the folder's link 'key' lead to it");
  }
  return std::move(ledger_);
}

}  // namespace nustream::journal
