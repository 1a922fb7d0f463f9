# Parts with sanitizers (presets with IW_SANITIZE=address): some fast tests of each part.
iw_mpi_test(sanitized_link_test SCRIPT link_test SANITIZED)
iw_mpi_test(sanitized_parts_test SCRIPT launch_test SANITIZED ONLY Parts)
iw_mpi_test(sanitized_simulate_test SCRIPT simulate_launch_test SANITIZED
            ONLY Results.test_one_process_tells_the_result Results.test_explanation_and_timeline
            Failures.test_an_input_that_one_finds_missing)
iw_mpi_test(sanitized_bench_test SCRIPT bench_test SANITIZED ONLY check_csv)
if(OTF2_FOUND)
  iw_mpi_test(sanitized_trace_test SCRIPT trace_events_test SANITIZED
              ONLY Events.test_point_to_point Events.test_collectives Events.test_communicators Events.test_mpif_h
              Events.test_use_mpi_f08 Events.test_threads_have_locations_of_their_own
              Events.test_opaque_calls_are_counted_and_switching_off_works)
  iw_mpi_test(sanitized_trace_failures_test SCRIPT trace_failures_test SANITIZED
              ONLY Deaths.test_killed Deaths.test_mpi_abort Deaths.test_files_that_are_not_usable_are_left_out
              Failures.test_a_thread_without_a_file Failures.test_a_call_left_by_longjmp
              Failures.test_a_trace_that_is_there_already_is_kept)
endif()
iw_mpi_test(sanitized_replay_test SCRIPT replay_test SANITIZED
            ONLY Failures.test_a_plan_that_is_none Failures.test_a_program_that_takes_our_signal_keeps_it
            Failures.test_nothing_is_shared Replay.test_phases_of_fortran Replay.test_quiet_is_quiet)
