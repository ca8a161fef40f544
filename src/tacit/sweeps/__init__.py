"""Many runs: planned in a file, done on cores or on a cluster, kept one folder each."""
