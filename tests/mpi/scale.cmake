# One simulation on several processes.
add_executable(iw_link_run link_run.c ${PROJECT_SOURCE_DIR}/src/core/team/tests/team_work.c)
target_link_libraries(iw_link_run PRIVATE iw_flags iw_launch iw_team)
target_include_directories(iw_link_run PRIVATE ${PROJECT_SOURCE_DIR}/tests)
set_target_properties(iw_link_run PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cli)
iw_mpi_test(link_test)
iw_mpi_test(simulate_launch_test TIMEOUT 900)
iw_mpi_test(simulate_matrix_test TIMEOUT 900)
iw_mpi_test(simulate_matrix_full_test SCRIPT simulate_matrix_test ONLY full LONG TIMEOUT 900)
iw_mpi_test(simulate_kill_test TIMEOUT 900)
iw_mpi_test(simulate_kill_often_test SCRIPT simulate_kill_test ONLY often LONG TIMEOUT 900)
iw_mpi_test(simulate_matrix_long_test LONG TIMEOUT 7200)
iw_mpi_test(simulate_hosts_test TIMEOUT 900)

# One fleet judged by several processes.
iw_mpi_test(fleet_test)
