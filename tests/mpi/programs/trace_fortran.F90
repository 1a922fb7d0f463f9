! Fixture of the tracer: the Fortran bindings, on two ranks. One source for all three:
! -DBINDING_MPIFH (mpif.h), -DBINDING_MPI (use mpi), -DBINDING_F08 (use mpi_f08).
! SPDX-License-Identifier: BSD-3-Clause
!
! mpif.h knows no types: compilers want to be told not to compare arguments of different calls.
! The first argument is the folder for the lists of what was done (trace_expect.h).

#ifdef BINDING_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define IERR
#define ONLY_IERR
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define IERR , ierror
#define ONLY_IERR ierror
#endif

program trace_fortran
#if defined(BINDING_F08)
  use mpi_f08
  implicit none
#elif defined(BINDING_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: rank, other, ierror, in, out, count, index, i, done(3), starts
  integer :: values(4), part(2), both(2)
  integer, asynchronous :: slots(3)
  logical :: flag
  STATUS :: state
  STATUSES(2) :: states
  REQUEST :: requests(3)
  COMM :: half, copy
  DATATYPE :: vector
  character(len=512) :: folder

  call MPI_Init(ONLY_IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  other = 1 - rank
  starts = 0
  folder = '.'
  if (command_argument_count() > 0) call get_command_argument(1, folder)
  write (folder, '(a,a,i0)') trim(folder), '/expect.', rank
  open (unit=7, file=trim(folder), status='replace', action='write')
  call did('MPI_Init')

  ! blocking, wildcards, a status and none
  if (rank == 0) then
    values = (/1, 2, 3, 4/)
    call MPI_Send(values, 3, MPI_INTEGER, 1, 7, MPI_COMM_WORLD IERR)
    call did('MPI_Send: send 1 7 12 0,1')
    call MPI_Ssend(values, 1, MPI_INTEGER, 1, 8, MPI_COMM_WORLD IERR)
    call did('MPI_Ssend: send 1 8 4 0,1 mode=2')
  else
    values = -1
    call MPI_Recv(values, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call did('MPI_Recv: recv 0 7 12 0,1 posted=-1,-1 room=16')
    call must(values(3) == 3 .and. values(4) == -1, 'received data')
    call MPI_Recv(values, 1, MPI_INTEGER, 0, MPI_ANY_TAG, MPI_COMM_WORLD, state IERR)
    call did('MPI_Recv: recv 0 8 4 0,1 posted=0,-1')
    call must(SOURCE_OF(state) == 0 .and. TAG_OF(state) == 8, 'status')
    call MPI_Get_count(state, MPI_INTEGER, count IERR)
    call must(count == 1, 'count of a status')
  end if

  ! nonblocking with MPI_STATUSES_IGNORE and with statuses
  out = rank
  do i = 1, 2
    call MPI_Irecv(in, 1, MPI_INTEGER, other, 20, MPI_COMM_WORLD, requests(1) IERR)
    call did_request('MPI_Irecv: irecv_request', other, ' 20 4 0,1', '')
    call MPI_Isend(out, 1, MPI_INTEGER, other, 20, MPI_COMM_WORLD, requests(2) IERR)
    call did_request('MPI_Isend: isend', other, ' 20 4 0,1', '')
    if (i == 1) then
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERR)
    else
      call MPI_Waitall(2, requests, states IERR)
    end if
    call did_waitall(20)
    call must(in == other, 'nonblocking data')
  end do

  ! any and some: indices count from 1
  do i = 1, 3
    call MPI_Irecv(slots(i), 1, MPI_INTEGER, other, 30 + i, MPI_COMM_WORLD, requests(i) IERR)
    call did_tag('MPI_Irecv: irecv_request', other, 30 + i, ' 4 0,1', starts + 1)
    starts = starts + 1
  end do
  call MPI_Barrier(MPI_COMM_WORLD IERR)
  call did('MPI_Barrier: collective BARRIER 0,1 root=- 0 0')
  call MPI_Send(out, 1, MPI_INTEGER, other, 32, MPI_COMM_WORLD IERR)
  call did_tag('MPI_Send: send', other, 32, ' 4 0,1', 0)
  call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE IERR)
  call did_tag('MPI_Waitany: irecv', other, 32, ' 4 0,1', starts - 1)
