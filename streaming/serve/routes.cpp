// The paths of the three listeners. Public and operator's routes are made of different surfaces by different types,
// so that no path of the public listener can reach an operator's figure by mistake.
#include "serve/routes.h"

#include <charconv>
#include <optional>
#include <utility>

#include "chart/chart.h"
#include "publish/json_writer.h"
#include "serve/assets.h"
#include "serve/exposition.h"
#include "serve/status_page.h"
#include "version.h"

namespace nustream::serve {
namespace {

constexpr const char* json = "application/json";

/// Name and version, as JSON.
Response version_page() {
  const std::string body = publish::object_text([](publish::JsonWriter& members) {
    members.field("name", "nustream");
    members.field("version", version);
  });
  return {200, json, body + '\n'};
}

/// The loop that answers also does the work. So any answer proves that the loop lives.
Response health_page() {
  return {200, plain_text, "ok\n"};
}

/// 404, with the paths that there are: none of them is secret.
Response not_found() {
  return {404, plain_text,
          "not found; there are /, /metrics, /livez, /readyz, /version and /api/v1/state, /api/v1/history and "
          "/api/v1/events\n"};
}

/// Answers /api/v1/history and /api/v1/history/LANE.
std::optional<Response> history_page(const PublicSurface& surface, std::string_view path) {
  constexpr std::string_view all = "/api/v1/history";
  if (!path.starts_with(all)) return std::nullopt;
  if (path == all) return Response{200, json, surface.histories()};
  const std::string_view number = path.substr(all.size());
  std::uint32_t lane = 0;
  const auto [end, error] = std::from_chars(number.data() + 1, number.data() + number.size(), lane);
  // The path is /api/v1/history/LANE and nothing else: "/api/v1/historyX" and "/api/v1/history/0x" are not found.
  if (number.front() != '/' || error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  std::optional<std::string> page = surface.history(LaneId{lane});
  if (!page) return std::nullopt;
  return Response{200, json, *std::move(page)};
}

/// Answers for files that the page refers to.
std::optional<Response> asset(std::string_view path) {
  if (path == "/assets/page.css")
    return Response{200, "text/css; charset=utf-8", std::string(page_style).append(chart::colours())};
  if (path == "/assets/page.js") return Response{200, "text/javascript; charset=utf-8", std::string(page_script)};
  return std::nullopt;
}

/// The status page of either surface; empty for other paths, and for lanes that are not open.
template <class Surface>
std::optional<Response> page_of(const Surface& surface, std::string_view path) {
  const std::optional<PagePlace> place = page_place(path);
  std::optional<std::string> page = place ? surface.page(*place) : std::nullopt;
  if (!page) return std::nullopt;
  // Pages alone have a content policy: a browser renders nothing else from here.
  return Response{200, "text/html; charset=utf-8", *std::move(page), page_policy};
}

/// Answers that both listeners give alike.
Response shared_page(const PublicSurface& surface, std::string_view path) {
  if (path == "/api/v1/events") return {200, event_stream, {}};
  if (path == "/livez" || path == "/healthz") return health_page();
  if (path == "/version") return version_page();
  if (std::optional<Response> found = asset(path)) return *std::move(found);
  if (std::optional<Response> page = history_page(surface, path)) return *std::move(page);
  return not_found();
}

/// 503 is what load balancers and Kubernetes take for "not yet".
unsigned readiness_status(bool ready) {
  return ready ? 200 : 503;
}

/// Says whether the process is ready. Why it is not ready is for the operator alone.
Response readiness_page(const PublicSurface& surface) {
  return {readiness_status(surface.ready()), plain_text, surface.ready() ? "ready\n" : "not ready\n"};
}

}  // namespace

// For probes that may see nothing else, not even a release.
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
    if (std::optional<Response> page = page_of(surface, path)) return *std::move(page);
    return shared_page(surface, path);
  };
}

// As the public routes, over the other surface: reasons, states and the operator's own registry.
Routes operator_routes(const OperatorSurface& surface) {
  return [&surface](std::string_view path) -> Response {
    if (path == "/metrics") return {200, exposition_type, surface.metrics()};
    if (path == "/api/v1/state") return {200, json, surface.state()};
    if (path == "/readyz") return {readiness_status(surface.ready()), plain_text, surface.readiness()};
    if (std::optional<Response> page = page_of(surface, path)) return *std::move(page);
    return shared_page(surface.shown(), path);
  };
}

Feed public_feed(const PublicSurface& surface) {
  return [&surface](Seen& seen) { return surface.since(seen); };
}

Feed operator_feed(const OperatorSurface& surface) {
  return [&surface](Seen& seen) { return surface.since(seen); };
}

}  // namespace nustream::serve
