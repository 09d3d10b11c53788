#include "serve/routes.h"

#include "publish/json_text.h"
#include "serve/exposition.h"
#include "version.h"

namespace nustream::serve {
namespace {

constexpr const char* json = "application/json";

Response version_page() {
  std::string body = "{\"name\":\"nustream\",\"version\":";
  publish::append_string(version, body);
  return {200, json, body + "}\n"};
}

/// The loop that answers is the loop that works: an answer is the proof of life.
Response health_page() {
  return {200, plain_text, "ok\n"};
}

Response not_found() {
  return {404, plain_text, "not found; there are /metrics, /livez, /readyz, /version and /api/v1/state\n"};
}

unsigned readiness_status(bool ready) {
  return ready ? 200 : 503;
}

/// Why it is not ready is the operator's to know.
Response readiness_page(const PublicSurface& surface) {
  return {readiness_status(surface.ready()), plain_text, surface.ready() ? "ready\n" : "not ready\n"};
}

}  // namespace

Routes health_routes(const PublicSurface& surface) {
  return [&surface](std::string_view path) -> Response {
    if (path == "/livez" || path == "/healthz") return health_page();
    if (path == "/readyz") return readiness_page(surface);
    return {404, plain_text, "not found; there are /livez and /readyz\n"};
  };
}

Routes public_routes(const PublicSurface& surface) {
  return [&surface](std::string_view path) -> Response {
    if (path == "/metrics") return {200, exposition_type, surface.metrics()};
    if (path == "/api/v1/state") return {200, json, surface.state()};
    if (path == "/readyz") return readiness_page(surface);
    if (path == "/livez" || path == "/healthz") return health_page();
    if (path == "/version") return version_page();
    return not_found();
  };
}

Routes operator_routes(const OperatorSurface& surface) {
  return [&surface](std::string_view path) -> Response {
    if (path == "/metrics") return {200, exposition_type, surface.metrics()};
    if (path == "/api/v1/state") return {200, json, surface.state()};
    if (path == "/readyz") return {readiness_status(surface.ready()), plain_text, surface.readiness()};
    if (path == "/livez" || path == "/healthz") return health_page();
    if (path == "/version") return version_page();
    return not_found();
  };
}

}  // namespace nustream::serve
