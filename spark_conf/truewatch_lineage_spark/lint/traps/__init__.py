"""The traps, by what they are about: each takes the settings of one Spark application and yields findings."""
