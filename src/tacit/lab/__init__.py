"""A page on which gradient flow happens: points are moved, and statements light up or go out.

`tacit lab` serves it on this machine; the numbers are those of the library, computed in processes
of their own.
"""
