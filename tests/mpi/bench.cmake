# `bench`, and `whatif` against it.
iw_mpi_test(bench_test TIMEOUT 900)
iw_mpi_test(bench_sleep_test TIMEOUT 400)
iw_mpi_test(bench_times_test MEASURES TIMEOUT 900)
iw_mpi_test(bench_accuracy_test MEASURES LONG TIMEOUT 900)
iw_mpi_test(whatif_daemon_test MEASURES LONG TIMEOUT 900) # needs two cores for itself for minutes
# Memory that two ranks share. What is compared does not depend on the MPI.
iw_mpi_program(memory_steps SOURCES programs/memory_steps.c)
set_source_files_properties(programs/memory_steps.c PROPERTIES COMPILE_OPTIONS -O3) # as that of `bench memory`
iw_mpi_test(memory_steps_test MEASURES ONCE TIMEOUT 300 PROGRAMS memory_steps)
