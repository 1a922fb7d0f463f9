# Studies by several processes: under launchers, and on a Slurm of the test's own.
iw_mpi_test(study_mpi_test ONLY Lines TIMEOUT 900)
iw_mpi_test(study_kill_test SCRIPT study_mpi_test ONLY Killed ONE_DAILY TIMEOUT 900) # launchers differ, what a study does without one does not
add_test(NAME mpi/slurm_test COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/slurm_test.py
         --idlewave $<TARGET_FILE:idlewave_cli>)
add_test(NAME mpi/slurm_health_test COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/slurm_health_test.py
         --idlewave $<TARGET_FILE:idlewave_cli>)
set_tests_properties(mpi/slurm_test mpi/slurm_health_test PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 PROCESSORS 2 LABELS "mpi;long")
