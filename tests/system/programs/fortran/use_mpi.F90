#include "count.inc"
#define FIRST_INDEX 1
! Fortran, use mpi.
program fortran_use_mpi
  use mpi
  implicit none
  integer :: comm, dup, cart, ring
  integer :: requests(4)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
  integer :: pair
  integer :: group
  integer :: win
  integer :: op
  external :: add_up
#include "body.inc"
end program

subroutine add_up(in, inout, n, datatype)
  implicit none
  integer :: n, datatype, in(n), inout(n), bytes, ierror
  external :: count_call
  M(MPI_Type_size)(datatype, bytes, ierror) ! inside MPI's callback
  inout = in + inout
  if (bytes /= 4) inout = -1
end subroutine
