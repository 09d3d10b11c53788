# Tests of the serve room: metrics, surfaces, listeners.
