"""The audit log: what became of each exchange, written so that a changed or missing line is found, and read by people.

- settings   what gateway.yaml says of it
- record     an exchange, an engine's report and a configuration, each as a line tells it
- words      the texts of an exchange, as far as the policy lets them be written down
- auditor    the witness who writes; beside the requests, in a thread of its own
- proof      whether the files are as they were written
- search     an exchange and what led to it, found in the files by an index
- story      all that the log knows of one exchange
- summary    that in a few sentences
- page       the same as a page for people
- browser    and that as a PDF
"""
