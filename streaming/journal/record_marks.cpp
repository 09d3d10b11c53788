#include "journal/record_marks.h"

#include <string>

#include "secrets/fields.h"
#include "secrets/sodium.h"

namespace nustream::journal {

Hash record_mark(Position position, std::string_view bytes, std::span<const std::uint8_t, 32> key) {
  std::string text = "nustream seen record";  // no ledger line, hashed under the same key, begins like this
  secrets::append_integer(position.value(), text);
  text += bytes;
  Hash mark{};
  secrets::keyed_hash(key, text, mark);
  return mark;
}

void add_mark(const SeenRecord& mark, std::vector<SeenRecord>& marks) {
  if (!marks.empty() && mark.position <= marks.back().position) return;
  marks.push_back(mark);
  if (marks.size() <= marks_kept) return;
  const auto gap_without = [&](std::size_t i) {
    return marks[i + 1].position.value() - marks[i - 1].position.value();
  };
  std::size_t least = 1;
  for (std::size_t i = 2; i + 1 < marks.size(); ++i) {
    if (gap_without(i) < gap_without(least)) least = i;
  }
  marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(least));
}

}  // namespace nustream::journal
