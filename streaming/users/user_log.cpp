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
  return "; restore the store of users as it was, or begin a new epoch (nustream replay --new-epoch), which is "
         "charged beside what users have spent";
}

}  // namespace

UserLog::UserLog(journal::Disk& disk, journal::Disk::Path folder, UserKey key, const StoreIdentity& identity,
                 Standings& table, std::uint64_t segment_bytes_min)
    : disk_(disk),
      folder_(std::move(folder)),
      key_(std::move(key)),
      context_(store_context(key_, identity)),
      table_(table),
      writer_(key_, context_, table, {.segment_bytes_min = segment_bytes_min}) {}

journal::Disk::Path UserLog::path(const journal::Disk::Path& folder, unsigned file) {
  return folder / ("users-" + std::to_string(file) + ".log");
}

std::string UserLog::header(std::uint64_t segment) const {
  std::string bytes(magic);
  secrets::append_integer(format, bytes);
  secrets::append_integer(segment, bytes);
  return bytes + context_;
}

/// Opens one of the two files. The segment's number is 0 where the file is missing, or where a crash left no whole
/// header.
UserLog::SegmentFile UserLog::open_segment(unsigned file, journal::Access access) const {
  SegmentFile segment;
  segment.file = disk_.open(path(file), access);
  if (!segment.file) return segment;
  const std::string expected = header(0);
  std::string found(expected.size(), '\0');
  found.resize(segment.file->read(0, found));
  const bool is_whole = found.size() == expected.size() && std::string_view(found).substr(0, magic.size()) == magic;
  if (!is_whole) {
    // A crash may leave a header in part, or NUL bytes where it was not written yet. Anything else is another file.
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
  segment.segment.number = number;
  segment.size = expected.size();
  return segment;
}

void UserLog::read(SegmentFile& segment, Rebuild& rebuild) {
  std::string buffer;
  for (std::uint64_t offset = segment.size;;) {
    const std::uint64_t left = segment.file->size() - offset;
    std::string chunk(static_cast<std::size_t>(std::min<std::uint64_t>(read_bytes, left)), '\0');
    chunk.resize(segment.file->read(offset, chunk));
    offset += chunk.size();
    const bool is_end = chunk.empty();
    buffer += chunk;
    // A record may reach from one read into the next. What is left of the buffer waits for that.
    std::string_view rest = buffer;
    while (const auto size = record_size(rest)) {
      if (*size == 0) return rebuild.torn();
      if (*size > rest.size()) break;
      const std::string_view sealed = rest.substr(0, *size);
      rest.remove_prefix(*size);
      if (rebuild.take(sealed) != Taken::applied) continue;
      segment.size += sealed.size();
      segment.segment.count(sealed);
    }
    buffer.erase(0, buffer.size() - rest.size());
    if (!is_end) continue;
    if (!buffer.empty()) rebuild.torn();
    return;
  }
}

/// Opens both files, and returns which of them is the newer one.
unsigned UserLog::open_segments(journal::Access access) {
  for (unsigned file = 0; file < 2; ++file) files_[file] = open_segment(file, access);
  const unsigned newer = files_[1].segment.number > files_[0].segment.number ? 1 : 0;
  const unsigned older = 1 - newer;
  const bool has_two = files_[older].segment.number != 0;
  if (has_two && files_[newer].segment.number != files_[older].segment.number + 1) {
    throw Failure(Exit::data, "the two files of the store of users do not follow each other" + restore_advice());
  }
  return newer;
}

void UserLog::rebuild(const StoreMark& mark, journal::Access access) {
  rebuild_table(key_, context_, mark, table_, [&](Rebuild& rebuild) {
    current_ = open_segments(access);
    for (const unsigned file : {1 - current_, current_}) {
      if (files_[file].segment.number != 0) read(files_[file], rebuild);
    }
  });
}

void UserLog::load(const StoreMark& mark) {
  rebuild(mark, journal::Access::write);
  for (SegmentFile& segment : files_) {
    if (!segment.file || segment.file->size() <= segment.size) continue;
    segment.file->truncate(segment.size);
    segment.file->sync();
  }
  writer_.resume(mark, files_[current_].segment);
  new_name_ = true;  // an earlier process may have made a file and been killed before its name was durable
}

/// Makes the file for the segment that the writer has begun, in place of the older one of the two. Returns its
/// header.
std::string UserLog::begin_file() {
  const std::uint64_t number = writer_.segment().number;
  if (number > 1) current_ = 1 - current_;
  files_[current_] = {disk_.create(path(current_), journal::Audience::operators), 0, {}};
  new_name_ = true;
  return header(number);
}

StoreMark UserLog::write(const Appended& batch) {
  std::string bytes = batch.begins_segment ? begin_file() : std::string();
  for (const std::string& record : batch.records) bytes += record;
  SegmentFile& segment = files_[current_];
  const auto write = [&](std::string_view text) {
    segment.file->write(segment.size, text);
    segment.size += text.size();
  };
  NUSTREAM_TORN_WRITE("during-write-users", std::string_view(bytes), write);
  NUSTREAM_FAILPOINT("after-write-users");
  return writer_.mark();
}

StoreMark UserLog::append_epoch(std::optional<std::pair<Mass, Mass>> mass) {
  return write(writer_.append_epoch(mass));
}

StoreMark UserLog::append(const Changes& changes) {
  return write(writer_.append(changes));
}

void UserLog::sync() {
  files_[current_].file->sync();
  if (new_name_) disk_.sync_folder(folder_);
  new_name_ = false;
  NUSTREAM_FAILPOINT("after-sync-users");
}

void UserLog::committed(Changes& changes) {
  writer_.committed(changes);
}

}  // namespace nustream::users
