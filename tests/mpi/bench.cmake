# `bench`, and `whatif` against it.
iw_mpi_test(bench_test TIMEOUT 900)
iw_mpi_test(bench_times_test MEASURES TIMEOUT 900)
iw_mpi_test(bench_accuracy_test MEASURES LONG TIMEOUT 900)
iw_mpi_test(whatif_daemon_test MEASURES LONG TIMEOUT 900) # needs two cores for itself for minutes
