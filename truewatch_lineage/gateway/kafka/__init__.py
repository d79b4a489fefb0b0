"""Kafka in: events of a topic, delivered from memory, committed once they are delivered. Start at `intake`."""

from truewatch_lineage.gateway.kafka.intake import KafkaIntake
from truewatch_lineage.gateway.kafka.options import KafkaOptions

__all__ = ["KafkaIntake", "KafkaOptions"]
