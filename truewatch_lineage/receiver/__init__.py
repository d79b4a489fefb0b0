"""The local receiver: answers as DataWay, DataKit, Portal and a plain OpenLineage endpoint do, and keeps what it gets.

It shares no code with the sending side but the wire's facts and the errors, so that a bug there can't hide here.
Start reading at ``app.py``.
"""
