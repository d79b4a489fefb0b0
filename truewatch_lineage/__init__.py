"""OpenLineage events that arrive at TrueWatch and Spotify Portal."""
