// The ledger and the releases of a state folder, and its rejects, are files of this kind. Three numbers divide one:
// up to `length_` it is what the run has appended or a state vouches for, up to `keep_` it is whole lines that were
// judged good, and up to `size_` it is what was found, with a torn tail perhaps.
#include "journal/appended_file.h"

#include <algorithm>
#include <utility>

#include "error.h"
#include "journal/outbox_folder.h"
#include "nustream/base/error.h"

namespace nustream::journal {
namespace {

// A file of releases may be larger than the memory. It is hashed in pieces of this size.
constexpr std::uint64_t chunk_bytes = 1 << 20;
// Behind a bookmark a run writes only the lines of that state. A file that is longer by up to this many bytes is
// still read and judged, since its end may be a torn line. A file that is longer still is refused without being read.
constexpr std::uint64_t torn_bytes_max = 1 << 20;

/// Where the whole lines before the first NUL byte end. What comes after that is a torn tail.
std::size_t whole_lines(std::string_view tail) {
  const std::string_view before_nul = tail.substr(0, tail.find('\0'));
  const std::size_t newline = before_nul.rfind('\n');
  return newline == std::string_view::npos ? 0 : newline + 1;
}

/// True for what a crash in the middle of appending `expected` can leave. That is a line without its newline, or
/// blocks that the file system wrote in any order: those that it had not written yet read as NUL bytes.
bool is_torn(std::string_view removed, std::string_view expected) {
  // For example a crash may have left, of two expected lines, the first one and half of the second; or NUL bytes in
  // the place of the first line, and the whole second one.
  if (removed.find('\n') == std::string_view::npos) return true;
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (removed[i] != '\0' && (i >= expected.size() || removed[i] != expected[i])) return false;
  }
  return true;
}

}  // namespace

AppendedFile::AppendedFile(Disk& disk, Disk::Path path, Audience audience)
    : disk_(disk), path_(std::move(path)), audience_(audience) {}

bool AppendedFile::open() {
  if (!file_) file_ = disk_.open(path_, Access::write);
  return file_ != nullptr;
}

bool AppendedFile::holds_anything() {
  return open() && file_->size() > 0;
}

// For a ledger a new epoch is the last resort, since a ledger that lost lines tells of less than was spent.
AdvisedFailure AppendedFile::contradiction(const std::string& what) const {
  const bool is_ledger = path_.filename() == folder_files::ledger;
  return {Exit::data, path_.string() + " " + what + "; nothing was changed",
          std::string("restore the folder as it was, or ") +
              (is_ledger ? "restore its ledger from the newest copy; without a copy, move the files state and ledger "
                           "away and begin a new epoch with --new-epoch (docs/operations.md, Lost ledger)"
                         : "take lines away that no run wrote, or begin a new epoch with --new-epoch")};
}

std::string AppendedFile::read(std::uint64_t offset, std::uint64_t count) const {
  std::string bytes(count, '\0');
  bytes.resize(file_->read(offset, bytes));
  return bytes;
}

void AppendedFile::judge(const Extent& before, std::string_view rest) {
  size_ = open() ? file_->size() : 0;
  if (size_ < before.length) throw contradiction("is shorter than the state says: it lost lines");
  if (size_ - before.length > rest.size() + torn_bytes_max) {
    throw contradiction("holds lines that the state does not know: the state was rolled back");
  }
  // The part that the state vouches for is checked first, by its hash. Then comes the tail, in which each whole line
  // has to be one that the state was about to append.
  hash_ = RunningHash();
  for (length_ = 0; length_ < before.length;) {
    const std::string chunk = read(length_, std::min(chunk_bytes, before.length - length_));
    if (chunk.empty()) throw contradiction("is shorter than the state says: it lost lines");
    hash_.add(chunk);
    length_ += chunk.size();
  }
  if (hash_.value() != before.hash) throw contradiction("was changed: it is not what the state says was published");
  const std::string tail = size_ > length_ ? read(length_, size_ - length_) : std::string();
  const std::size_t whole = whole_lines(tail);
  const std::string_view removed = std::string_view(tail).substr(whole);
  if (!rest.starts_with(std::string_view(tail).substr(0, whole)) || !is_torn(removed, rest.substr(whole))) {
    throw contradiction("holds lines that the state does not know: the state was rolled back, or others wrote there");
  }
  // `length_` stays at the bookmark. What is there of `rest` is written over with the same bytes, so that append()
  // need not know how much of it a crash let through.
  keep_ = length_ + whole;
}

