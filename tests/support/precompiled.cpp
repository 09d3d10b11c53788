// Nothing of its own: the object that the precompiled headers of the tests belong to.
