// The store of users in a folder: which of the two files a record goes to, and what a crash may have left in them.
// What the records say is made by LogWriter and judged by Rebuild; this file only moves their bytes. It follows
// docs/formats/users.md, "Files" and "Reading".
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
// A read is at least as long as a record, so that the buffer of UserLog::read() stays below two reads.
constexpr std::size_t read_bytes = std::size_t{4} << 20;
static_assert(read_bytes >= record_bytes_max);

/// How a folder is mended. A new epoch is the way out where no copy is left: everybody counts anew then, and what
/// was spent before is charged beside it.
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

/// The bytes in clear with which the file of a segment begins. open_segment() compares all of them but the number.
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
  // The number of the segment does not change the header's length, and is not compared.
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
  // The header is not authenticated. It only tells a mistake early and by name: each record is authenticated with the
  // same context, so that a changed header does not let another lane's records in.
  if (fields.rest() != context_) {
    throw Failure(Exit::data,
                  path(file).string() + " is the store of another stream, lane or key of users" + restore_advice());
  }
  segment.segment.number = number;
  segment.size = expected.size();
  return segment;
}

/// Gives the file's records to `rebuild`, in order. Afterwards segment.size is where the committed records end: what
/// lies behind that may be overwritten.
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
      // No record has that length, so that nobody knows where the next record begins. Before the mark that is damage;
      // behind the mark it is what a crash left.
      if (*size == 0) return rebuild.torn();
      if (*size > rest.size()) break;
      const std::string_view sealed = rest.substr(0, *size);
      rest.remove_prefix(*size);
      // Records behind the mark are looked at too, though they are not applied: one of a later
      // batch shows a rollback.
      if (rebuild.take(sealed) != Taken::applied) continue;
      segment.size += sealed.size();
      segment.segment.count(sealed);
    }
    buffer.erase(0, buffer.size() - rest.size());
    if (!is_end) continue;
    // The file ends within a record.
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
    // One file is always the successor of the other. Any other pair was put together from different copies.
    throw Failure(Exit::data, "the two files of the store of users do not follow each other" + restore_advice());
  }
  return newer;
}

void UserLog::rebuild(const StoreMark& mark, journal::Access access) {
  rebuild_table(key_, context_, mark, table_, [&](Rebuild& rebuild) {
    // The files are opened anew in each attempt, since the first attempt has moved sizes and counts
    // (rebuild_table()).
    current_ = open_segments(access);
    // Records are taken in the order of their numbers, so that the file of the older segment comes first.
    for (const unsigned file : {1 - current_, current_}) {
      if (files_[file].segment.number != 0) read(files_[file], rebuild);
    }
  });
}

void UserLog::load(const StoreMark& mark) {
  rebuild(mark, journal::Access::write);
  // Only load() cuts off what was not committed. For look() these bytes may be the batch of a process that runs.
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
  // The first segment of all goes into users-0.log, for which current_ is 0 already.
  if (number > 1) current_ = 1 - current_;
  // This empties the file at once, before the state of the batch is durable. A crash loses nothing by it: the segment
  // that was just filled holds the whole table, and the file that is emptied is older than that.
  files_[current_] = {disk_.create(path(current_), journal::Audience::operators), 0, {}};
  new_name_ = true;
  return header(number);
}

/// Writes a batch's bytes in one piece behind what is committed. sync() makes them durable.
StoreMark UserLog::write(Appended batch) {
  std::string bytes = batch.begins_segment() ? begin_file() : std::string();
  const Sealed sealed = batch.seal();
  for (const std::string& record : sealed.records) bytes += record;
  SegmentFile& segment = files_[current_];
  const auto write = [&](std::string_view text) {
    segment.file->write(segment.size, text);
    segment.size += text.size();
  };
  NUSTREAM_TORN_WRITE("during-write-users", std::string_view(bytes), write);
  NUSTREAM_FAILPOINT("after-write-users");
  written_ = sealed.mark;
  return written_;
}

StoreMark UserLog::append_epoch(std::optional<std::pair<Mass, Mass>> mass) {
  return write(writer_.append_epoch(mass));
}

StoreMark UserLog::append(const Changes& changes) {
  return write(writer_.append(changes));
}

void UserLog::sync() {
  // First the bytes, then the name. Both are durable before the caller may commit a state that has their mark.
  files_[current_].file->sync();
  if (new_name_) disk_.sync_folder(folder_);
  new_name_ = false;
  NUSTREAM_FAILPOINT("after-sync-users");
}

void UserLog::committed(Changes& changes) {
  writer_.committed(changes, written_);
}

}  // namespace nustream::users
