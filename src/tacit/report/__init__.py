"""One self-contained page about a data set."""
