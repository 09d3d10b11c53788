// A state's bookmark: where its lane's releases and ledger lines are in their topics.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kafka/partition.h"

namespace nustream::kafka {

struct TopicBookmark {
  Offset releases_from{0};              ///< every release of a later step than the state's is at or behind it
  std::optional<Offset> ledger_line{};  ///< the offset of a ledger line at or before the state's own, if there is one
};

[[nodiscard]] std::string encode_bookmark(const TopicBookmark& bookmark);
/// Throws Failure(data) where the bytes are no such bookmark, as in the state of a folder.
[[nodiscard]] TopicBookmark decode_bookmark(std::string_view bytes);

}  // namespace nustream::kafka
