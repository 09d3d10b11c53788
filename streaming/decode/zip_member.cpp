// By APPNOTE.TXT 6.3.10 (PKWARE): the end of the central directory, its 64-bit form, and file headers.
#include "decode/zip_member.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/file_kind.h"
#include "error.h"
#include "shell_word.h"

namespace nustream::decode {
namespace {

constexpr std::size_t end_bytes = 22;
constexpr std::size_t locator_bytes = 20;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t comment_bytes_max = 0xffff;
constexpr std::size_t directory_bytes_max = std::size_t{16} << 20;
constexpr std::uint32_t all_bits_32 = 0xffff'ffff;
constexpr std::uint16_t encrypted = 1;  // a bit of the flags

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = width; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Failure(Exit::data, "'" + path + "' is a zip archive " + what);
}

[[noreturn]] void refuse_cut(const std::string& path) {
  throw Failure(Exit::io, "'" + path + "' is a zip archive that was cut or damaged: fetch the file again");
}

struct Directory {
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// Finds the directory of an archive beyond 4 GiB, through the record that a locator right before the end leads to.
Directory directory_64(const RandomAccess& file, std::uint64_t end_at) {
  if (end_at < locator_bytes) refuse_cut(file.path());
  const std::string locator = file.read(end_at - locator_bytes, locator_bytes);
  if (!locator.starts_with("PK\x06\x07")) refuse_cut(file.path());
  const std::string end = file.read(number(locator, 8, 8), end64_bytes);
  if (!end.starts_with("PK\x06\x06")) refuse_cut(file.path());
  return {number(end, 48, 8), number(end, 40, 8)};
}

Directory find_directory(const RandomAccess& file) {
  const std::uint64_t size = file.size();
  const std::uint64_t tail = std::min<std::uint64_t>(size, end_bytes + comment_bytes_max);
  const std::string last = file.read(size - tail, tail);
  for (std::size_t at = last.size(); at-- > 0;) {
    const std::string_view end = std::string_view(last).substr(at);
    if (end.size() < end_bytes || !end.starts_with("PK\x05\x06")) continue;
    if (end_bytes + number(end, 20, 2) != end.size()) continue;  // these bytes are inside a comment or a member
    const Directory found{number(end, 16, 4), number(end, 12, 4)};
    const bool is_64 = found.offset == all_bits_32 || found.bytes == all_bits_32 || number(end, 10, 2) == 0xffff;
    return is_64 ? directory_64(file, size - tail + at) : found;
  }
  refuse_cut(file.path());
}

/// Reads the 64-bit numbers of an entry whose 32-bit numbers are all ones. They come in a fixed order.
void read_extra(std::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const std::uint64_t bytes = number(extra, 2, 2);
    std::string_view field = extra.substr(4, bytes);
    if (number(extra, 0, 2) == 1) {
      for (std::uint64_t* const value : {&member.content, &member.stored, &member.offset}) {
        if (*value != all_bits_32 || field.size() < 8) continue;
        *value = number(field, 0, 8);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(std::min<std::size_t>(4 + bytes, extra.size()));
  }
}

/// A member of the directory; its `offset` is still that of its own header.
struct Entry {
  ZipMember member;
  bool is_encrypted;
};

/// Whether macOS has put the member beside somebody's files: what it keeps of a folder or of a file.
bool is_of_macos(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);  // npos + 1 is 0
  return name.starts_with("__MACOSX/") || name.find("/__MACOSX/") != std::string_view::npos || last == ".DS_Store" ||
         last.starts_with("._");
}

/// Takes the next entry off the directory. Returns nothing for a folder, and for files that macOS adds beside others.
std::optional<Entry> read_entry(std::string_view& directory, const std::string& path) {
  if (directory.size() < entry_bytes || !directory.starts_with("PK\x01\x02")) refuse_cut(path);
  const std::size_t name_bytes = number(directory, 28, 2);
  const std::size_t extra_bytes = number(directory, 30, 2);
  const std::size_t all = entry_bytes + name_bytes + extra_bytes + number(directory, 32, 2);
  if (directory.size() < all) refuse_cut(path);
  Entry entry{
      {std::string(directory.substr(entry_bytes, name_bytes)), static_cast<std::uint16_t>(number(directory, 10, 2)),
       number(directory, 20, 4), number(directory, 24, 4), static_cast<std::uint32_t>(number(directory, 16, 4)),
       number(directory, 42, 4)},
      (number(directory, 8, 2) & encrypted) != 0};
  read_extra(directory.substr(entry_bytes + name_bytes, extra_bytes), entry.member);
  directory.remove_prefix(all);
  const bool is_own = !entry.member.name.ends_with('/') && !is_of_macos(entry.member.name);
  return is_own ? std::optional(std::move(entry)) : std::nullopt;
}

std::vector<Entry> read_directory(const RandomAccess& file) {
  const Directory place = find_directory(file);
  if (place.bytes > directory_bytes_max) refuse(file.path(), "of very many files: name one of them, unpacked");
  const std::string bytes = file.read(place.offset, place.bytes);
  std::vector<Entry> entries;
  for (std::string_view rest = bytes; !rest.empty();) {
    if (auto entry = read_entry(rest, file.path())) entries.push_back(std::move(*entry));
  }
  return entries;
}

bool is_office(const std::vector<Entry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.member.name == "[Content_Types].xml" || entry.member.name == "mimetype";
  });
}

