// A request and its answer as the routes see them: no socket, no parser.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace nustream::serve {

inline constexpr const char* plain_text = "text/plain; charset=utf-8";

struct Response {
  unsigned status;
  const char* content_type;
  std::string body;
};

/// The answer to GET `path` (without its query): a function of the path and of what the surface holds, and of nothing
/// else about the request or the client.
using Routes = std::function<Response(std::string_view path)>;

}  // namespace nustream::serve
