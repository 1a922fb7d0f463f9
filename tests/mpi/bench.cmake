# `bench`, and `whatif` against it.
iw_mpi_test(bench_test TIMEOUT 900)
iw_mpi_test(bench_sleep_test TIMEOUT 900)
iw_mpi_test(bench_times_test MEASURES LONG TIMEOUT 900)
iw_mpi_test(bench_accuracy_test MEASURES LONG TIMEOUT 900)
iw_mpi_test(whatif_daemon_test MEASURES LONG TIMEOUT 900) # needs two cores for itself for minutes
# Memory that two ranks share. What is compared does not depend on the MPI.
iw_mpi_program(memory_steps SOURCES programs/memory_steps.c)
set_source_files_properties(programs/memory_steps.c PROPERTIES COMPILE_OPTIONS -O3) # as that of `bench memory`
iw_mpi_test(memory_steps_test MEASURES LONG ONCE TIMEOUT 900 PROGRAMS memory_steps)
# What a detour costs, by its place: tools/make_rule.py.
iw_mpi_program(rule_pair SOURCES programs/rule_pair.c ${PROJECT_SOURCE_DIR}/cli/process/sleeping_polls.c)
foreach(mpi IN LISTS IW_MPIS)
  target_include_directories(rule_pair_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/cli)
  target_link_libraries(rule_pair_${mpi} PRIVATE iw_replay m)
endforeach()
iw_mpi_test(rule_test MEASURES LONG TIMEOUT 900 PROGRAMS rule_pair)
add_executable(sleeping_polls_test sleeping_polls_test.c ${PROJECT_SOURCE_DIR}/cli/process/sleeping_polls.c)
target_include_directories(sleeping_polls_test PRIVATE ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(sleeping_polls_test PRIVATE iw_flags Threads::Threads ${CMAKE_DL_LIBS})
add_test(NAME sleeping_polls_test COMMAND sleeping_polls_test)
# What bench/watch_cost.py lets the watcher watch.
iw_mpi_program(watch_halo SOURCES programs/watch_halo.c)
foreach(mpi IN LISTS IW_MPIS)
  target_include_directories(watch_halo_${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endforeach()
