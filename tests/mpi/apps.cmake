# Programs that communicate like applications, and the studies of their traces (examples/apps).
if(NOT OTF2_FOUND)
  return()
endif()
iw_mpi_program(pop_like SOURCES programs/pop_like.c)
iw_mpi_program(sweep_like SOURCES programs/sweep_like.c)
iw_mpi_program(amg_like SOURCES programs/amg_like.c)
iw_mpi_test(app_studies_test ONCE PROGRAMS pop_like sweep_like amg_like TIMEOUT 900)
