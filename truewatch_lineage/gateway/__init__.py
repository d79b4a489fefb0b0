"""The gateway: takes events over HTTP and from Kafka, and delivers them with the core's guarantees.

Start reading at ``service.py``.
"""
