"""Imported once by the process that workers are copies of."""

import sys

from tacit.lab.engine import warm

if sys.argv[:1] == ["-c"]:  # as that process is started; others only import this file
    warm()
