// Repairs text that is said to be UTF-8 and is not everywhere.
#pragma once

#include <string>
#include <string_view>

namespace nustream::decode {

/// Copies `text` to `out` and replaces each byte that belongs to no character (RFC 3629) by a control character,
/// which no name and no number holds. As many bytes come out as went in.
void copy_as_utf8(std::string_view text, std::string& out);

}  // namespace nustream::decode
