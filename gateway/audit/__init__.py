"""The audit log: what became of each exchange, written so that a changed or missing line is found, and read by people.

- settings   what gateway.yaml says of it
- record     what is handed over of an exchange, and an engine's report and a configuration as lines tell them
- looked     what need not be looked for again before it is written
- auditor    the witness who has all of it written
- _desk      where lines wait for the clerk, one process after the other (_hire), and what they write to him (_letters)
- _clerk     that process: lines (_row), their words as far as the policy lets them be written down (_words), the disk
             (_writer, _log)
- proof      whether the files are as they were written
- search     an exchange and what led to it, found in the files by an index
- story      all that the log knows of one exchange
- summary    that in a few sentences
- page       the same as a page for people
- browser    and that as a PDF
"""
