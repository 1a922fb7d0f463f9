# `net`, and clock synchronisation.
iw_mpi_program(pingpong SOURCES programs/pingpong.c)
iw_mpi_program(halo_allreduce SOURCES programs/halo_allreduce.c)
iw_mpi_program(clock_check SOURCES programs/clock_check.c ${PROJECT_SOURCE_DIR}/mpi/clock_sync.c
               ${PROJECT_SOURCE_DIR}/mpi/clock_host.c ${PROJECT_SOURCE_DIR}/src/stats/clock_fit.c)
foreach(mpi IN LISTS IW_MPIS)
  target_link_libraries(clock_check_${mpi} PRIVATE iw_plain_base)
  target_include_directories(clock_check_${mpi} PRIVATE ${PROJECT_SOURCE_DIR})
endforeach()
iw_mpi_test(clock_sync_test PROGRAMS clock_check)
iw_mpi_test(clock_bounds_test MEASURES PROGRAMS clock_check)
iw_mpi_test(net_measure_test TIMEOUT 900)
iw_mpi_test(net_shared_test SCRIPT net_measure_test ONLY shared LONG)
iw_mpi_test(net_times_test MEASURES TIMEOUT 900)
iw_mpi_test(net_agreement_test MEASURES LONG TIMEOUT 900)
iw_mpi_test(net_hosts_test TIMEOUT 900 PROGRAMS clock_check)
iw_mpi_test(net_hosts_times_test MEASURES TIMEOUT 900)
# Sanitizers slow down what MPI does in idlewave, but not the programs that it is compared with.
# Long: it needs a machine that is quiet for minutes. docs/validation/predictions.md is the same at full size.
if(NOT IW_SANITIZE)
  iw_mpi_test(net_predict_test MEASURES LONG TIMEOUT 900 PROGRAMS pingpong halo_allreduce)
endif()
