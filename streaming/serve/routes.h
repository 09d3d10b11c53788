// Which path shows what. A listener has either the public routes or the operator's, never both.
#pragma once

#include "serve/http.h"
#include "serve/operator_surface.h"
#include "serve/public_surface.h"

namespace nustream::serve {

/// Only /livez, /healthz and /readyz, answered as on the public listener. `surface` has to outlive the routes.
[[nodiscard]] Routes health_routes(const PublicSurface& surface);

/// The public paths: /, /metrics, /livez, /healthz, /readyz, /version, /api/v1/state, /api/v1/history and
/// /api/v1/events. `surface` has to outlive the routes.
[[nodiscard]] Routes public_routes(const PublicSurface& surface);

/// The same paths over the operator's registry, with reasons and lane states. `surface` has to outlive the routes.
[[nodiscard]] Routes operator_routes(const OperatorSurface& surface);

/// The feeds of /api/v1/events, on either listener. `surface` has to outlive the feed.
[[nodiscard]] Feed public_feed(const PublicSurface& surface);
[[nodiscard]] Feed operator_feed(const OperatorSurface& surface);

}  // namespace nustream::serve
