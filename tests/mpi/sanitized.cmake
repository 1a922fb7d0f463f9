# Parts with sanitizers (presets with IW_SANITIZE=address): some of each, fast ones. Of what is loaded into shells,
# interpreters and programs of Debian, and of limited memory, nothing: these lack the sanitizers' libraries, or room for them.
iw_mpi_test(sanitized_link_test SCRIPT link_test SANITIZED)
