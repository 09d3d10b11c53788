#include "journal/bookmark.h"

#include "error.h"
#include "secrets/fields.h"

namespace nustream::journal {
namespace {

void append_extent(const Extent& extent, std::string& out) {
  secrets::append_integer(extent.length, out);
  secrets::append_bytes(extent.hash, out);
}

Extent read_extent(secrets::FieldReader& fields) {
  Extent extent;
  extent.length = fields.integer<std::uint64_t>();
  fields.bytes(extent.hash);
  return extent;
}

constexpr const char* no_bookmark =
    "the state's bookmark is not one of a folder: it was made by attach, and this command reads folders; check "
    "state.directory";

}  // namespace

std::string encode_bookmark(const Bookmark& bookmark) {
  std::string out;
  append_extent(bookmark.releases, out);
  append_extent(bookmark.ledger, out);
  return out;
}

Bookmark decode_bookmark(std::string_view bytes) {
  secrets::FieldReader fields(bytes, no_bookmark);
  const Extent releases = read_extent(fields);
  const Extent ledger = read_extent(fields);
  if (!fields.rest().empty()) throw Failure(Exit::data, no_bookmark);
  return {releases, ledger};
}

}  // namespace nustream::journal
