# Fixtures and tests of replay (mpi/replay).
foreach(name phases signals solver undisturbed)
  iw_mpi_program(replay_${name} SOURCES programs/replay_${name}.c)
endforeach()
iw_mpi_program(replay_mpifh SOURCES programs/replay_fortran.F90 FLAGS -DBINDING_MPIFH)
iw_mpi_program(replay_mpi_f08 SOURCES programs/replay_fortran.F90 FLAGS -DBINDING_F08)

add_executable(replay_undisturbed_plain programs/replay_undisturbed.c)
set_target_properties(replay_undisturbed_plain PROPERTIES OUTPUT_NAME replay_undisturbed
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/mpi/bin/plain)
target_compile_definitions(replay_undisturbed_plain PRIVATE WITHOUT_MPI)
target_link_libraries(replay_undisturbed_plain PRIVATE iw_plain_flags Threads::Threads rt)

iw_mpi_test(replay_test TIMEOUT 900)
iw_mpi_test(replay_kill_test TIMEOUT 900)
iw_mpi_test(replay_apps_test TIMEOUT 900)
iw_mpi_test(replay_kill_long_test LONG TIMEOUT 900)
