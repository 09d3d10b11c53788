#include "kafka/seen_records.h"

#include <algorithm>
#include <string>

#include "nustream/base/error.h"
#include "secrets/fields.h"
#include "secrets/sodium.h"

namespace nustream::kafka {
namespace {

void append_optional(const std::optional<std::string_view>& bytes, std::string& out) {
  secrets::append_integer(static_cast<std::uint8_t>(bytes ? 1 : 0), out);
  if (!bytes) return;
  secrets::append_integer(static_cast<std::uint64_t>(bytes->size()), out);
  out += *bytes;
}

}  // namespace

journal::Hash mark_of(const decode::Message& message, const secrets::Keyring& keys) {
  secrets::prepare_sodium();
  std::string text = "nustream seen record";  // no ledger line begins like this
  secrets::append_integer(message.offset, text);
  secrets::append_integer(static_cast<std::uint64_t>(message.milliseconds), text);
  append_optional(message.key, text);
  append_optional(message.value, text);
  journal::Hash mark{};
  const auto key = keys.ledger_key();
  const int status = crypto_generichash(mark.data(), mark.size(), reinterpret_cast<const unsigned char*>(text.data()),
                                        text.size(), key.data(), key.size());
  NUSTREAM_REQUIRE(status == 0, "keyed BLAKE2b");
  return mark;
}

void SeenRecords::add(std::span<const decode::Message> messages, const secrets::Keyring& keys) {
  const std::size_t first = messages.size() > kept ? messages.size() - kept : 0;
  for (const decode::Message& message : messages.subspan(first)) {
    seen_.push_back({Position{message.offset}, mark_of(message, keys)});
  }
}

std::vector<journal::SeenRecord> SeenRecords::below(Position position) {
  const auto end = std::find_if(seen_.begin(), seen_.end(),
                                [&](const journal::SeenRecord& seen) { return seen.position >= position; });
  const auto count = std::min<std::ptrdiff_t>(end - seen_.begin(), static_cast<std::ptrdiff_t>(kept));
  seen_.erase(seen_.begin(), end - count);
  return {seen_.begin(), seen_.begin() + count};
}

}  // namespace nustream::kafka
