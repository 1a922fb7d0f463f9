# What of idlewave is built: the core, and features beside it.
#
# IW_ALL_FEATURES lists them, those that others use first; IW_NEEDS_<feature> is what one cannot do without.
set(IW_ALL_FEATURES recordings record settings watch fleet replay bench network model training simulate whatif study wave explain check
    trace)
set(IW_FEATURES ${IW_ALL_FEATURES})
