"""The edge of `retrace doctor`: facts are gathered here, and judged in gateway/symptoms.

- http       gateway, backends, Prometheus: what they answer
- servers    Redis
- folders    disks
- answers    what was said to clients, out of a log
- feedback   what clients say of it
- visit      all of it, in the order of the house
"""
