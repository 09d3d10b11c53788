// A request and its answer as the routes see them: no socket, no parser.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "serve/event_text.h"

namespace nustream::serve {

inline constexpr const char* plain_text = "text/plain; charset=utf-8";

inline constexpr const char* event_stream = "text/event-stream";

struct Response {
  unsigned status;
  const char* content_type;
  std::string body;
  const char* content_policy = nullptr;  ///< Content-Security-Policy: of pages
};

/// The answer to GET `path` (without its query): a function of the path and of what the surface holds, and of nothing
/// else about the request or the client.
using Routes = std::function<Response(std::string_view path)>;

/// What is new, as text of an event stream, to whoever has seen what `seen` says; empty where nothing is. `seen`, at
/// first what the client sent as Last-Event-ID, moves on with it.
using Feed = std::function<std::string(Seen& seen)>;

}  // namespace nustream::serve
