# Fixtures and tests of the tracer (mpi/trace).
if(NOT OTF2_FOUND)
  return()
endif()
foreach(name p2p collectives comms misc processes threads death many cost)
  # MPICH's header says what statuses are long, and MPI_STATUSES_IGNORE is not
  iw_mpi_program(trace_${name} SOURCES programs/trace_${name}.c FLAGS -Wno-stringop-overflow)
endforeach()
iw_mpi_program(trace_mpifh SOURCES programs/trace_fortran.F90 FLAGS -DBINDING_MPIFH -fallow-argument-mismatch -w)
iw_mpi_program(trace_use_mpi SOURCES programs/trace_fortran.F90 FLAGS -DBINDING_MPI)
iw_mpi_program(trace_mpi_f08 SOURCES programs/trace_fortran.F90 FLAGS -DBINDING_F08)

iw_mpi_test(trace_events_test TIMEOUT 300)
iw_mpi_test(trace_simulate_test TIMEOUT 300)
iw_mpi_test(trace_install_test PROGRAMS hello)
iw_mpi_test(trace_failures_test TIMEOUT 300)
iw_mpi_test(trace_coverage_test)
iw_mpi_test(trace_cost_test TIMEOUT 300)
iw_mpi_test(trace_long_test LONG TIMEOUT 1800)
