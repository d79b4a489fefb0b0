"""HTTP serving under limits: what the receiver and the gateway have in common.

It imports only the wire's facts and the errors, so that the receiver shares no code with the sending side through it.
"""