bool AppendedFile::judge_without_state() {
  size_ = open() ? file_->size() : 0;
  hash_ = RunningHash();
  length_ = 0;
  // Nothing says how long the file should be. So its whole lines are taken as they are, whatever they say, and only
  // damage that no crash can leave is refused.
  std::string pending;  // the bytes behind the last whole line
  bool torn = false;    // true once a NUL byte was met
  for (std::uint64_t offset = 0; offset < size_;) {
    const std::string chunk = read(offset, std::min(chunk_bytes, size_ - offset));
    if (chunk.empty()) break;
    offset += chunk.size();
    pending += chunk;
    if (!torn) {
      const std::size_t whole = whole_lines(pending);
      hash_.add(std::string_view(pending).substr(0, whole));
      length_ += whole;
      pending.erase(0, whole);
      torn = pending.find('\0') != std::string::npos;
    }
    if (torn && pending.find('\n', pending.find('\0')) != std::string::npos) {
      throw contradiction("has lines after NUL bytes: it was damaged in the middle");
    }
  }
  keep_ = length_;
  return keep_ < size_;
}

void AppendedFile::make() {
  if (open()) return;
  file_ = disk_.create(path_, audience_);
  // The folder does not know the name durably yet; take_new() tells the folder's owner to sync it.
  new_ = true;
}

void AppendedFile::go_on_at_end() {
  size_ = open() ? file_->size() : 0;
  length_ = keep_ = size_;
  // A crash may have left half a line. Without a newline the next line would be glued to it, and both be lost.
  if (size_ > 0 && read(size_ - 1, 1) != "\n") append("\n");
}

// Reads backwards from the end in pieces, since the last line may be longer than one of them.
std::string AppendedFile::last_judged_line() const {
  std::string line;
  for (std::uint64_t begin = keep_; begin > 0;) {
    const std::uint64_t count = std::min<std::uint64_t>(begin, 4096);
    begin -= count;
    line.insert(0, read(begin, count));
    // The newline that ends the last line is passed over; the one before it ends the line before.
    const std::size_t newline = line.rfind('\n', line.size() - 2);
    if (line.size() >= 2 && newline != std::string::npos) {
      line.erase(0, newline + 1);
      break;
    }
  }
  if (!line.empty()) line.pop_back();
  return line;
}

std::string AppendedFile::torn_tail() const {
  return read(keep_, std::min<std::uint64_t>(size_ - keep_, 4096));
}

void AppendedFile::cut_torn_tail() {
  if (keep_ == size_) return;
  // Durable with the next sync. Until then a power failure may bring the torn tail back, which is then cut again.
  file_->truncate(keep_);
  size_ = keep_;
  dirty_ = true;
}

void AppendedFile::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (!open()) {
    NUSTREAM_REQUIRE(size_ == 0, "a file that was judged stays");
    make();
  }
  // Another program may have written to the file. To append after its lines would take them into the hash that the
  // next state holds, and no resume would notice them any more.
  if (file_->size() != size_) throw contradiction("was changed by another program while this run was writing it");
  file_->write(length_, bytes);
  hash_.add(bytes);
  length_ += bytes.size();
  // After a resume the file may be ahead of `length_`, as long as `rest` is written over in pieces.
  keep_ = size_ = std::max(size_, length_);
  dirty_ = true;
}

void AppendedFile::sync() {
  if (!dirty_) return;
  file_->sync();
  dirty_ = false;
}

bool AppendedFile::take_new() noexcept {
  return std::exchange(new_, false);
}

}  // namespace nustream::journal
