// Which path shows what. A listener has either the public routes or the operator's, never both.
#pragma once

#include "serve/http.h"
#include "serve/operator_surface.h"
#include "serve/public_surface.h"

namespace nustream::serve {

/// /livez, /healthz and /readyz alone, as the public ones. `surface` outlives the routes.
[[nodiscard]] Routes health_routes(const PublicSurface& surface);

/// /metrics, /livez, /healthz, /readyz, /version, /api/v1/state, /api/v1/history, /api/v1/events. `surface` outlives
/// the routes.
[[nodiscard]] Routes public_routes(const PublicSurface& surface);

/// The same paths, over the operator's registry, with reasons and lane states. `surface` outlives the routes.
[[nodiscard]] Routes operator_routes(const OperatorSurface& surface);

/// Of /api/v1/events, on either listener. `surface` outlives the feed.
[[nodiscard]] Feed public_feed(const PublicSurface& surface);
[[nodiscard]] Feed operator_feed(const OperatorSurface& surface);

}  // namespace nustream::serve
