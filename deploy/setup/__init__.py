"""Set-up of a fresh clone: Python environments, engine, gateway.

Runs on the machine's own python3, before any environment exists, so it imports the standard library and
nothing else.
"""

import sys

if sys.hexversion < 0x030B0000:
    sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 up")
