// This file has nothing of its own: its object is the one that the precompiled headers of the tests belong to.
