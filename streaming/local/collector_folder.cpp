// The folder of a collector: the state with sums and positions, replaced by rename, and beside it the ids of all
// counted reports, which are appended. The state holds length and hash of the ids, so both belong together
// (docs/formats/local.md).
#include "local/collector_folder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "error.h"
#include "journal/failpoint.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"

namespace nustream::local {
namespace {

using journal::Disk;

constexpr std::string_view magic{"NULOCAL\0", 8};
constexpr std::uint32_t format_version = 1;
constexpr std::size_t check_bytes = 32;
constexpr const char* state_name = "state";
constexpr const char* next_state_name = "state.new";
constexpr const char* ids_name = "ids";
constexpr std::size_t hashed_bytes = 1 << 20;

std::string_view text_of(const journal::Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

std::string read_all(const journal::File& file) {
  std::string bytes(file.size(), '\0');
  bytes.resize(file.read(0, bytes));
  return bytes;
}

/// The state of a folder in which nothing was counted yet.
CollectorState empty_state(const Settings& settings, const ReportFormat& format) {
  return {settings.stream, format.mechanism(), inference::LocalCollector(settings.bounds.dimension), {}, {}};
}

inference::LocalCollector sums_of(std::string_view bytes, const std::string& damaged) {
  try {
    return inference::LocalCollector::decode(bytes);
  } catch (const InvalidParameter&) {
    throw Failure(Exit::data, damaged);
  }
}

}  // namespace

std::string encode(const CollectorState& state) {
  std::string bytes(magic);
  secrets::append_integer(format_version, bytes);
  secrets::append_text(state.stream, bytes);
  secrets::append_text(state.mechanism, bytes);
  secrets::append_text(state.sums.encode(), bytes);
  secrets::append_integer(state.ids.length, bytes);
  bytes += text_of(state.ids.hash);
  secrets::append_integer(static_cast<std::uint32_t>(state.positions.size()), bytes);
  for (const auto& [place, next] : state.positions) {
    secrets::append_text(place.first, bytes);
    secrets::append_integer(place.second, bytes);
    secrets::append_integer(next, bytes);
  }
  // The check finds damage, not forgery. The sums need no seal, since everything in them is a function of reports.
  const journal::Hash check = journal::hash_of(bytes);
  bytes += text_of(check);
  return bytes;
}

CollectorState decode_state(std::string_view bytes, const std::string& path) {
  const std::string advice = "; restore it, or name another local.directory and count the reports again";
  const std::string damaged = path + " is damaged" + advice;
  if (!bytes.starts_with(magic)) throw Failure(Exit::data, path + " is no collector's state" + advice);
  if (bytes.size() < check_bytes) throw Failure(Exit::data, damaged);
  const std::string_view body = bytes.substr(0, bytes.size() - check_bytes);
  // The check comes before the fields, so that these are read from whole bytes.
  if (bytes.substr(body.size()) != text_of(journal::hash_of(body))) throw Failure(Exit::data, damaged);
  secrets::FieldReader reader(body.substr(magic.size()), damaged);
  if (reader.integer<std::uint32_t>() != format_version) {
    throw Failure(Exit::data, path + " is of another version of nustream" + advice);
  }
  std::string stream(reader.text());
  std::string mechanism(reader.text());
  CollectorState state{std::move(stream), std::move(mechanism), sums_of(reader.text(), damaged), {}, {}};
  state.ids.length = reader.integer<std::uint64_t>();
  reader.bytes(state.ids.hash);
  for (auto left = reader.integer<std::uint32_t>(); left > 0; --left) {
    std::string topic(reader.text());
    const auto partition = reader.integer<std::uint32_t>();
    state.positions[{std::move(topic), partition}] = reader.integer<std::uint64_t>();
  }
  if (!reader.rest().empty()) throw Failure(Exit::data, damaged);
  return state;
}

std::optional<CollectorState> read_state(Disk& disk, const Disk::Path& folder, const Settings& settings,
                                         const ReportFormat& format) {
  const std::string path = (folder / state_name).string();
  const auto file = disk.open(path, journal::Access::read);
  if (!file) return std::nullopt;
  CollectorState state = decode_state(read_all(*file), path);
  if (state.stream != settings.stream || state.mechanism != format.mechanism()) {
    throw Failure(Exit::data, path + " holds sums of other reports: of stream '" + state.stream +
                                  "', under other settings; restore those, or name another local.directory");
  }
  return state;
}

CollectorFolder::CollectorFolder(Disk& disk, Disk::Path folder, const Settings& settings, const ReportFormat& format)
    : disk_(disk), folder_(std::move(folder)), state_(empty_state(settings, format)) {
  disk_.make_folder(folder_);
  disk_.require_trusted(folder_);
  try {
    lock_ = disk_.lock(path("lock"));
  } catch (const Failure& failure) {
    if (failure.code() != Exit::locked) throw;
    throw Failure(Exit::locked, "another run counts into " + folder_.string() +
                                    "; wait for it, look at it with --show, or name another local.directory");
  }
  std::optional<CollectorState> committed = read_state(disk_, folder_, settings, format);
  if (committed) state_ = std::move(*committed);
  // Nobody can tell whether the state that was read is durable, since a crash may have come before its sync. The next
  // commit therefore writes it again, even without news.
  moved_ = committed.has_value();
  load_ids();
}

void CollectorFolder::load_ids() {
  ids_file_ = disk_.open(path(ids_name), journal::Access::write);
  const std::uint64_t there = ids_file_ ? ids_file_->size() : 0;
  const std::uint64_t counted = state_.ids.length;
  const auto contradicts = [&](const char* what) {
    return Failure(Exit::data,
                   path(ids_name).string() + " " + what +
                       "; restore the folder, or name another local.directory and count the reports again");
  };
  if (there < counted) throw contradicts("lost ids of reports that were counted");
  std::string chunk;
  for (std::uint64_t offset = 0; offset < counted; offset += chunk.size()) {
    // The file of ids may be larger than memory should hold at once, so it is hashed in pieces.
    chunk.resize(std::min<std::uint64_t>(hashed_bytes, counted - offset));
    if (ids_file_->read(offset, chunk) != chunk.size()) throw contradicts("cannot be read to its end");
    ids_hash_.add(chunk);
    for (std::size_t at = 0; at + sizeof(ReportId) <= chunk.size(); at += sizeof(ReportId)) {
      ReportId id{};
      std::memcpy(id.data(), chunk.data() + at, sizeof id);
      ids_.insert(id);
    }
  }
  // A report whose id was lost could be counted again, so that the ids have to be exactly those that the sums were
  // made of.
  if (ids_hash_.value() != state_.ids.hash || ids_.size() != state_.sums.reports()) {
    throw contradicts("holds other ids than those of the reports that were counted");
  }
}

bool CollectorFolder::add(const ReportId& id, std::span<const std::int64_t> numbers) {
  if (!ids_.insert(id)) return false;
  secrets::append_bytes(id, added_);
  state_.sums.add(numbers);
  return true;
}

void CollectorFolder::set_position(const std::string& topic, std::uint32_t partition, std::uint64_t next) {
  std::uint64_t& position = state_.positions[{topic, partition}];
  moved_ = moved_ || position != next;
  position = next;
}

std::optional<std::uint64_t> CollectorFolder::position(const std::string& topic, std::uint32_t partition) const {
  const auto found = state_.positions.find({topic, partition});
  if (found == state_.positions.end()) return std::nullopt;
  return found->second;
}

void CollectorFolder::forget_positions(const std::string& topic) {
  const auto is_of_it = [&](const auto& entry) { return entry.first.first == topic; };
  if (std::erase_if(state_.positions, is_of_it) > 0) moved_ = true;
}

/// The ids are made durable before the state: ids beyond those that the state knows of mean nothing, so that a crash
/// between the two counts nothing.
void CollectorFolder::commit() {
  if (added_.empty() && !moved_) return;
  if (!added_.empty()) {
    const bool is_new = !ids_file_;
    if (is_new) ids_file_ = disk_.create(path(ids_name), journal::Audience::operators);
    // Ids of a commit that a crash cut lie behind this, and are written over.
    std::uint64_t offset = state_.ids.length;
    const auto write = [&](std::string_view bytes) {
      ids_file_->write(offset, bytes);
      offset += bytes.size();
    };
    NUSTREAM_TORN_WRITE("during-write-ids", std::string_view(added_), write);
    NUSTREAM_FAILPOINT("after-write-ids");
    ids_file_->sync();
    NUSTREAM_FAILPOINT("after-sync-ids");
    // A new file's name is durable only when the folder is.
    if (is_new) disk_.sync_folder(folder_);
    ids_hash_.add(added_);
    state_.ids = {offset, ids_hash_.value()};
    added_.clear();
  }
  write_state();
  moved_ = false;
}

void CollectorFolder::write_state() {
  const auto next = disk_.create(path(next_state_name), journal::Audience::operators);
  const std::string bytes = encode(state_);
  std::uint64_t offset = 0;
  const auto write = [&](std::string_view part) {
    next->write(offset, part);
    offset += part.size();
  };
  NUSTREAM_TORN_WRITE("during-write-sums", std::string_view(bytes), write);
  next->sync();
  NUSTREAM_FAILPOINT("after-sync-sums");
  // The rename replaces the state as a whole: a crash leaves the old one or the new one.
  disk_.rename(path(next_state_name), path(state_name));
  NUSTREAM_FAILPOINT("after-rename-sums");
  disk_.sync_folder(folder_);
  NUSTREAM_FAILPOINT("after-commit-sums");
}

}  // namespace nustream::local
