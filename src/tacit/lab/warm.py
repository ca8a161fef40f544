"""Imported once by the process that workers are copies of."""

import signal
import sys

from tacit.lab.engine import warm

if sys.argv[:1] == ["-c"]:  # as that process is started; others only import this file
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while it compiles: no words about it
    warm()
