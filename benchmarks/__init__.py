"""Programs that measure what the package claims; run from the repository's root.

NumPy's products take one thread, as those of PyTorch that they are compared with do. OpenBLAS, and Accelerate
on a Mac, read that when NumPy is first imported, and this is before it.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[variable] = "1"
