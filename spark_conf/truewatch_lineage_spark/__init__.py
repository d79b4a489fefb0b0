"""Spark integration.

Will write and check the Spark settings that make OpenLineage's listener send to TrueWatch or Spotify Portal. The
package is importable and holds nothing yet.
"""
