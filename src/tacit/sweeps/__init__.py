"""Many runs: planned in a file, done on cores or on a cluster, kept one folder each.

`tacit.sweeps.sweeping` has the verb, `tacit.sweeps.sweep_result` what it returns.
"""
