from hypothesis import settings

# A slow or busy machine is no failure.
settings.register_profile("dct", deadline=None)
settings.load_profile("dct")
