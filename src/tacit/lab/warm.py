"""Imported once by the process that workers are copies of."""

import signal
import sys

from tacit.interrupts import SIGNALS

if sys.argv[:1] == ["-c"]:  # as that process is started; others only import this file
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while it loads: no words about it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    from tacit.lab.engine import warm

    warm()
