#include "users/user_log.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "journal/failpoint.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"

namespace nustream::users {
namespace {

constexpr std::string_view magic{"NUUSERS\0", 8};
constexpr std::uint32_t format = 1;
constexpr std::size_t read_bytes = std::size_t{4} << 20;
static_assert(read_bytes >= record_bytes_max);

std::string restore_advice() {
  return "; restore the store of users as it was, or begin a new epoch with --new-epoch, which is charged beside "
         "what "
         "users have spent";
}

}  // namespace

UserLog::UserLog(journal::Disk& disk, journal::Disk::Path folder, UserKey key, const StoreIdentity& identity,
                 Table& table, std::uint64_t segment_bytes_min)
    : disk_(disk),
      folder_(std::move(folder)),
      key_(std::move(key)),
      identity_(identity),
      context_(store_context(key_, identity)),
      table_(table),
      segment_bytes_min_(segment_bytes_min) {}

journal::Disk::Path UserLog::path(const journal::Disk::Path& folder, unsigned file) {
  return folder / ("users-" + std::to_string(file) + ".log");
}

std::string UserLog::header(std::uint64_t segment) const {
  std::string bytes(magic);
  secrets::append_integer(format, bytes);
  secrets::append_integer(segment, bytes);
  return bytes + context_;
}

/// Its number is 0 where the file is missing, or a crash left no whole header.
UserLog::Segment UserLog::open_segment(unsigned file, journal::Access access) const {
  Segment segment;
  segment.file = disk_.open(path(file), access);
  if (!segment.file) return segment;
  const std::string expected = header(0);
  std::string found(expected.size(), '\0');
  found.resize(segment.file->read(0, found));
  const bool is_whole = found.size() == expected.size() && std::string_view(found).substr(0, magic.size()) == magic;
  if (!is_whole) {
    const bool is_other = !found.starts_with(magic.substr(0, std::min(found.size(), magic.size()))) &&
                          found.find_first_not_of('\0') != std::string::npos;
    if (is_other) throw Failure(Exit::data, path(file).string() + " is no store of users" + restore_advice());
    return segment;
  }
  secrets::FieldReader fields(std::string_view(found).substr(magic.size()), "");
  if (const auto version = fields.integer<std::uint32_t>(); version != format) {
    throw Failure(Exit::data, path(file).string() + " has format " + std::to_string(version) +
                                  ", this version reads format " + std::to_string(format) +
                                  "; use the version that wrote it");
  }
  const auto number = fields.integer<std::uint64_t>();
  if (fields.rest() != context_) {
    throw Failure(Exit::data,
                  path(file).string() + " is the store of another stream, lane or key of users" + restore_advice());
  }
  segment.segment = number;
  segment.size = expected.size();
  return segment;
}

void UserLog::read(Segment& segment, Rebuild& rebuild) const {
  std::string buffer;
  for (std::uint64_t offset = segment.size;;) {
    const std::uint64_t left = segment.file->size() - offset;
    std::string chunk(static_cast<std::size_t>(std::min<std::uint64_t>(read_bytes, left)), '\0');
    chunk.resize(segment.file->read(offset, chunk));
    offset += chunk.size();
    const bool is_end = chunk.empty();
    buffer += chunk;
    std::string_view rest = buffer;
    while (const auto size = record_size(rest)) {
      if (*size == 0) return rebuild.torn();
      if (*size > rest.size()) break;
      const std::string_view sealed = rest.substr(0, *size);
      rest.remove_prefix(*size);
      if (rebuild.take(sealed) == Taken::applied) count(sealed, segment);
    }
    buffer.erase(0, buffer.size() - rest.size());
    if (!is_end) continue;
    if (!buffer.empty()) rebuild.torn();
    return;
  }
}

/// A record that stays.
void UserLog::count(std::string_view sealed, Segment& segment) {
  segment.size += sealed.size();
  if (const auto part = part_of(sealed)) {
    segment.parts = *part + 1U;
    segment.part_bytes += sealed.size();
  } else {
    segment.change_bytes += sealed.size();
  }
}

void UserLog::rebuild(const StoreMark& mark, journal::Access access) {
  for (unsigned file = 0; file < 2; ++file) files_[file] = open_segment(file, access);
  const unsigned newer = files_[1].segment > files_[0].segment ? 1 : 0;
  const unsigned older = 1 - newer;
  const bool has_two = files_[older].segment != 0;
  if (has_two && files_[newer].segment != files_[older].segment + 1) {
    throw Failure(Exit::data, "the two files of the store of users do not follow each other" + restore_advice());
  }
  Rebuild rebuild(key_, context_, mark, table_);
  for (const unsigned file : {older, newer}) {
    if (files_[file].segment != 0) read(files_[file], rebuild);
  }
  rebuild.finish();
  current_ = newer;
}

void UserLog::load(const StoreMark& mark) {
  rebuild(mark, journal::Access::write);
  for (Segment& segment : files_) {
    if (!segment.file || segment.file->size() <= segment.size) continue;
    segment.file->truncate(segment.size);
    segment.file->sync();
  }
  mark_ = mark;
  open_commit_ = mark.commit + 1;
  new_name_ = true;  // a file that an earlier process made and was killed over
}

void UserLog::begin_segment() {
  const Segment& before = files_[current_];
  const std::uint64_t number = before.segment + 1;
  if (before.segment != 0) current_ = 1 - current_;
  Segment& segment = files_[current_] = {};
  segment.file = disk_.create(path(current_), journal::Audience::operators);
  segment.segment = number;
  unwritten_ = header(number);
  segment.size = unwritten_.size();
  new_name_ = true;
}

void UserLog::write(UserRecord record) {
  record.number = ++mark_.number;
  record.commit = open_commit_;
  const std::string sealed = seal_record(key_, context_, record);
  unwritten_ += sealed;
  count(sealed, files_[current_]);
}

/// All of them, as records that are not too long; one of them at least.
void UserLog::write(RecordKind kind, std::uint8_t part, std::span<const Entry> entries) {
  do {
    const auto taken = entries.first(std::min(entries.size(), record_entries_max));
    write({0, 0, kind, part, {taken.begin(), taken.end()}, {}, {}});
    entries = entries.subspan(taken.size());
    if (kind == RecordKind::emptied_changes) kind = RecordKind::changes;
  } while (!entries.empty());
}

/// As many bytes of parts as of changes, so that the store grows no faster than twice the changes.
void UserLog::write_parts() {
  Segment& segment = files_[current_];
  while (segment.parts < Table::parts && segment.part_bytes <= segment.change_bytes) {
    std::vector<Entry> entries;
    table_.visit_part(segment.parts, [&](const Entry& entry) { entries.push_back(entry); });
    write(RecordKind::part, static_cast<std::uint8_t>(segment.parts), entries);
  }
}

/// Begins a file where it is time to.
void UserLog::open_batch() {
  NUSTREAM_REQUIRE(open_commit_ != 0, "a store of users is loaded before it is appended to");
  const Segment& segment = files_[current_];
  const bool is_full =
      segment.parts == Table::parts && segment.change_bytes >= std::max(segment.part_bytes, segment_bytes_min_);
  if (segment.segment == 0 || is_full) begin_segment();
}

StoreMark UserLog::append_epoch(std::optional<std::pair<Mass, Mass>> mass) {
  open_batch();
  UserRecord record{0, 0, RecordKind::epoch};
  if (mass) {
    record.mass_before = mass->first;
    record.mass_after = mass->second;
  }
  write(record);
  table_.change_all([&](const Standing& standing) {
    return mass ? carried_over(standing, mass->first, mass->second) : carried_over(standing);
  });
  mark_.digest = digest_of(key_, table_);
  return flush();
}

StoreMark UserLog::append(const Changes& changes) {
  open_batch();
  write_parts();
  std::vector<Entry> entries;
  entries.reserve(changes.all().size());
  for (const Change& change : changes.all()) entries.push_back(change.entry);
  if (changes.emptied() || !entries.empty()) {
    write(changes.emptied() ? RecordKind::emptied_changes : RecordKind::changes, 0, entries);
  }
  mark_.digest.change(key_, changes);
  const auto is_new = [](const Change& change) { return change.before.count == 0; };
  const auto new_users = static_cast<std::uint64_t>(std::ranges::count_if(changes.all(), is_new));
  mark_.users = (changes.emptied() ? 0 : table_.size()) + new_users;
  return flush();
}

StoreMark UserLog::flush() {
  Segment& segment = files_[current_];
  std::uint64_t offset = segment.size - unwritten_.size();
  const auto write = [&](std::string_view bytes) {
    segment.file->write(offset, bytes);
    offset += bytes.size();
  };
  NUSTREAM_TORN_WRITE("during-write-users", std::string_view(unwritten_), write);
  NUSTREAM_FAILPOINT("after-write-users");
  unwritten_.clear();
  mark_.commit = open_commit_;
  return mark_;
}

void UserLog::sync() {
  files_[current_].file->sync();
  if (new_name_) disk_.sync_folder(folder_);
  new_name_ = false;
  NUSTREAM_FAILPOINT("after-sync-users");
}

void UserLog::committed(Changes& changes) {
  changes.apply(table_);
  open_commit_ = mark_.commit + 1;
}

}  // namespace nustream::users
