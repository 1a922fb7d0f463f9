! Meets in barriers of all ranks, again and again, by one of Fortran's three bindings.
! SPDX-License-Identifier: BSD-3-Clause
program replay_fortran
#ifdef BINDING_F08
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  implicit none
#ifdef BINDING_MPIFH
  include 'mpif.h'
#endif
  integer :: i, rank, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do i = 1, 400
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  if (rank == 0) print '(A)', '400 phases'
  call MPI_Finalize(error)
end program replay_fortran
