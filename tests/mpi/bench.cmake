# `bench`, and `whatif` against it.
iw_mpi_test(bench_test TIMEOUT 600)
iw_mpi_test(bench_accuracy_test LONG TIMEOUT 600)
iw_mpi_test(whatif_daemon_test TIMEOUT 600)
foreach(mpi IN LISTS IW_MPIS)
  set_tests_properties(mpi/bench_test_${mpi} mpi/bench_accuracy_test_${mpi} mpi/whatif_daemon_test_${mpi}
                       PROPERTIES RUN_SERIAL TRUE) # they measure times
endforeach()
