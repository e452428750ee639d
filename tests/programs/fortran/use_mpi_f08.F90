#include "count.inc"
! Fortran, use mpi_f08: messages, collectives, attributes and all special constants.
module operations
contains
  subroutine add_up(in, inout, n, datatype)
    use iso_c_binding
    use mpi_f08
    implicit none
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, (/ n /))
    call c_f_pointer(inout, b, (/ n /))
    b = a + b
    if (datatype == MPI_DATATYPE_NULL) b = -1
  end subroutine
end module

program fortran_use_mpi_f08
  use operations
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm, dup, cart, ring
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: status, statuses(4)
  type(MPI_Datatype) :: pair
  type(MPI_Group) :: group
  type(MPI_Win) :: win
  type(MPI_Op) :: op
  integer :: rank, size, ierror, to, from, i, failures, total
  integer, asynchronous :: n
  integer, asynchronous :: values(8), others(8) ! nonblocking calls change them later
  integer :: counts(64), displs(64), all(64)
  integer(kind=MPI_ADDRESS_KIND) :: address, lb, extent, bytes
  logical :: flag
  integer :: indices(4), dims(2)
  logical :: periods(2)
  double precision :: begin
  double precision :: x(6), y(6)
  external :: count_call, say, check, finish
  failures = 0
  M(MPI_Init)(ierror)
  comm = MPI_COMM_WORLD
  M(MPI_Comm_rank)(comm, rank, ierror)
  M(MPI_Comm_size)(comm, size, ierror)
  call count_call("MPI_Wtime")
  begin = MPI_Wtime()
  to = mod(rank + 1, size)
  from = mod(rank + size - 1, size)

  ! messages, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
  values = rank
  others = -1
  M(MPI_Irecv)(others, 8, MPI_INTEGER, from, 1, comm, requests(1), ierror)
  M(MPI_Isend)(values, 8, MPI_INTEGER, to, 1, comm, requests(2), ierror)
  M(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE, ierror)
  CHECK(others(8) == from)
  M(MPI_Sendrecv)(values, 3, MPI_INTEGER, to, 2, others, 8, MPI_INTEGER, MPI_ANY_SOURCE, 2, comm, status, ierror)
  M(MPI_Get_count)(status, MPI_INTEGER, n, ierror)
  CHECK(n == 3)
  M(MPI_Sendrecv_replace)(values, 8, MPI_INTEGER, to, 3, from, 3, comm, MPI_STATUS_IGNORE, ierror)
  CHECK(values(1) == from)
  M(MPI_Send)(values, 1, MPI_INTEGER, MPI_PROC_NULL, 3, comm, ierror)
  do i = 1, 4
    M(MPI_Irecv)(others(i), 1, MPI_INTEGER, from, 10 + i, comm, requests(i), ierror)
  end do
  do i = 1, 4
    values(i) = 10 * rank + i
    M(MPI_Send)(values(i), 1, MPI_INTEGER, to, 10 + i, comm, ierror)
  end do
  M(MPI_Waitany)(4, requests, i, status, ierror)
  CHECK(i >= 0 .and. i <= 4) ! MPICH 4.0.2 counts from 0 here
  M(MPI_Waitsome)(4, requests, n, indices, statuses, ierror)
  M(MPI_Waitall)(4, requests, statuses, ierror)
  M(MPI_Testall)(4, requests, flag, MPI_STATUSES_IGNORE, ierror)
  CHECK(flag .and. others(4) == 10 * from + 4)
  M(MPI_Recv_init)(others, 1, MPI_INTEGER, from, 20, comm, requests(1), ierror)
  M(MPI_Send_init)(values, 1, MPI_INTEGER, to, 20, comm, requests(2), ierror)
  do i = 1, 3
    values(1) = i
    M(MPI_Startall)(2, requests, ierror)
    M(MPI_Waitall)(2, requests, statuses, ierror)
    CHECK(others(1) == i)
  end do
  M(MPI_Request_free)(requests(1), ierror)
  M(MPI_Request_free)(requests(2), ierror)

  ! MPI_BOTTOM with an absolute type
  M(MPI_Get_address)(values, address, ierror)
  M(MPI_Type_create_hindexed)(1, (/ 2 /), (/ address /), MPI_INTEGER, pair, ierror)
  M(MPI_Type_commit)(pair, ierror)
  values(1:2) = (/ 5, 6 /)
  if (rank /= 0) values(1:2) = 0
  M(MPI_Bcast)(MPI_BOTTOM, 1, pair, 0, comm, ierror)
  CHECK(values(1) == 5 .and. values(2) == 6)
  M(MPI_Type_get_extent)(pair, lb, extent, ierror)
  M(MPI_Type_free)(pair, ierror)

  ! MPI_IN_PLACE
  total = rank + 1
  M(MPI_Allreduce)(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  call say(rank, "allreduce", total)
  all = -1
  all(rank + 1) = rank * 3
  M(MPI_Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, comm, ierror)
  CHECK(all(size) == 3 * (size - 1))
  do i = 1, size
    counts(i) = 1
    displs(i) = i - 1
  end do
  M(MPI_Gatherv)(rank, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, comm, ierror)
  M(MPI_Scatterv)(all, counts, displs, MPI_INTEGER, n, 1, MPI_INTEGER, 0, comm, ierror)
  M(MPI_Alltoall)(all, 1, MPI_INTEGER, displs, 1, MPI_INTEGER, comm, ierror)
  M(MPI_Op_create)(add_up, .true., op, ierror)
  M(MPI_Reduce)(total, n, 1, MPI_INTEGER, op, 0, comm, ierror)
  M(MPI_Op_free)(op, ierror)
  if (rank == 0) call say(rank, "own operation", n)
  M(MPI_Iallreduce)(rank, n, 1, MPI_INTEGER, MPI_MAX, comm, requests(1), ierror)
  M(MPI_Wait)(requests(1), status, ierror)
  CHECK(n == size - 1)
  M(MPI_Barrier)(comm, ierror)

  ! communicators, MPI_UNWEIGHTED, topologies
  M(MPI_Comm_split)(comm, mod(rank, 2), -rank, dup, ierror)
  M(MPI_Allreduce)(rank, n, 1, MPI_INTEGER, MPI_SUM, dup, ierror)
  call say(rank, "split", n)
  M(MPI_Comm_free)(dup, ierror)
  M(MPI_Comm_dup)(comm, dup, ierror)
  M(MPI_Comm_group)(dup, group, ierror)
  M(MPI_Group_size)(group, n, ierror)
  M(MPI_Group_free)(group, ierror)
  M(MPI_Comm_set_name)(dup, "a name", ierror)
  M(MPI_Comm_free)(dup, ierror)
  M(MPI_Dist_graph_create_adjacent)(comm, 1, (/ from /), MPI_UNWEIGHTED, 1, (/ to /), MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierror)
  M(MPI_Neighbor_allgather)(rank, 1, MPI_INTEGER, n, 1, MPI_INTEGER, ring, ierror)
  CHECK(n == from)
  M(MPI_Comm_free)(ring, ierror)
  dims = 0
  periods = .true.
  M(MPI_Dims_create)(size, 2, dims, ierror)
  M(MPI_Cart_create)(comm, 2, dims, periods, .false., cart, ierror)
  M(MPI_Cart_shift)(cart, 0, 1, from, to, ierror)
  M(MPI_Sendrecv)(rank, 1, MPI_INTEGER, to, 5, n, 1, MPI_INTEGER, from, 5, cart, MPI_STATUS_IGNORE, ierror)
  CHECK(n == from)
  M(MPI_Comm_free)(cart, ierror)

  ! one-sided, probe, and a non-contiguous section
  values = 0
  bytes = 32
  M(MPI_Win_create)(values, bytes, 4, MPI_INFO_NULL, comm, win, ierror)
  M(MPI_Win_fence)(0, win, ierror)
  n = rank + 40
  lb = 2
  M(MPI_Put)(n, 1, MPI_INTEGER, mod(rank + 1, size), lb, 1, MPI_INTEGER, win, ierror)
  M(MPI_Win_fence)(0, win, ierror)
  call say(rank, "put", values(3))
  M(MPI_Win_free)(win, ierror)
  x = (/ (1.0d0 * i, i = 1, 6) /)
  y = 0
  if (rank == 0) then
    M(MPI_Send)(x(1:6:2), 3, MPI_DOUBLE_PRECISION, 1, 6, MPI_COMM_WORLD, ierror)
  else if (rank == 1) then
    M(MPI_Probe)(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, status, ierror)
    M(MPI_Get_count)(status, MPI_DOUBLE_PRECISION, n, ierror)
    M(MPI_Recv)(y, n, MPI_DOUBLE_PRECISION, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call say(rank, "section", int(sum(y)))
  end if
  call count_call("MPI_Wtime")
  CHECK(MPI_Wtime() >= begin)
  M(MPI_Finalize)(ierror)
  call finish(rank, failures)
end program
