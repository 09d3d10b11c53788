"""numpy, or None where it is not installed: arguments are read, and peers are looked for, before anything is installed."""

try:
    import numpy
except ImportError:
    numpy = None
