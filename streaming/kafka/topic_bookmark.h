// What a state remembers of the places where its lane's releases and ledger lines are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kafka/partition.h"

namespace nustream::kafka {

struct TopicBookmark {
  Offset releases_from{0};              ///< every release of a later step than the state's is at or behind it
  std::optional<Offset> ledger_line{};  ///< of a line of this lane at or before the state's own; nothing for none
};

[[nodiscard]] std::string encode_bookmark(const TopicBookmark& bookmark);
/// Failure(data) where the bytes are no such bookmark: the state is that of a folder.
[[nodiscard]] TopicBookmark decode_bookmark(std::string_view bytes);

}  // namespace nustream::kafka