/// The name for unzip, which takes names of members for patterns: "a[[]1].csv" for a[1].csv.
std::string as_pattern(const std::string& name) {
  std::string pattern;
  for (const char letter : name) {
    const bool is_special = letter == '[' || letter == '*' || letter == '?';
    pattern += is_special ? std::string("[") + letter + ']' : std::string(1, letter);
  }
  return pattern;
}

/// Requires exactly one file. The message says only how many there are and the name of the first one, because an
/// archive may hold anything.
void require_one(const std::vector<Entry>& entries, const std::string& path) {
  if (is_office(entries)) {
    throw Failure(Exit::data, "'" + path +
                                  "' is an Office document, such as a workbook: save its sheet as CSV, for "
                                  "example with: libreoffice --headless --convert-to csv " +
                                  in_quotes(name_to_type(path)));
  }
  if (entries.empty()) refuse(path, "without a file in it: give it records");
  if (entries.size() > 1) {
    refuse(path, "of " + std::to_string(entries.size()) +
                     " files: unpack it and name the one that is meant, or: unzip -p " +
                     in_quotes(name_to_type(path)) + " " + in_quotes(as_pattern(entries.front().member.name)) +
                     " | nustream … -");
  }
  if (entries.front().is_encrypted)
    refuse(path, "that needs a password: unpack it with: unzip " + in_quotes(name_to_type(path)));
}

}  // namespace

ZipMember only_member(const std::string& path) {
  const RandomAccess file(path);
  const std::vector<Entry> entries = read_directory(file);
  require_one(entries, path);
  ZipMember member = entries.front().member;
  constexpr std::uint16_t stored_as_it_is = 0, deflated = 8;
  if (member.method != stored_as_it_is && member.method != deflated) {
    refuse(path, "compressed by method " + std::to_string(member.method) +
                     ", and zlib's deflate (8) is read: unpack it with: 7z x " + in_quotes(name_to_type(path)));
  }
  const std::string local = file.read(member.offset, local_bytes);
  if (!local.starts_with("PK\x03\x04")) refuse_cut(path);
  member.offset += local_bytes + number(local, 26, 2) + number(local, 28, 2);
  if (member.offset > file.size() || member.stored > file.size() - member.offset) refuse_cut(path);
  return member;
}

RandomAccess::RandomAccess(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw Failure(Exit::io, "cannot open '" + path + "': " + std::generic_category().message(errno) +
                                "; check the path and its permissions");
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

RandomAccess::~RandomAccess() {
  ::close(descriptor_);
}

std::string RandomAccess::read(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    throw Failure(Exit::io, "'" + path_ + "' is shorter than it says of itself: fetch the file again");
  }
  std::string out(bytes, '\0');
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t count =
        ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Failure(Exit::io, "cannot read '" + path_ + "': it ends too soon; fetch the file again");
    done += static_cast<std::size_t>(count);
  }
  return out;
}

}  // namespace nustream::decode
