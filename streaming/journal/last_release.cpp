// Reads the end of releases.jsonl, for a run that begins behind it. Fields that earlier versions did not write are
// empty or have the values that those versions meant; a line without lane, epoch, step, position or `private` is no
// release.
#include "journal/last_release.h"

#include <cstdint>

#include "error.h"
#include "journal/line_fields.h"
#include "nustream/base/error.h"
#include "publish/limits_json.h"

namespace nustream::journal {
namespace {

/// The number in `field`; nothing where the line has none, or where it is no spend.
std::optional<Rho> spend(const simdjson::dom::element& release, const char* field) {
  double rho = 0;
  if (release[field].get_double().get(rho) != simdjson::SUCCESS || !(rho >= 0)) return std::nullopt;
  return Rho{rho};
}

/// Whether the line has that text in `field`. A field that is missing says nothing.
bool says(const simdjson::dom::element& release, std::string_view field, std::string_view value) {
  std::string_view found;
  return release[field].get_string().get(found) == simdjson::SUCCESS && found == value;
}

/// Whom the release's ρ is about. Lines of the first versions say neither; they were about whole records and
/// zero-out.
privacy::Neighbours neighbours(const simdjson::dom::element& release) {
  const bool replaced = says(release, "adjacency", privacy::name(privacy::Adjacency::replace_one));
  return {replaced ? privacy::Adjacency::replace_one : privacy::Adjacency::zero_out,
          says(release, "protects", "target"), says(release, "protects", "user")};
}

/// The settings digest; "" where the line does not say it.
std::string settings_digest(const simdjson::dom::element& release) {
  std::string_view digest;
  return release["digest"].get_string().get(digest) == simdjson::SUCCESS ? std::string(digest) : std::string();
}

}  // namespace

LastRelease parse_last_release(std::string_view line) try {
  simdjson::dom::parser parser;
  const simdjson::dom::element release = parser.parse(simdjson::padded_string(line));
  return {LaneId{small_count_in(release, "lane")},
          EpochId{small_count_in(release, "epoch")},
          StepCount{count_in(release, "step")},
          Position{count_in(release, "position")},
          neighbours(release),
          release["private"].get_bool(),
          spend(release, "rho"),
          settings_digest(release),
          spend(release, "rho_limit"),
          neighbours(release).of_user ? publish::limits_in(release) : std::nullopt,
          says(release, "framing", "trusted")};
} catch (const simdjson::simdjson_error&) {
  throw AdvisedFailure(Exit::data, "is no release", "restore it as it was");
} catch (const InvalidParameter&) {
  throw AdvisedFailure(Exit::data, "is no release", "restore it as it was");
}

// Reads backwards in pieces, until the newline before the last whole line is found.
std::string last_line(Disk& disk, const Disk::Path& path) {
  const auto file = disk.open(path, Access::read);
  if (!file) return "";
  std::uint64_t begin = file->size();
  std::string tail;
  while (begin > 0) {
    const std::uint64_t take = std::min<std::uint64_t>(begin, 1 << 16);
    std::string piece(take, '\0');
    begin -= take;
    piece.resize(file->read(begin, piece));
    tail.insert(0, piece);
    const std::size_t end = tail.rfind('\n');
    // A newline at the very front of what was read ends a line whose text comes before it.
    if (end == std::string::npos || end == 0) continue;
    const std::size_t before = tail.rfind('\n', end - 1);
    if (before != std::string::npos) return tail.substr(before + 1, end - before);
    if (begin == 0) return tail.substr(0, end + 1);
  }
  return "";
}

}  // namespace nustream::journal