#ifndef BINDING_F08
  call must(index == 2, 'index of Waitany') ! mpi_f08 of MPICH 4.0.2 says 1
#endif
  call MPI_Barrier(MPI_COMM_WORLD IERR)
  call did('MPI_Barrier: collective BARRIER 0,1 root=- 0 0')
  call MPI_Send(out, 1, MPI_INTEGER, other, 31, MPI_COMM_WORLD IERR)
  call did_tag('MPI_Send: send', other, 31, ' 4 0,1', 0)
  count = 0
  do while (count == 0)
    call MPI_Testsome(3, requests, count, done, MPI_STATUSES_IGNORE IERR)
  end do
  call did_tag('MPI_Testsome: irecv', other, 31, ' 4 0,1', starts - 2)
#ifndef BINDING_F08
  call must(count == 1 .and. done(1) == 1, 'indices of Testsome')
#endif
  call MPI_Barrier(MPI_COMM_WORLD IERR)
  call did('MPI_Barrier: collective BARRIER 0,1 root=- 0 0')
  call MPI_Send(out, 1, MPI_INTEGER, other, 33, MPI_COMM_WORLD IERR)
  call did_tag('MPI_Send: send', other, 33, ' 4 0,1', 0)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(3), flag, state IERR)
  end do
  call did_tag('MPI_Test: irecv', other, 33, ' 4 0,1', starts)
  call must(TAG_OF(state) == 33, 'status of MPI_Test')

  ! persistent, and both ways at once
  call MPI_Recv_init(in, 1, MPI_INTEGER, other, 50, MPI_COMM_WORLD, requests(1) IERR)
  call did('MPI_Recv_init')
  call MPI_Send_init(out, 1, MPI_INTEGER, other, 50, MPI_COMM_WORLD, requests(2) IERR)
  call did('MPI_Send_init')
  call MPI_Startall(2, requests IERR)
  write (7, '(a,i0,a,i0,a,i0,a,i0)') 'MPI_Startall: irecv_request ', other, ' 50 4 0,1 #', starts + 1, &
    '; isend ', other, ' 50 4 0,1 #', starts + 2
  starts = starts + 2
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERR)
  call did_waitall(50)
  call MPI_Request_free(requests(1) IERR)
  call did('MPI_Request_free')
  call MPI_Request_free(requests(2) IERR)
  call did('MPI_Request_free')
  call MPI_Sendrecv(out, 1, MPI_INTEGER, other, 60, in, 1, MPI_INTEGER, other, 60, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE IERR)
  write (7, '(a,i0,a,i0,a)') 'MPI_Sendrecv: send ', other, ' 60 4 0,1; recv ', other, ' 60 4 0,1'
  call must(in == other, 'Sendrecv')

  ! collectives; in place
  call MPI_Allreduce(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
  call did('MPI_Allreduce: collective ALLREDUCE 0,1 root=- 4 4 bytes=4')
  call must(in == 1, 'Allreduce')
  in = rank + 10
  call MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERR)
  call did('MPI_Allreduce: collective ALLREDUCE 0,1 root=- 4 4 bytes=4')
  call must(in == 21, 'Allreduce in place')
  both = -1
  both(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 99, MPI_INTEGER, both, 1, MPI_INTEGER, MPI_COMM_WORLD IERR)
  call did('MPI_Allgather: collective ALLGATHER 0,1 root=- 4 8 bytes=4')
  call must(both(1) == 0 .and. both(2) == 1, 'Allgather in place')
  part = rank
  if (rank == 1) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_INTEGER, values, 2, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    call did('MPI_Gather: collective GATHER 0,1 root=1 8 16 bytes=8')
    call must(values(1) == 0 .and. values(2) == 0, 'Gather in place')
  else
    call MPI_Gather(part, 2, MPI_INTEGER, values, 0, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    call did('MPI_Gather: collective GATHER 0,1 root=1 8 0 bytes=8')
  end if
  both = (/2, 1/)
  part = (/0, 2/)
  if (rank == 1) then
    call MPI_Gatherv(values, 1, MPI_INTEGER, values(2), both, part, MPI_INTEGER, 1, MPI_COMM_WORLD IERR)
    call did('MPI_Gatherv: collective GATHERV 0,1 root=1 4 12 bytes=4')
  else ! what only the root reads
    call MPI_Gatherv(values, 2, MPI_INTEGER, values, both, part, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD IERR)
    call did('MPI_Gatherv: collective GATHERV 0,1 root=1 8 0 bytes=8')
  end if
  call MPI_Ibcast(values, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1) IERR)
  starts = starts + 1
  write (7, '(a,i0,a)') 'MPI_Ibcast: icollective 0,1 #', starts, ' bytes=16'
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE IERR)
  if (rank == 0) then
    write (7, '(a,i0)') 'MPI_Wait: icollective_complete BCAST 0,1 root=0 32 16 #', starts
  else
    write (7, '(a,i0)') 'MPI_Wait: icollective_complete BCAST 0,1 root=0 0 16 #', starts
  end if

  ! communicators, a derived type, a probe
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, half IERR)
  call did('MPI_Comm_split: collective CREATE_HANDLE 0,1 root=- 0 0 new=1,0')
  call MPI_Comm_dup(half, copy IERR)
  call did('MPI_Comm_dup: collective CREATE_HANDLE 1,0 root=- 0 0 new=1,0')
  call MPI_Barrier(copy IERR)
  call did('MPI_Barrier: collective BARRIER 1,0 root=- 0 0')
  call MPI_Comm_free(half IERR)
  call did('MPI_Comm_free')
  call MPI_Comm_free(copy IERR)
  call did('MPI_Comm_free')
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, vector IERR)
  call MPI_Type_commit(vector IERR)
  if (rank == 0) then
    values = (/5, 6, 7, 8/)
    call MPI_Send(values, 1, vector, 1, 90, MPI_COMM_WORLD IERR)
    call did('MPI_Send: send 1 90 8 0,1')
  else
    call MPI_Probe(0, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call did('MPI_Probe')
    values = 0
    call MPI_Recv(values, 1, vector, 0, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERR)
    call did('MPI_Recv: recv 0 90 8 0,1')
    call must(values(1) == 5 .and. values(2) == 0 .and. values(3) == 7, 'vector')
  end if
  call MPI_Type_free(vector IERR)

  call MPI_Pcontrol(0)
  call did('off')
  call MPI_Barrier(MPI_COMM_WORLD IERR)
  call MPI_Pcontrol(1)
  call did('on')
  call did('MPI_Finalize')
  close (7)
  call MPI_Finalize(ONLY_IERR)

contains

  subroutine did(line)
    character(len=*), intent(in) :: line
    write (7, '(a)') line
  end subroutine did

  ! a line with the partner and the number of the next request
  subroutine did_request(begin, peer, middle, end)
    character(len=*), intent(in) :: begin, middle, end
    integer, intent(in) :: peer
    starts = starts + 1
    write (7, '(a,a,i0,a,a,i0,a)') begin, ' ', peer, middle, ' #', starts, end
  end subroutine did_request

  subroutine did_tag(begin, peer, tag, end, number)
    character(len=*), intent(in) :: begin, end
    integer, intent(in) :: peer, tag, number
    if (number > 0) then
      write (7, '(a,a,i0,a,i0,a,a,i0)') begin, ' ', peer, ' ', tag, end, ' #', number
    else
      write (7, '(a,a,i0,a,i0,a)') begin, ' ', peer, ' ', tag, end
    end if
  end subroutine did_tag

  ! of the last two requests: a receive and a send
  subroutine did_waitall(tag)
    integer, intent(in) :: tag
    write (7, '(a,i0,a,i0,a,i0,a,i0)') 'MPI_Waitall: irecv ', other, ' ', tag, ' 4 0,1 #', starts - 1, &
      '; isend_complete #', starts
  end subroutine did_waitall

  subroutine must(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (.not. is_right) then
      print *, 'wrong: ', what
      stop 3
    end if
  end subroutine must
end program trace_fortran
