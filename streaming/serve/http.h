// A request and its answer as the routes see them, without socket or parser.
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
  const char* content_policy = nullptr;  ///< Content-Security-Policy, which pages have
};

/// Answers GET `path` (without its query). The answer is a function of the path and of what the surface holds, and of
/// nothing else about the request or the client.
using Routes = std::function<Response(std::string_view path)>;

/// Gives what is new as text of an event stream to a client that has seen `seen`, and adds it to `seen`; empty where
/// nothing is new. At first, `seen` is what the client sent as Last-Event-ID.
using Feed = std::function<std::string(Seen& seen)>;

}  // namespace nustream::serve
