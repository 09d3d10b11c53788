// How long the ledger and releases files are right before a batch's lines are appended (docs/formats/state.md).
#pragma once

#include <string>
#include <string_view>

#include "journal/running_hash.h"

namespace nustream::journal {

struct Bookmark {
  Extent releases;
  Extent ledger;
};

[[nodiscard]] std::string encode_bookmark(const Bookmark& bookmark);
/// Throws Failure(data) where the bytes are no bookmark.
[[nodiscard]] Bookmark decode_bookmark(std::string_view bytes);

}  // namespace nustream::journal
