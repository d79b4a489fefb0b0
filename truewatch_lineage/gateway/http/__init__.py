"""Events over HTTP, and what is told of the gateway: health, readiness, metrics."""
