// Adds the last two fields of a release, `previous` and `signature`, to lines that are encoded already, and reads
// them off the end of a line. Lines are cut as text and not parsed, since hash and signature are of their bytes.
#include "journal/release_chain.h"

#include <bit>
#include <charconv>
#include <span>

#include "error.h"
#include "journal/last_release.h"
#include "journal/outbox_folder.h"
#include "publish/json_writer.h"
#include "secrets/hex.h"

namespace nustream::journal {
namespace {

// The tag of a release that comes after every release.every steps.
constexpr std::string_view by_cadence = "cadence";

/// The part of an encoded release behind the quoted field name `name`. It stands there only once, since quotes within
/// texts are escaped.
std::string_view behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) throw Failure(Exit::internal, "a release that is to be chained is none");
  return line.substr(at + name.size());
}

/// The step of a release that this program has just encoded, so that a line without one is a bug.
StepCount steps_of(std::string_view line) {
  const std::string_view digits = behind(line, ",\"step\":");
  std::uint64_t steps = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), steps);
  if (error != std::errc()) throw Failure(Exit::internal, "a release that is to be chained has no step");
  return StepCount{steps};
}

/// The release's tag, which says whether the cadence brought it, or the end of the input, a signal or the clock.
std::string_view tag_of(std::string_view line) {
  const std::string_view tag = behind(line, ",\"tag\":\"");
  return tag.substr(0, tag.find('"'));
}

/// Cuts `field` with its hexadecimal digits off the end of `line`, which is given without its closing brace. Returns
/// false where the line does not end with that field.
bool cut_last(std::string_view field, std::string_view& line, std::span<std::uint8_t> value) {
  const std::string name = ",\"" + std::string(field) + "\":\"";
  const std::size_t length = name.size() + 2 * value.size() + 1;
  if (line.size() < length || line.back() != '"') return false;
  const std::size_t at = line.size() - length;
  if (line.substr(at, name.size()) != name) return false;
  if (!secrets::from_hex(line.substr(at + name.size(), 2 * value.size()), value)) return false;
  line = line.substr(0, at);
  return true;
}

}  // namespace

// Of the line {"format":1,…,"private":true,"previous":"bd3c…","signature":"4f46…"} the signature signs all up to and
// without `,"signature"`.
ChainPlace place_of(std::string_view line) {
  ChainPlace place;
  if (line.empty() || line.back() != '}') return place;
  line.remove_suffix(1);
  secrets::Signature signature{};
  // From the end to the front: the signature stands last and is about everything before it, `previous` included.
  if (cut_last("signature", line, signature)) place.signature = signature;
  place.signed_text = line;
  Hash previous{};
  if (cut_last("previous", line, previous)) place.previous = previous;
  return place;
}

bool is_signed_release(StepCount steps, std::uint64_t every, std::string_view tag) noexcept {
  if (tag != by_cadence || steps.value() % every != 0) return true;
  // For example with release.every = 100: steps 100, 200, 400, 800, 1600, 3200, 4800. The first are signed densely,
  // so that a short stream can be checked, too; later on at most 15 in a row are unsigned.
  const std::uint64_t count = steps.value() / every;
  return std::has_single_bit(count) || count % 16 == 0;
}

std::string chained(std::string_view releases, ReleaseChain& chain, const secrets::Keyring& keys) {
  std::string out;
  while (!releases.empty()) {
    const std::size_t end = releases.find('\n');
    // The two fields go in before the closing brace, which therefore has to be the last character.
    if (end == std::string_view::npos || end == 0 || releases[end - 1] != '}') {
      throw Failure(Exit::internal, "a release that is to be chained is no whole line");
    }
    const std::string_view fields = releases.substr(0, end - 1);
    releases.remove_prefix(end + 1);
    std::string line(fields);
    publish::JsonWriter json(line);
    {
      const auto object = json.rest_of_object();
      // The signature comes behind `previous` and covers it, so that one signature vouches for all releases that lead
      // to it.
      json.field("previous", secrets::to_hex(chain.head));
      if (is_signed_release(steps_of(fields), chain.every, tag_of(fields))) {
        json.field("signature", secrets::to_hex(keys.sign(secrets::Signing::release, line)));
      }
    }
    json.end_line();
    if (tag_of(fields) == by_cadence) chain.head = hash_of(line);  // no later release names any other one
    out += line;
  }
  return out;
}

Hash last_release_head(Disk& disk, const Disk::Path& folder) {
  return release_head(last_line(disk, folder / folder_files::releases));
}

Hash release_head(std::string_view lines) {
  if (lines.empty()) return empty_release_head;
  // The newline of the last line is left out of the search for the one before it.
  const std::size_t before = lines.substr(0, lines.size() - 1).rfind('\n');
  const std::string_view last = before == std::string_view::npos ? lines : lines.substr(before + 1);
  const ChainPlace place = place_of(last.substr(0, last.size() - 1));
  // A line of a version that did not chain its releases is named by its hash, whatever its tag is.
  return place.previous && tag_of(last) != by_cadence ? *place.previous : hash_of(last);
}

}  // namespace nustream::journal
