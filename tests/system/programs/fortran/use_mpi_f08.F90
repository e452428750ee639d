#include "count.inc"
#define FIRST_INDEX 0
! Fortran, use mpi_f08. MPICH 4.0.2 counts the index of MPI_Waitany from 0 here.
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
    integer :: bytes, ierror
    external :: count_call
    call c_f_pointer(in, a, (/ n /))
    call c_f_pointer(inout, b, (/ n /))
    M(MPI_Type_size)(datatype, bytes, ierror) ! inside MPI's callback
    b = a + b
    if (bytes /= 4) b = -1
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
#include "body.inc"
end program
