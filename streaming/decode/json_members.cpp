// Builds the tree of members that the decoder looks for: columns that share a way share its branches. The end of the
// file has the UTF-8 that is needed for copies that simdjson accepts.
#include "decode/json_members.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "config/json_pointer.h"
#include "error.h"

namespace nustream::decode {
namespace {

/// One step of a pointer without its escapes (RFC 6901, section 4): ~1 is a slash and ~0 a tilde.
std::string unescaped(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      key += token[i];
      continue;
    }
    ++i;
    key += token[i] == '0' ? '~' : '/';
  }
  return key;
}

/// The place in an array that the key means: "0", "1", "2", …, without leading zeros, as RFC 6901 writes places.
/// Empty for other keys.
std::optional<std::size_t> place_of(std::string_view key) {
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), place);
  const bool whole = error == std::errc() && end == key.data() + key.size();
  return whole && (key.size() == 1 || key.front() != '0') ? std::optional(place) : std::nullopt;
}

/// The member at the end of the path. It is made, with all members on the way, where it is not there yet.
JsonMember& member_at(std::vector<JsonMember>& top, std::span<const std::string> path) {
  std::vector<JsonMember>* level = &top;
  JsonMember* found = nullptr;
  for (const std::string& key : path) {
    const auto known = std::find_if(level->begin(), level->end(), [&](const JsonMember& m) { return m.key == key; });
    found = known != level->end() ? &*known : &level->emplace_back(JsonMember{.key = key, .place = place_of(key)});
    level = &found->inside;
  }
  return *found;
}

/// The paths at which a column's value may stand. An envelope may come with its schema; then the row is in its
/// payload.
std::vector<std::vector<std::string>> paths_of(const std::string& column, config::Envelope envelope) {
  // A pointer says the whole way itself.
  if (envelope == config::Envelope::none || column.starts_with('/')) return {json_path(column)};
  return {{"after", column}, {"payload", "after", column}};
}

}  // namespace

std::vector<std::string> json_path(const std::string& column) {
  if (!column.starts_with('/')) return {column};
  if (const std::string_view why = config::why_no_pointer(column); !why.empty()) {
    throw Failure(
        Exit::configuration,
        "column '" + column + "': a name that begins with a slash is a JSON pointer, and " + std::string(why));
  }
  std::vector<std::string> path;
  for (std::string_view rest = column; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view token = rest.substr(0, rest.find('/'));
    path.push_back(unescaped(token));
    rest.remove_prefix(token.size());
  }
  return path;
}

std::vector<JsonMember> json_members(const config::InputSettings& settings, std::span<const record::Field> fields) {
  std::vector<JsonMember> top;
  if (settings.envelope == config::Envelope::debezium) {
    for (const std::vector<std::string>& path : {std::vector<std::string>{"after"}, {"payload", "after"}}) {
      member_at(top, path).row = true;
    }
  }
  for (std::uint32_t f = 0; f < fields.size(); ++f) {
    // Two fields may read one member, for example a number and its square.
    for (const auto& path : paths_of(fields[f].column, settings.envelope)) {
      member_at(top, path).fields.push_back(f);
    }
  }
  if (settings.time_column.empty()) return top;
  for (const auto& path : paths_of(settings.time_column, settings.envelope)) member_at(top, path).time = true;
  return top;
}

namespace {

constexpr char stand_in = '\x7f';

/// Which values the second byte may have, and the number of bytes of the character: RFC 3629, section 4.
struct Form {
  unsigned from, to;
  std::size_t bytes;
};

/// The form of a character whose first byte is `first`, at least 0x80; it has 0 bytes where no character begins so.
Form form_of(unsigned first) {
  if (first >= 0xc2 && first <= 0xdf) return {0x80, 0xbf, 2};
  // Narrower second bytes keep out forms that are too long (0xe0, 0xf0), surrogates (0xed) and
  // codes above U+10FFFF (0xf4).
  if (first == 0xe0) return {0xa0, 0xbf, 3};
  if (first == 0xed) return {0x80, 0x9f, 3};
  if (first >= 0xe1 && first <= 0xef) return {0x80, 0xbf, 3};
  if (first == 0xf0) return {0x90, 0xbf, 4};
  if (first >= 0xf1 && first <= 0xf3) return {0x80, 0xbf, 4};
  if (first == 0xf4) return {0x80, 0x8f, 4};
  return {1, 0, 0};
}

/// The number of bytes of the character that begins `text`, which is not empty; 0 where none begins there.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return 1;
  const Form form = form_of(byte(0));
  if (form.bytes == 0 || text.size() < form.bytes || byte(1) < form.from || byte(1) > form.to) return 0;
  for (std::size_t i = 2; i < form.bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  return form.bytes;
}

}  // namespace

void copy_as_utf8(std::string_view text, std::string& out) {
  out.assign(text);
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t bytes = character_bytes(std::string_view(out).substr(at));
    // One byte at a time, so that a character which follows a stray byte is kept.
    if (bytes == 0) out[at] = stand_in;
    at += bytes == 0 ? 1 : bytes;
  }
}

std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    out += bytes == 0 ? "\xef\xbf\xbd" : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

}  // namespace nustream::decode
